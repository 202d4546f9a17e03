#include "analysis/rta/lock_safe.h"

#include <algorithm>

namespace rtgpu {
namespace {

// lock + misc: what the holder does on its core, boosted.
Duration boosted_part(const SafeInput& input, const DeviceStage& stage) {
  return input.model.overheads().lock + stage.misc;
}

// Whether h holds its core, at its own priority or boosted, from its release to its completion.
bool never_suspends(const SafeInput& input, TaskIndex h) {
  const StagedTask& task = input.staged(h);
  if (task.devices.empty()) return true;
  return input.staged(h).busy && (task.spins || task.gpu_stages == 0);
}

// How long h occupies its core at its own priority for a device stage.
Duration normal_wait(const SafeInput& input, TaskIndex h, std::size_t stage) {
  const DeviceStage& device = input.staged(h).devices[stage];
  const Duration wait = input.known[h].waits[stage];
  if (device.is_copy) return input.staged(h).busy ? wait : Duration();
  // Before h is bounded its wait is known as less than that.
  return input.staged(h).spins ? carry_of(wait, critical_section(input, device)) : Duration();
}

// How long it takes h from getting the lock to the end of exec. Between slices the lock may go to others, for which a
// task that waits busily for its exec waits on the core.
Duration occupied_by_section(const SafeInput& input, TaskIndex h, std::size_t stage) {
  const DeviceStage& device = input.staged(h).devices[stage];
  if (device.slices == 1 || input.staged(h).spins) return critical_section(input, device);
  return input.known[h].waits[stage];
}

void add_normal_part(const SafeInput& input, TaskIndex h, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(h);
  const RtaTask& sums = input.task(h);
  const KnownTask& known = input.known[h];
  recurrence.add_group(Term::cpu_preemption, h, WindowKind::host);
  Duration ready = ready_after_release(input, h);
  for (std::size_t stage = 0; stage <= task.devices.size(); ++stage) {
    const bool has_device = stage < task.devices.size();
    const Duration cost = task.host[stage] + (has_device ? normal_wait(input, h, stage) : Duration());
    recurrence.add_stream({cost, sums.period, ready, {}, ready});
    if (has_device && !never_suspends(input, h)) ready = known.completed[stage];
  }
  if (!never_suspends(input, h)) recurrence.add_together(sums.period, known.response);
}

void add_boosted_part(const SafeInput& input, TaskIndex h, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(h);
  const RtaTask& sums = input.task(h);
  recurrence.add_group(Term::cpu_preemption, h, WindowKind::host);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    // Where h suspends, misc has ended by the latest completion less exec, since a bound grows by no less than the
    // demand that is added to it.
    const Duration occupied = task.busy ? occupied_by_section(input, h, stage) : critical_section(input, device);
    const Duration cost = task.busy ? occupied : boosted_part(input, device);
    const Duration ready =
        never_suspends(input, h) ? sums.release_jitter : carry_of(input.known[h].completed[stage], occupied);
    recurrence.add_stream({cost, sums.period, ready, {}, ready});
  }
}

// The boosted parts of a task below i on its core: one a core window, and no more than it has.
void add_boosted_below(const SafeInput& input, TaskIndex below, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(below);
  recurrence.add_group(Term::cpu_blocking, below, WindowKind::host);
  Duration longest;
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    const Duration cost = boosted_part(input, device);
    const Duration carry = carry_of(input.known[below].completed[stage], cost);
    recurrence.add_stream({cost, input.task(below).period, carry, {}, carry});
    longest = std::max(longest, cost);
  }
  recurrence.groups.back().unit = longest;
}

JobCharge charge_of_locking_job(const SafeInput& input, TaskIndex h) {
  const StagedTask& task = input.staged(h);
  JobCharge charge{task.cpu_total, {}};
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    const Duration section = device.is_copy ? Duration() : critical_section(input, device);
    charge.parts += section;
    const bool waits_on_core = device.is_copy ? task.busy : task.spins || (task.busy && device.slices > 1);
    if (waits_on_core) charge.waits += carry_of(input.known[h].waits[stage], section);
  }
  return charge;
}

}  // namespace

Duration critical_section(const SafeInput& input, const DeviceStage& stage) {
  return boosted_part(input, stage) + stage.work;
}

Duration longest_critical_section(const SafeInput& input, TaskIndex task) {
  Duration longest;
  for (const DeviceStage& stage : input.staged(task).devices) {
    if (!stage.is_copy) longest = std::max(longest, critical_section(input, stage));
  }
  return longest;
}

void add_lock_windows(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  add_windows(input, i, false, recurrence);
  const StagedTask& task = input.staged(i);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    recurrence.block(device_window(stage), Term::overhead, i, 1, input.model.overheads().lock);
    // Without slices, a critical section that has begun is not delayed any more.
    Window& window = recurrence.windows[device_window(stage)];
    if (device.slices == 1) window.tail = window.own;
    recurrence.windows[host_window(stage + 1)].lead = boosted_part(input, device);
  }
}

void add_lock_core_groups(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  for (const TaskIndex h : input.model.order().higher_on_core(i)) {
    add_normal_part(input, h, recurrence);
    if (input.task(h).uses_gpu) add_boosted_part(input, h, recurrence);
  }
  for (const TaskIndex below : input.model.lower_on_core(i)) {
    if (input.task(below).uses_gpu) add_boosted_below(input, below, recurrence);
  }
}

void join_lock_groups(const SafeInput& input, WindowedRecurrence& recurrence) {
  join_groups(input, &charge_of_locking_job, recurrence);
}

}  // namespace rtgpu
