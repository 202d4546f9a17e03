#include "analysis/rta/federated_safe.h"

namespace rtgpu {

void build_federated_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  add_windows(input, i, true, recurrence);
  for (const TaskIndex h : input.model.order().higher_on_core(i)) add_unlocked_core_group(input, h, recurrence);
  add_copies(input, i, true, recurrence);
}

}  // namespace rtgpu
