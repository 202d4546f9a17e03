#include "analysis/rta/mpcp_safe.h"

#include "analysis/rta/lock_safe.h"

#include <algorithm>

namespace rtgpu {
namespace {

// How long a stage may keep the lock from a task that asks for it.
Duration longest_until_boundary(const SafeInput& input, const DeviceStage& stage) {
  return critical_section(input, stage) - stage.work + stage.longest_slice;
}

// Each request of i meets a blocker. Its own section, up to the end of a slice, may have held back tasks above it up to
// its next request.
void set_up_requests(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(i);
  Duration held_back;
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    Window& window = recurrence.windows[device_window(stage)];
    window.meets_blocker = true;
    window.lead = held_back;
    held_back = longest_until_boundary(input, device);
  }
}

// Critical sections of a task below i, which may keep the lock from it up to the end of a slice, once a slice.
void add_sections_below(const SafeInput& input, TaskIndex below, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(below);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    recurrence.blockers.push_back({Term::gpu_blocking, below, longest_until_boundary(input, device), device.slices,
                                   input.task(below).period, input.known[below].completed[stage]});
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

  set_up_requests(input, i, recurrence);
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
