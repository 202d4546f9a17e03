#include "analysis/rta/gcaps_safe.h"

#include <algorithm>

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

class Builder {
 public:
  Builder(const SafeInput& input, TaskIndex i, bool work_conserving, WindowedRecurrence& recurrence)
      : input_(input),
        model_(input.model),
        i_(i),
        work_conserving_(work_conserving),
        update_(input.model.overheads().runlist_update),
        recurrence_(recurrence) {}

  void build() {
    add_windows(input_, i_, true, recurrence_);
    add_calls();
    for (const TaskIndex h : model_.order().higher_on_core(i_)) add_core_work(h);
    for (const TaskIndex other : model_.gpu_users()) {
      if (other == i_) continue;
      add_updates(other);
      if (!input_.task(other).best_effort) add_gpu_work(other);
    }
    add_copies(input_, i_, true, recurrence_);
  }

 private:
  // Whether a wait of `task` for the mutex may find an update from below.
  bool has_caller_below(TaskIndex task) const {
    return std::ranges::any_of(model_.gpu_users(),
                               [&](TaskIndex other) { return other != task && !model_.is_higher_on_gpu(other, task); });
  }

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

  // Whether h keeps its core through a core window.
  bool keeps_core(TaskIndex h) const { return update_ == Duration() || input_.staged(h).spins; }

  // CPU time, misc and updates of h, which is above i on the core.
  void add_core_work(TaskIndex h) {
    const StagedTask& task = input_.staged(h);
    const RtaTask& sums = input_.task(h);
    const KnownTask& known = input_.known[h];
    const Duration blocking = task.spins && has_caller_below(h) ? update_ : Duration();
    recurrence_.add_group(Term::cpu_preemption, h, WindowKind::host);
    Duration ready = sums.release_jitter;
    for (std::size_t stage = 0; stage <= task.devices.size(); ++stage) {
      const bool has_device = stage < task.devices.size();
      const Duration latest = has_device ? known.submitted[stage] : known.response;
      const Duration misc = has_device ? task.devices[stage].misc : Duration();
      const Duration calls = (update_ + blocking) * calls_in_window(task, stage);
      const Duration copying = has_device && task.devices[stage].is_copy && task.busy ? known.waits[stage] : Duration();
      const Duration rest = misc + calls;
      if (keeps_core(h)) {
        add_core_stream(h, task.host[stage] + rest + copying, ready);
      } else if (stage == 0 || calls_in_window(task, stage) == 0) {
        add_core_stream(h, task.host[stage], ready);
        add_core_stream(h, rest + copying, carry_of(latest, rest));
      } else {
        add_core_stream(h, task.host[stage] + rest + copying, carry_of(latest, task.host[stage] + rest));
      }
      if (has_device && !never_suspends(h)) ready = known.completed[stage];
    }
    if (task.devices.empty()) return;
    recurrence_.add_together(sums.period, known.response);
  }

  void add_core_stream(TaskIndex h, Duration cost, Duration ready) {
    recurrence_.add_stream({cost, input_.task(h).period, ready, {}, ready});
  }

  bool never_suspends(TaskIndex h) const { return input_.staged(h).busy && keeps_core(h); }

  // Updates of another task, but those of hpp(i), which are part of its work on the core.
  void add_updates(TaskIndex other) {
    if (update_ == Duration() || model_.order().is_higher_on_core(other, i_)) return;
    const auto& below = model_.lower_on_core(i_);
    const bool is_below_on_core = std::ranges::find(below, other) != below.end();
    const bool is_above = is_above_a_waiter(other);
    if (!is_above && !is_below_on_core) return;
    const StagedTask& task = input_.staged(other);
    const Duration updates = update_ * (2 * task.gpu_stages());
    const Duration carry = carry_of(input_.known[other].response, updates);
    recurrence_.add_group(Term::cpu_blocking, other, WindowKind::host);
    recurrence_.add_stream({updates, input_.task(other).period, carry, {}, carry});
    if (!is_above) recurrence_.groups.back().unit = update_;
  }

  // Whether `other` goes before i for the mutex, or before a task that spins for it above i on the core.
  bool is_above_a_waiter(TaskIndex other) const {
    if (input_.staged(i_).gpu_stages() > 0 && model_.is_higher_on_gpu(other, i_)) return true;
    return std::ranges::any_of(model_.order().higher_on_core(i_), [&](TaskIndex h) {
      return input_.staged(h).spins && input_.staged(h).gpu_stages() > 0 && model_.is_higher_on_gpu(other, h);
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
      const Duration cost = work_conserving_ ? task.devices[stage].work : known.held[stage];
      const Duration carry = carry_of(latest_end(k, stage), cost);
      // A task that keeps its core from release to completion has nothing left when its core becomes free.
      const bool whole_job_on_core = on_core && never_suspends(k);
      const Duration on_host = whole_job_on_core ? input_.task(k).release_jitter : carry;
      recurrence_.add_stream(
          {cost, input_.task(k).period, on_host, known.submitted[stage], whole_job_on_core ? on_host : carry});
    }
    recurrence_.add_together(input_.task(k).period, known.response);
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
};

// Whether a task above k on its core may wait there, busily, for the GPU that k keeps: then k cannot go on, and neither
// can that task.
bool waits_above_for(const SafeInput& input, TaskIndex k) {
  return std::ranges::any_of(input.model.order().higher_on_core(k), [&](TaskIndex h) {
    return input.task(h).uses_gpu && input.staged(h).busy && input.model.is_higher_on_gpu(k, h);
  });
}

}  // namespace

void build_gcaps_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  Builder(input, i, false, recurrence).build();
}

void build_gcaps_wc_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence) {
  Builder(input, i, true, recurrence).build();
}

// The windows of misc and of the way to the end of the leave, alone, with what delays them on the core of k.
void fill_gcaps_held(const SafeInput& input, TaskIndex k, KnownTask& known, WorkBudget& budget) {
  const StagedTask& task = input.staged(k);
  if (task.gpu_stages() == 0) return;
  if (waits_above_for(input, k)) {
    std::ranges::fill(known.held, Duration::infinite());
    return;
  }
  WindowedRecurrence recurrence;
  build_gcaps_safe(input, k, recurrence);
  recurrence.windows.clear();
  recurrence.constants.clear();
  const Duration update = input.model.overheads().runlist_update;
  for (const DeviceStage& device : task.devices) {
    recurrence.windows.push_back({WindowKind::host, device.misc, {}, 1, {}});
    // The leave runs one update, may wait for one from below, and comes back to the core once after waiting.
    recurrence.windows.push_back({WindowKind::host, update * 2, {}, 2, {}});
  }
  WindowedSolution solution;
  solve(recurrence, input.task(k).deadline, budget, solution);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    known.held[stage] = solution.lengths[2 * stage] + task.devices[stage].work + solution.lengths[2 * stage + 1];
  }
}

}  // namespace rtgpu
