#include "analysis/rta/fmlp_plus_safe.h"

#include "analysis/rta/lock_safe.h"

namespace rtgpu {

void build_fmlp_plus_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  add_lock_windows(input, i, recurrence);
  add_lock_core_groups(input, i, recurrence);
  add_copies(input, i, true, recurrence);
  for (const TaskIndex other : input.model.gpu_users()) {
    if (other == i) continue;
    const StagedTask& task = input.staged(other);
    recurrence.add_group(Term::gpu_blocking, other, WindowKind::gpu);
    for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
      if (task.devices[stage].is_copy) continue;
      const Duration section = critical_section(input, task.devices[stage]);
      const Duration carry = carry_of(input.known[other].completed[stage], section);
      recurrence.add_stream({section, input.task(other).period, {}, carry, carry});
    }
    recurrence.add_together(input.task(other).period, input.known[other].response);
    recurrence.groups.back().unit = longest_critical_section(input, other);
  }
  join_lock_groups(input, recurrence);
}

}  // namespace rtgpu
