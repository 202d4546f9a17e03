#include "analysis/rta/tsg_rr_safe.h"

namespace rtgpu {
namespace {

void add_turns_of(const SafeInput& input, TaskIndex other, WindowedRecurrence& recurrence) {
  const Overheads& overheads = input.model.overheads();
  const StagedTask& task = input.staged(other);
  recurrence.add_group(Term::gpu_interleaving, other, WindowKind::gpu);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    const Duration cost = device.work + overheads.context_switch * device.time_slices;
    const Duration carry = carry_of(input.known[other].completed[stage], cost);
    recurrence.add_stream({cost, input.task(other).period, {}, carry, carry});
  }
  recurrence.add_together(input.task(other).period, input.known[other].response);
  recurrence.groups.back().unit = overheads.context_switch + overheads.time_slice;
}

}  // namespace

void build_tsg_rr_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  add_windows(input, i, true, recurrence);
  for (const TaskIndex h : input.model.order().higher_on_core(i)) add_unlocked_core_group(input, h, recurrence);
  add_copies(input, i, true, recurrence);

  const StagedTask& task = input.staged(i);
  const bool is_alone = input.model.gpu_users().size() <= 1;
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    recurrence.windows[device_window(stage)].units = device.time_slices;
    if (is_alone) continue;
    recurrence.block(device_window(stage), Term::overhead, i, device.time_slices,
                     input.model.overheads().context_switch);
  }
  for (const TaskIndex other : input.model.gpu_users()) {
    if (other != i) add_turns_of(input, other, recurrence);
  }
}

}  // namespace rtgpu
