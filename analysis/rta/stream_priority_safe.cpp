#include "analysis/rta/stream_priority_safe.h"

#include <algorithm>

namespace rtgpu {
namespace {

void add_work_of(const SafeInput& input, TaskIndex other, bool same_level, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(other);
  recurrence.add_group(same_level ? Term::gpu_interleaving : Term::gpu_preemption, other, WindowKind::gpu);
  Duration longest;
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    const Duration carry = carry_of(input.known[other].completed[stage], device.work);
    recurrence.add_stream({device.work, input.task(other).period, {}, carry, carry});
    longest = std::max(longest, device.work);
  }
  recurrence.add_together(input.task(other).period, input.known[other].response);
  if (same_level) recurrence.groups.back().unit = longest;
}

}  // namespace

void build_stream_priority_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  add_windows(input, i, true, recurrence);
  for (const TaskIndex h : input.model.order().higher_on_core(i)) add_unlocked_core_group(input, h, recurrence);
  add_copies(input, i, false, recurrence);

  TaskIndex longest_below = kNoTask;
  Duration longest;
  for (const TaskIndex other : input.model.gpu_users()) {
    if (other == i) continue;
    const int level = input.model.stream_level(other);
    if (level <= input.model.stream_level(i)) {
      add_work_of(input, other, level == input.model.stream_level(i), recurrence);
      continue;
    }
    for (const DeviceStage& device : input.staged(other).devices) {
      if (device.is_copy || device.longest_block <= longest) continue;
      longest = device.longest_block;
      longest_below = other;
    }
  }
  block_gpu_windows(input, i, longest_below, longest, recurrence);
}

}  // namespace rtgpu
