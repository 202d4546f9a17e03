#include "analysis/rta/mpcp_safe.h"

#include "analysis/rta/lock_safe.h"

#include <algorithm>

namespace rtgpu {
namespace {

// Critical sections of a task below i, which may keep the lock from it up to the end of a slice, once a slice.
void add_sections_below(const SafeInput& input, TaskIndex below, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(below);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    const Duration length = critical_section(input, device) - device.work + device.longest_slice;
    recurrence.blockers.push_back({Term::gpu_blocking, below, length, device.slices, input.task(below).period,
                                   input.known[below].completed[stage]});
  }
}

// Longest first; equal ones in an order that does not depend on that of the taskset.
void sort_blockers(const SafeInput& input, WindowedRecurrence& recurrence) {
  std::ranges::stable_sort(recurrence.blockers, [&](const Blocker& a, const Blocker& b) {
    if (a.length != b.length) return a.length > b.length;
    return input.model.is_higher_on_gpu(a.task, b.task);
  });
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

  const StagedTask& task = input.staged(i);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    recurrence.windows[device_window(stage)].meets_blocker = !task.devices[stage].is_copy;
  }
  for (const TaskIndex other : input.model.gpu_users()) {
    if (other == i) continue;
    if (input.model.is_higher_on_gpu(other, i)) {
      add_requests_above(input, other, recurrence);
    } else {
      add_sections_below(input, other, recurrence);
    }
  }
  sort_blockers(input, recurrence);
  join_lock_groups(input, recurrence);
}

}  // namespace rtgpu
