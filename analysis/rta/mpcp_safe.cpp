#include "analysis/rta/mpcp_safe.h"

#include "analysis/rta/lock_safe.h"

#include <algorithm>

namespace rtgpu {
namespace {

// How long a task below may keep the lock from one that asks for it.
Duration longest_until_boundary(const SafeInput& input, TaskIndex below) {
  Duration longest;
  for (const DeviceStage& stage : input.staged(below).devices) {
    if (stage.is_copy) continue;
    longest = std::max(longest, critical_section(input, stage) - stage.work + stage.longest_slice);
  }
  return longest;
}

void add_requests_above(const SafeInput& input, TaskIndex above, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(above);
  const KnownTask& known = input.known[above];
  recurrence.add_group(Term::gpu_preemption, above, WindowKind::gpu);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    const Duration section = critical_section(input, device);
    recurrence.add_stream(
        {section, input.task(above).period, {}, known.submitted[stage], carry_of(known.completed[stage], section)});
  }
  recurrence.add_together(input.task(above).period, known.response);
}

}  // namespace

void build_mpcp_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  add_lock_windows(input, i, recurrence);
  add_lock_core_groups(input, i, recurrence);
  add_copies(input, i, true, recurrence);

  TaskIndex longest_below = kNoTask;
  Duration longest;
  for (const TaskIndex other : input.model.gpu_users()) {
    if (other == i) continue;
    if (input.model.is_higher_on_gpu(other, i)) {
      add_requests_above(input, other, recurrence);
    } else if (longest_until_boundary(input, other) > longest) {
      longest = longest_until_boundary(input, other);
      longest_below = other;
    }
  }
  block_gpu_windows(input, i, longest_below, longest, recurrence);
  join_lock_groups(input, recurrence);
}

}  // namespace rtgpu
