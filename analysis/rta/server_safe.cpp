#include "analysis/rta/server_safe.h"

#include <algorithm>

namespace rtgpu {
namespace {

// What the server runs on its core before exec of a stage.
Duration first_host_part(const SafeInput& input, const DeviceStage& stage) {
  return input.model.overheads().lock + stage.misc;
}

// And after it.
Duration last_host_part(const SafeInput& input) {
  return input.model.overheads().lock;
}

Duration host_parts(const SafeInput& input, const DeviceStage& stage) {
  return first_host_part(input, stage) + last_host_part(input);
}

// Z of a GPU stage.
Duration service(const SafeInput& input, const DeviceStage& stage) {
  return host_parts(input, stage) + stage.work;
}

bool is_on_server_core(const SafeInput& input, TaskIndex task) {
  return input.task(task).core == input.model.order().server_core();
}

void set_up_windows(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  add_windows(input, i, false, recurrence);
  const StagedTask& task = input.staged(i);
  Duration served_before;
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    recurrence.block(device_window(stage), Term::overhead, i, 2, input.model.overheads().lock);
    Window& window = recurrence.windows[device_window(stage)];
    window.tail = window.own;
    window.meets_blocker = true;
    window.lead = served_before;
    served_before = service(input, device);
    if (is_on_server_core(input, i)) recurrence.windows[host_window(stage + 1)].lead = host_parts(input, device);
  }
}

// --- the core

// A task above i on its core, but for what the server does for it.
void add_above_on_core(const SafeInput& input, TaskIndex h, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(h);
  const RtaTask& sums = input.task(h);
  const KnownTask& known = input.known[h];
  recurrence.add_group(Term::cpu_preemption, h, WindowKind::host);
  if (task.busy || task.devices.empty()) {
    Duration occupied = task.cpu_total;
    for (const Duration wait : known.waits) occupied += wait;
    recurrence.add_stream({occupied, sums.period, sums.release_jitter, {}, sums.release_jitter});
    return;
  }
  for (std::size_t stage = 0; stage <= task.devices.size(); ++stage) {
    const Duration ready = stage == 0 ? ready_after_release(input, h) : known.completed[stage - 1];
    recurrence.add_stream({task.host[stage], sums.period, ready, {}, ready});
  }
  recurrence.add_together(sums.period, known.response);
}

// What the server does for another task, on the core of i.
void add_host_parts(const SafeInput& input, TaskIndex i, TaskIndex other, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(other);
  const RtaTask& sums = input.task(other);
  const KnownTask& known = input.known[other];
  const bool is_above_here = input.model.order().is_higher_on_core(other, i);
  if (is_above_here && task.busy) return;
  recurrence.add_group(Term::cpu_blocking, other, WindowKind::host);
  Duration longest;
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    const Duration taken_over = carry_of(known.completed[stage], service(input, device));
    const Duration done = carry_of(known.completed[stage], last_host_part(input));
    recurrence.add_stream({first_host_part(input, device), sums.period, taken_over, {}, taken_over});
    recurrence.add_stream({last_host_part(input), sums.period, done, {}, done});
    longest = std::max(longest, host_parts(input, device));
  }
  if (input.model.is_lower_on_core(other, i)) {
    recurrence.groups.back().unit = longest;
  } else {
    recurrence.add_together(sums.period, known.response);
  }
}

void add_core_groups(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  for (const TaskIndex h : input.model.order().higher_on_core(i)) add_above_on_core(input, h, recurrence);
  if (!is_on_server_core(input, i)) return;
  for (const TaskIndex other : input.model.gpu_users()) {
    if (other != i) add_host_parts(input, i, other, recurrence);
  }
}

// --- the server

void add_served_above(const SafeInput& input, TaskIndex above, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(above);
  const KnownTask& known = input.known[above];
  recurrence.add_group(Term::gpu_preemption, above, WindowKind::gpu);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    const Duration cost = service(input, device);
    recurrence.add_stream(
        {cost, input.task(above).period, {}, known.submitted[stage], carry_of(known.completed[stage], cost)});
  }
  recurrence.add_together(input.task(above).period, known.response);
}

void add_served_below(const SafeInput& input, TaskIndex below, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(below);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (device.is_copy) continue;
    recurrence.blockers.push_back({Term::gpu_blocking, below, service(input, device), 1, input.task(below).period,
                                   input.known[below].completed[stage]});
  }
}

// Longest first; equal ones in an order that does not depend on that of the taskset.
void sort_served_below(const SafeInput& input, WindowedRecurrence& recurrence) {
  std::ranges::stable_sort(recurrence.blockers, [&](const Blocker& a, const Blocker& b) {
    if (a.length != b.length) return a.length > b.length;
    return input.model.is_higher_on_gpu(a.task, b.task);
  });
}

JobCharge charge_of_client(const SafeInput& input, TaskIndex h) {
  const StagedTask& task = input.staged(h);
  JobCharge charge{task.cpu_total, {}};
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    const Duration served = device.is_copy ? Duration() : service(input, device);
    charge.parts += served;
    if (task.busy) charge.waits += carry_of(input.known[h].waits[stage], served);
  }
  return charge;
}

}  // namespace

void build_server_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  set_up_windows(input, i, recurrence);
  add_core_groups(input, i, recurrence);
  add_copies(input, i, true, recurrence);
  for (const TaskIndex other : input.model.gpu_users()) {
    if (other == i) continue;
    if (input.model.is_higher_on_gpu(other, i)) {
      add_served_above(input, other, recurrence);
    } else {
      add_served_below(input, other, recurrence);
    }
  }
  sort_served_below(input, recurrence);
  join_groups(input, &charge_of_client, recurrence);
}

}  // namespace rtgpu
