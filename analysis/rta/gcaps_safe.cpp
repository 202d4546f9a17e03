#include "analysis/rta/gcaps_safe.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace rtgpu {
namespace {

// Copy stages need no calls.
bool is_call_stage(const StagedTask& task, std::size_t stage) {
  return stage < task.devices.size() && !task.devices[stage].is_copy;
}

// Calls in the core window before device stage `stage`: the leave of the one before, the enter of this one.
std::int64_t calls_in_window(const StagedTask& task, std::size_t stage) {
  return (stage > 0 && is_call_stage(task, stage - 1) ? 1 : 0) + (is_call_stage(task, stage) ? 1 : 0);
}

// Whether a task above k on its core may wait there, without giving it up, for the GPU that k keeps (then neither can
// go on) or for the mutex behind tasks below k.
bool waits_above_for(const SafeInput& input, TaskIndex k) {
  if (input.model.waiters_on_core_above(k) == 0) return false;
  return std::ranges::any_of(input.model.order().higher_on_core(k), [&](TaskIndex h) {
    const bool waits_on_core = input.staged(h).busy || input.staged(h).spins;
    return input.task(h).uses_gpu && waits_on_core && input.model.is_higher_on_gpu(k, h);
  });
}

// Whether a task above i on its core waits there busily for the GPU that i keeps: then neither can go on.
bool is_waited_for_above(const SafeInput& input, TaskIndex i) {
  if (input.staged(i).gpu_stages == 0 || input.model.order().busy_higher_on_core(i) == 0) return false;
  return std::ranges::any_of(input.model.order().higher_on_core(i), [&](TaskIndex h) {
    return input.task(h).uses_gpu && input.staged(h).busy && input.model.is_higher_on_gpu(i, h);
  });
}

// What others can be charged for a job of h: its CPU time, misc, exec and updates; what it waits for on its core, for
// copies and, spinning, for an update from below at each call.
JobCharge charge_of_job(const SafeInput& input, TaskIndex h) {
  const StagedTask& task = input.staged(h);
  const Duration updates = input.model.overheads().runlist_update * (2 * task.gpu_stages);
  JobCharge charge{task.cpu_total + task.misc_total + task.gpu_total + updates, {}};
  if (task.spins && input.model.has_gpu_user_below_elsewhere(h)) charge.parts += updates;
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    if (task.devices[stage].is_copy && task.busy) charge.waits += input.known[h].waits[stage];
  }
  return charge;
}

// gcaps: also an update from below before each leave, while h keeps the GPU.
JobCharge charge_of_keeping_job(const SafeInput& input, TaskIndex h) {
  if (waits_above_for(input, h)) return {Duration::infinite(), Duration::infinite()};
  JobCharge charge = charge_of_job(input, h);
  if (!input.staged(h).spins && input.model.has_gpu_user_below_elsewhere(h)) {
    charge.parts += input.model.overheads().runlist_update * input.staged(h).gpu_stages;
  }
  return charge;
}

class Builder {
 public:
  Builder(const SafeInput& input, TaskIndex i, bool work_conserving, WindowedRecurrence& recurrence)
      : input_(input),
        model_(input.model),
        i_(i),
        work_conserving_(work_conserving),
        update_(input.model.overheads().runlist_update),
        recurrence_(recurrence),
        held_up_by_(recurrence.scratch.tasks),
        holds_up_(recurrence.scratch.marks),
        keepers_(recurrence.scratch.other_tasks) {
    held_up_by_.clear();
    holds_up_.clear();
    keepers_.clear();
  }

  void build() {
    add_windows(input_, i_, true, recurrence_);
    add_calls();
    if (work_conserving_) add_leads();
    if (!work_conserving_) {
      find_hold_ups();
      if (is_waited_for_above(input_, i_)) {
        recurrence_.block(0, Term::cpu_blocking, kNoTask, 1, Duration::infinite());
      }
    }
    for (const TaskIndex h : model_.order().higher_on_core(i_)) {
      add_core_work(h, WindowKinds(WindowKind::host) | hold_ups_of(h));
    }
    for (const TaskIndex other : held_up_by_) {
      if (!model_.order().is_higher_on_core(other, i_)) add_core_work(other, hold_ups_of(other));
    }
    for (const TaskIndex other : model_.gpu_users()) {
      if (other == i_) continue;
      add_updates(other);
      if (!work_conserving_) add_updates_below_keepers(other);
      if (!input_.task(other).best_effort) add_gpu_work(other);
    }
    add_copies(input_, i_, true, recurrence_);
    join_groups(input_, work_conserving_ ? &charge_of_job : &charge_of_keeping_job, recurrence_);
  }

 private:
  // Whether a wait of `task` for the mutex may find an update from below, which is one on another core.
  bool has_caller_below(TaskIndex task) const { return model_.has_gpu_user_below_elsewhere(task); }

  void add_calls() {
    const StagedTask& task = input_.staged(i_);
    const bool blocked = has_caller_below(i_);
    for (std::size_t stage = 0; stage <= task.devices.size(); ++stage) {
      const std::int64_t calls = calls_in_window(task, stage);
      recurrence_.block(host_window(stage), Term::overhead, i_, calls, update_);
      if (blocked) recurrence_.block(host_window(stage), Term::cpu_blocking, kNoTask, calls, update_);
      recurrence_.windows[host_window(stage)].units = 1 + (task.spins ? 0 : calls);
    }
  }

  // Exec of i may hold back that of a task below it on the GPU which waits busily above it on the core, up to the start
  // of the next core window of i.
  void add_leads() {
    const bool holds_back = std::ranges::any_of(model_.order().higher_on_core(i_), [&](TaskIndex h) {
      return input_.task(h).uses_gpu && input_.staged(h).busy && model_.is_higher_on_gpu(i_, h);
    });
    if (!holds_back) return;
    const StagedTask& task = input_.staged(i_);
    for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
      if (is_call_stage(task, stage)) recurrence_.windows[host_window(stage + 1)].lead = task.devices[stage].work;
    }
  }

  // Whether h keeps its core through a core window.
  bool keeps_core(TaskIndex h) const { return update_ == Duration() || input_.staged(h).spins; }

  // gcaps: whose work on a core may hold up a task that keeps the GPU from i: tasks above such a task on its core. In
  // which windows of i is the same as for the keeping.
  void find_hold_ups() {
    holds_up_.assign(model_.size(), 0);
    for (const TaskIndex k : model_.gpu_users()) {
      if (k == i_ || input_.task(k).best_effort || !keeps_gpu_from_i(k)) continue;
      note_hold_ups_above(k);
      keepers_.push_back(k);
    }
    std::ranges::sort(keepers_, {}, [&](TaskIndex k) { return model_.place_on_core(k); });
  }

  // From k upward: where one is noted, so are those above it.
  void note_hold_ups_above(TaskIndex k) {
    const std::span<const TaskIndex> above = model_.order().higher_on_core(k);
    for (std::size_t place = above.size(); place-- > 0;) {
      if (holds_up(above[place])) return;
      note_hold_up(above[place]);
    }
  }

  // The keepers above a task on its core.
  std::span<const TaskIndex> keepers_above(TaskIndex below) const {
    const auto place = [&](TaskIndex k) { return model_.place_on_core(k); };
    const auto first = std::ranges::lower_bound(keepers_, model_.first_place_on_core(below), {}, place);
    const auto last = std::ranges::lower_bound(keepers_, model_.place_on_core(below), {}, place);
    return {first, last};
  }

  void note_hold_up(TaskIndex h) {
    if (h == i_ || holds_up(h)) return;
    held_up_by_.push_back(h);
    holds_up_[h] = 1;
  }

  bool holds_up(TaskIndex h) const { return !holds_up_.empty() && holds_up_[h] != 0; }

  WindowKinds hold_ups_of(TaskIndex h) const {
    if (!holds_up(h)) return {};
    const bool busy_above = model_.order().busy_higher_on_core(i_) > 0;
    return busy_above ? WindowKind::host | WindowKind::gpu : WindowKinds(WindowKind::gpu);
  }

  bool keeps_gpu_from_i(TaskIndex k) const { return model_.is_higher_on_gpu(k, i_) || is_waited_for_on_core(k); }

  // CPU time, misc and updates of h, which is above i on the core, or above a task that keeps the GPU from i on its
  // own.
  void add_core_work(TaskIndex h, WindowKinds kinds) {
    const StagedTask& task = input_.staged(h);
    const RtaTask& sums = input_.task(h);
    const KnownTask& known = input_.known[h];
    const bool here = model_.order().is_higher_on_core(h, i_);
    recurrence_.add_group(here ? Term::cpu_preemption : Term::gpu_preemption, h, kinds);
    Duration ready = ready_after_release(input_, h);
    for (std::size_t stage = 0; stage <= task.devices.size(); ++stage) {
      add_core_window(h, stage, ready);
      if (stage < task.devices.size() && !never_suspends(h)) ready = known.completed[stage];
    }
    if (!task.devices.empty()) recurrence_.add_together(sums.period, known.response);
  }

  // What of it comes before device stage `stage`, and is ready by `ready` unless it waits for the mutex before.
  void add_core_window(TaskIndex h, std::size_t stage, Duration ready) {
    const StagedTask& task = input_.staged(h);
    const KnownTask& known = input_.known[h];
    const bool has_device = stage < task.devices.size();
    const Duration latest = has_device ? known.submitted[stage] : known.response;
    const Duration misc = has_device ? task.devices[stage].misc : Duration();
    const Duration blocking = task.spins && has_caller_below(h) ? update_ : Duration();
    const Duration rest = misc + (update_ + blocking) * calls_in_window(task, stage);
    const bool waits_for_copy = has_device && task.devices[stage].is_copy && task.busy;
    const Duration copying = waits_for_copy ? known.waits[stage] : Duration();
    const Duration latest_copied = waits_for_copy ? known.completed[stage] : latest;
    if (keeps_core(h)) {
      add_core_stream(h, task.host[stage] + rest + copying, ready, latest_copied);
    } else if (stage == 0 || calls_in_window(task, stage) == 0) {
      add_core_stream(h, task.host[stage], ready, latest);
      add_core_stream(h, rest + copying, carry_of(latest, rest), latest_copied);
    } else {
      add_core_stream(h, task.host[stage] + rest + copying, carry_of(latest, task.host[stage] + rest), latest_copied);
    }
  }

  // On i's core, a window may be taken to begin when nothing above i is ready there; elsewhere it begins anywhere.
  void add_core_stream(TaskIndex h, Duration cost, Duration ready, Duration latest) {
    const Duration carry = carry_of(latest, cost);
    const bool here = model_.order().is_higher_on_core(h, i_);
    recurrence_.add_stream({cost, input_.task(h).period, here ? ready : carry, carry, here ? ready : carry});
  }

  bool never_suspends(TaskIndex h) const { return input_.staged(h).busy && keeps_core(h); }

  // Updates of another task, but those that are part of its work on a core that is charged already.
  void add_updates(TaskIndex other) {
    if (update_ == Duration()) return;
    if (model_.order().is_higher_on_core(other, i_)) {
      if (!work_conserving_ && !holds_up(other)) add_updates_in_queue(other);
      return;
    }
    if (hold_ups_of(other).contains(WindowKind::gpu) && hold_ups_of(other).contains(WindowKind::host)) return;
    const bool is_below_on_core = model_.is_lower_on_core(other, i_);
    const bool is_above = is_above_a_waiter(other);
    if (!is_above && !is_below_on_core) return;
    const StagedTask& task = input_.staged(other);
    const Duration updates = update_ * (2 * task.gpu_stages);
    const Duration carry = carry_of(input_.known[other].response, updates);
    const WindowKinds kinds =
        work_conserving_ || !is_above ? WindowKinds(WindowKind::host) : WindowKind::host | WindowKind::gpu;
    recurrence_.add_group(Term::cpu_blocking, other, kinds);
    recurrence_.add_stream({updates, input_.task(other).period, carry, carry, carry});
    if (!is_above) recurrence_.groups.back().unit = update_;
  }

  // gcaps: updates of a task above i on its core that go before the leave of a task that keeps the GPU. In core windows
  // they are part of its work there.
  void add_updates_in_queue(TaskIndex h) {
    const Duration updates = update_ * (2 * input_.staged(h).gpu_stages);
    const Duration carry = carry_of(input_.known[h].response, updates);
    recurrence_.add_group(Term::gpu_preemption, h, WindowKind::gpu);
    recurrence_.add_stream({updates, input_.task(h).period, carry, carry, carry});
  }

  // Whether `other` goes before i for the mutex, or before a task that spins for it above i on the core.
  bool is_above_a_waiter(TaskIndex other) const {
    if (input_.staged(i_).gpu_stages > 0 && model_.is_higher_on_gpu(other, i_)) return true;
    if (model_.waiters_on_core_above(i_) == 0) return false;
    return std::ranges::any_of(model_.order().higher_on_core(i_), [&](TaskIndex h) {
      const bool waits_on_core = input_.staged(h).spins || (!work_conserving_ && input_.staged(h).busy);
      return waits_on_core && input_.staged(h).gpu_stages > 0 && model_.is_higher_on_gpu(other, h);
    });
  }

  // Exec of another task, or the time it holds the GPU, in the windows where it can delay i.
  void add_gpu_work(TaskIndex k) {
    const bool in_gpu_windows = model_.is_higher_on_gpu(k, i_);
    const bool in_core_windows = is_waited_for_on_core(k);
    if (!in_gpu_windows && !in_core_windows) return;
    const WindowKinds kinds = !in_core_windows ? WindowKinds(WindowKind::gpu)
                              : in_gpu_windows ? WindowKind::host | WindowKind::gpu
                                               : WindowKinds(WindowKind::host);
    const bool on_core = in_core_windows && model_.order().is_higher_on_core(k, i_) && input_.staged(k).busy;
    recurrence_.add_group(on_core ? Term::cpu_preemption : Term::gpu_preemption, k, kinds);
    const StagedTask& task = input_.staged(k);
    const KnownTask& known = input_.known[k];
    for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
      if (task.devices[stage].is_copy) continue;
      const Duration cost = work_conserving_ ? task.devices[stage].work : held(k, stage);
      const Duration carry = carry_of(latest_end(k, stage), cost);
      // A task that keeps its core from release to completion has nothing left when its core becomes free.
      const bool whole_job_on_core = on_core && never_suspends(k);
      const Duration on_host = whole_job_on_core ? input_.task(k).release_jitter : carry;
      recurrence_.add_stream(
          {cost, input_.task(k).period, on_host, known.submitted[stage], whole_job_on_core ? on_host : carry});
    }
    recurrence_.add_together(input_.task(k).period, known.response);
  }

  // gcaps: how long k keeps the GPU in a stage, what others do on its core and in the mutex's queue before it apart:
  // misc, exec, and the leave, which may find the mutex taken from below.
  Duration held(TaskIndex k, std::size_t stage) const {
    if (waits_above_for(input_, k)) return Duration::infinite();
    const DeviceStage& device = input_.staged(k).devices[stage];
    return device.misc + device.work + update_ * (has_caller_below(k) ? 2 : 1);
  }

  // gcaps: updates of a task below ones that keep the GPU from i, on their core: two for each stage of those, two in
  // each window of i with the GPU, and no more than the task has.
  void add_updates_below_keepers(TaskIndex below) {
    const bool is_charged =
        hold_ups_of(below).contains(WindowKind::gpu) || (is_above_a_waiter(below) && input_.staged(i_).gpu_stages > 0);
    if (update_ == Duration() || is_charged) return;
    const bool busy_above = model_.order().busy_higher_on_core(i_) > 0;
    recurrence_.add_group(Term::gpu_preemption, below,
                          busy_above ? WindowKind::host | WindowKind::gpu : WindowKinds(WindowKind::gpu));
    for (const TaskIndex k : keepers_above(below)) {
      if (model_.is_higher_on_gpu(below, k)) continue;
      for (std::size_t stage = 0; stage < input_.staged(k).devices.size(); ++stage) {
        if (input_.staged(k).devices[stage].is_copy) continue;
        const Duration cost = update_ * 2;
        const Duration carry = carry_of(latest_end(k, stage), cost);
        recurrence_.add_stream({cost, input_.task(k).period, carry, carry, carry});
      }
    }
    const Duration updates = update_ * (2 * input_.staged(below).gpu_stages);
    const Duration carry = carry_of(input_.known[below].response, updates);
    recurrence_.groups.back().together = {updates, input_.task(below).period, carry, carry, carry};
    if (!busy_above) recurrence_.groups.back().unit = update_ * 2;
  }

  // When the work, or the holding, of a stage has ended at the latest.
  Duration latest_end(TaskIndex k, std::size_t stage) const {
    const KnownTask& known = input_.known[k];
    if (work_conserving_) return known.completed[stage];
    return stage + 1 < known.submitted.size() ? known.submitted[stage + 1] : known.response;
  }

  // Whether i may wait on its core for work of k: as that of a busily waiting task above it, or of one that such a task
  // waits for.
  bool is_waited_for_on_core(TaskIndex k) const {
    if (model_.order().busy_higher_on_core(i_) == 0) return false;
    return std::ranges::any_of(model_.order().higher_on_core(i_), [&](TaskIndex h) {
      return input_.task(h).uses_gpu && input_.staged(h).busy && (h == k || model_.is_higher_on_gpu(k, h));
    });
  }

  const SafeInput& input_;
  const StagedModel& model_;
  TaskIndex i_;
  bool work_conserving_;
  Duration update_;
  WindowedRecurrence& recurrence_;
  std::vector<TaskIndex>& held_up_by_;
  std::vector<char>& holds_up_;      // by task
  std::vector<TaskIndex>& keepers_;  // gcaps: tasks that keep the GPU from i, by core and place on it
};

}  // namespace

void build_gcaps_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  Builder(input, i, false, recurrence).build();
}

void build_gcaps_wc_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  Builder(input, i, true, recurrence).build();
}

}  // namespace rtgpu
