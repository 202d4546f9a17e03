#include "analysis/safe.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// A set of bounds that still moves after this many rounds is cut short: what moves is given up.
constexpr int kMaxRounds = 200;

// The iteration over the real-time tasks of a taskset.
class Iteration {
 public:
  Iteration(const StagedModel& model, const Taskset& taskset, BuildWindowed build, const AnalysisOptions& options,
            WorkBudget& budget, SafeWorkspace& workspace)
      : model_(model),
        taskset_(taskset),
        build_(build),
        options_(options),
        budget_(budget),
        workspace_(workspace),
        known_(workspace.known),
        recurrence_(workspace.recurrence),
        solution_(workspace.solution) {
    known_.resize(model.size());
    for (TaskIndex task = 0; task < model.size(); ++task) start(task);
    workspace.asked.assign(model.size(), 0);
    workspace.solved_at.assign(model.size(), -1);
    workspace.changed_at.fill(0);
  }

  // Tasks that pass their deadlines are taken to meet them all the same.
  void trust_deadlines() { trusts_deadlines_ = true; }

  bool meets_deadline(TaskIndex task) {
    iterate();
    solve_task(task, SolutionParts::last_completion);
    return budget_.evaluations > 0 && !solution_.completions.back().is_infinite();
  }

  bool all_schedulable() {
    stops_at_failure_ = true;
    if (!lowest_on_gpu_may_pass()) return false;
    iterate();
    return !has_failure_ && budget_.evaluations > 0;
  }

  std::vector<TaskResult> run() {
    iterate();
    std::vector<TaskResult> results;
    for (TaskIndex task = 0; task < model_.size(); ++task) {
      if (!model_.task(task).best_effort) results.push_back(result_of(task));
    }
    return results;
  }

 private:
  Duration cap_of(TaskIndex task) const {
    const RtaTask& sums = model_.task(task);
    return (options_.beyond_deadline ? sums.period : sums.deadline) - sums.release_jitter;
  }

  void iterate() {
    bool changed = true;
    for (int round = 0; changed; ++round) {
      changed = false;
      for (const TaskIndex task : model_.order().cpu_order()) {
        changed = update(task, round >= kMaxRounds) || changed;
        if (stops_at_failure_ && has_failure_) return;
      }
    }
  }

  // Most tasksets that fail do so at the lowest task that uses the GPU, by what is known at the start.
  bool lowest_on_gpu_may_pass() {
    const std::span<const TaskIndex> order = model_.order().gpu_order();
    for (std::size_t place = order.size(); place-- > 0;) {
      const TaskIndex task = order[place];
      if (!model_.task(task).uses_gpu) continue;
      if (demand_of(task) > cap_of(task)) return false;
      fill_recurrence(task);
      if (workspace_.solver.early_completion(recurrence_, cap_of(task), budget_).is_infinite()) return false;
      workspace_.solver.solve(recurrence_, cap_of(task), budget_, solution_, SolutionParts::last_completion);
      return !solution_.completions.back().is_infinite();
    }
    return true;
  }

  void start(TaskIndex task) {
    KnownTask& known = known_[task];
    if (model_.task(task).best_effort) {
      known = nothing_known(model_.staged(task));
      return;
    }
    set_least_known(model_.staged(task), known);
    if (options_.jitter == JitterSource::deadline) set_to_deadline(task, known);
  }

  void set_to_deadline(TaskIndex task, KnownTask& known) const {
    const Duration deadline = model_.task(task).deadline;
    known.response = deadline;
    std::ranges::fill(known.submitted, deadline);
    std::ranges::fill(known.completed, deadline);
  }

  // What is known of a task that passes its deadline.
  KnownTask known_of_late(TaskIndex task) const {
    KnownTask known = nothing_known(model_.staged(task));
    if (!trusts_deadlines_) return known;
    set_to_deadline(task, known);
    std::ranges::fill(known.waits, known.response);
    return known;
  }

  // About as many steps as it takes to look at all others.
  std::int64_t cost_of_building(TaskIndex task) const {
    const auto on_core = model_.higher_on_core(task).size() + model_.lower_on_core(task).size();
    const auto others = static_cast<std::int64_t>(model_.gpu_users().size() + on_core);
    return 4 * others * (1 + model_.waiters_on_core_above(task));
  }

  // Whether the task was bounded by what is known now.
  bool is_up_to_date(TaskIndex task) const {
    const std::int64_t solved = workspace_.solved_at[task];
    if (solved < 0) return false;
    for (TaskBits left = workspace_.asked[task]; left != 0; left &= left - 1) {
      if (workspace_.changed_at[static_cast<std::size_t>(std::countr_zero(left))] > solved) return false;
    }
    return true;
  }

  // Bounds the task by what is known of the others. Whether that changed what is known of it.
  bool update(TaskIndex task, bool out_of_rounds) {
    if (known_[task].response.is_infinite() || budget_.evaluations <= 0 || is_up_to_date(task)) return false;
    if (demand_of(task) > cap_of(task)) {
      workspace_.next = known_of_late(task);
      return learn(task);
    }
    solve_task(task, SolutionParts::times);
    workspace_.solved_at[task] = time_;
    take_solution(task);
    if (out_of_rounds && workspace_.next != known_[task]) workspace_.next = known_of_late(task);
    return learn(task);
  }

  // Takes over workspace_.next. Whether that is new.
  bool learn(TaskIndex task) {
    if (workspace_.next == known_[task]) return false;
    std::swap(known_[task], workspace_.next);
    has_failure_ = has_failure_ || known_[task].response.is_infinite();
    workspace_.changed_at[task % 64] = ++time_;
    return true;
  }

  Duration demand_of(TaskIndex task) const { return demand_alone(model_.staged(task)); }

  void fill_recurrence(TaskIndex task) {
    recurrence_.clear();
    budget_.evaluations -= cost_of_building(task);
    TaskBits& asked = workspace_.asked[task];
    asked = 0;
    build_(SafeInput{model_, KnownTasks(known_, asked)}, task, recurrence_);
    budget_.evaluations -= 8 * static_cast<std::int64_t>(recurrence_.streams.size());
  }

  void solve_task(TaskIndex task, SolutionParts parts) {
    fill_recurrence(task);
    workspace_.solver.solve(recurrence_, cap_of(task), budget_, solution_, parts);
  }

  // What the solution says of the task, into workspace_.next.
  void take_solution(TaskIndex task) {
    KnownTask& next = workspace_.next;
    const Duration jitter = model_.task(task).release_jitter;
    const Duration response = solution_.completions.back() + jitter;
    // Beyond the deadline, which stood for the response time in what others were charged, nothing is known either.
    const bool is_late = options_.jitter == JitterSource::deadline && response > model_.task(task).deadline;
    if (response.is_infinite() || is_late) {
      next = known_of_late(task);
      return;
    }
    next = known_[task];
    for (std::size_t stage = 0; stage < next.submitted.size(); ++stage) {
      next.waits[stage] = std::min(solution_.lengths[device_window(stage)], response);
      if (options_.jitter == JitterSource::deadline) continue;
      next.submitted[stage] = solution_.completions[host_window(stage)] + jitter;
      next.completed[stage] = solution_.completions[device_window(stage)] + jitter;
    }
    if (options_.jitter == JitterSource::response) next.response = response;
  }

  TaskResult result_of(TaskIndex task) {
    TaskResult result;
    result.task = task;
    if (budget_.evaluations <= 0) {
      result.outcome = Outcome::limit_reached;
      result.reason = fmt::format("stopped after {} evaluations of a charge", kMaxChargeEvaluations);
      return result;
    }
    const RtaTask& sums = model_.task(task);
    Duration response = Duration::infinite();
    if (demand_of(task) > cap_of(task)) {
      recurrence_.clear();
    } else {
      solve_task(task, SolutionParts::all);
      response = solution_.completions.back() + sums.release_jitter;
    }
    if (response.is_infinite()) {
      set_unbounded(result);
      return result;
    }
    result.bound = response;
    result.outcome = response <= sums.deadline ? Outcome::bound : Outcome::not_schedulable;
    if (!result.schedulable())
      result.reason = fmt::format("the bound is past the deadline, {}", to_string(sums.deadline));
    fill_terms(result);
    return result;
  }

  // Why there is no bound: a task that it needs one from has none, or there is too much to do.
  void set_unbounded(TaskResult& result) const {
    const auto needed = std::ranges::find_if(recurrence_.groups, [&](const Group& group) {
      return group.task != kNoTask && group.unit.is_infinite() && known_[group.task].response.is_infinite() &&
             depends_on_response(group);
    });
    if (needed != recurrence_.groups.end() && !is_too_much_alone(result.task)) {
      result.outcome = Outcome::unknown;
      result.reason =
          fmt::format("depends on the response time of {}, which {}", taskset_.tasks[needed->task].name,
                      model_.task(needed->task).best_effort ? "is best-effort and has no bound" : "has no bound");
    } else {
      result.outcome = Outcome::not_schedulable;
      result.reason = fmt::format("the recurrence passes the {}, {}", options_.beyond_deadline ? "period" : "deadline",
                                  to_string(cap_of(result.task) + model_.task(result.task).release_jitter));
    }
  }

  bool depends_on_response(const Group& group) const {
    const auto first = recurrence_.streams.begin() + static_cast<std::ptrdiff_t>(group.first_stream);
    return std::any_of(first, first + static_cast<std::ptrdiff_t>(group.stream_count),
                       [](const JobStream& stream) { return stream.whole.is_infinite() || stream.cost.is_infinite(); });
  }

  // Whether the task passes its cap even without what has no bound.
  bool is_too_much_alone(TaskIndex task) const {
    Duration own;
    std::int64_t meetings = 0;
    for (const Window& window : recurrence_.windows) {
      own += window.own + window.blocking;
      if (window.meets_blocker) ++meetings;
    }
    for (const Blocker& blocker : recurrence_.blockers) {
      const std::int64_t met = std::min(meetings, blocker.times);
      own += blocker.length * met;
      meetings -= met;
    }
    return own > cap_of(task);
  }

  void fill_terms(TaskResult& result) const {
    const auto add = [&](Term term, TaskIndex whose, std::int64_t jobs, Duration amount) {
      result.terms[static_cast<std::size_t>(term)] += amount;
      if (options_.explain && amount != Duration()) result.contributions.push_back({term, whose, jobs, amount});
    };
    Duration own = model_.task(result.task).release_jitter;
    for (const Window& window : recurrence_.windows) own += window.own;
    for (const Constant& constant : recurrence_.constants) {
      add(constant.term, constant.task, constant.jobs, constant.amount);
    }
    for (std::size_t place = 0; place < recurrence_.blockers.size(); ++place) {
      const Blocker& blocker = recurrence_.blockers[place];
      add(blocker.term, blocker.task, solution_.met[place], blocker.length * solution_.met[place]);
    }
    for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
      add(recurrence_.groups[place].term, recurrence_.groups[place].task, 1, solution_.charged[place]);
    }
    add(Term::own, result.task, 1, own);
  }

  const StagedModel& model_;
  const Taskset& taskset_;
  BuildWindowed build_;
  const AnalysisOptions& options_;
  WorkBudget& budget_;
  SafeWorkspace& workspace_;
  std::vector<KnownTask>& known_;
  WindowedRecurrence& recurrence_;
  WindowedSolution& solution_;
  std::int64_t time_ = 0;
  bool trusts_deadlines_ = false;
  bool stops_at_failure_ = false;
  bool has_failure_ = false;
};

Duration longest_copy(const StagedTask& task) {
  Duration longest;
  for (const DeviceStage& device : task.devices) {
    if (device.is_copy) longest = std::max(longest, device.work);
  }
  return longest;
}

// The longest copy of a task below i on an engine.
Duration longest_copy_below(const SafeInput& input, TaskIndex i, int engine) {
  Duration longest;
  for (TaskIndex other = 0; other < input.model.size(); ++other) {
    if (other == i || input.model.is_higher_on_gpu(other, i)) continue;
    for (const DeviceStage& device : input.staged(other).devices) {
      if (device.is_copy && device.copy_engine == engine) longest = std::max(longest, device.work);
    }
  }
  return longest;
}

void add_copies_of(const SafeInput& input, TaskIndex other, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(other);
  recurrence.add_group(Term::copy, other, WindowKind::copy);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    if (!device.is_copy) continue;
    const Duration carry = carry_of(input.known[other].completed[stage], device.work);
    recurrence.add_stream({device.work, input.task(other).period, {}, carry, carry});
  }
  recurrence.add_together(input.task(other).period, input.known[other].response);
}

}  // namespace

std::vector<TaskResult> bound_all_safe(const StagedModel& model, const Taskset& taskset, BuildWindowed build,
                                       const AnalysisOptions& options, WorkBudget& budget) {
  SafeWorkspace workspace;
  return Iteration(model, taskset, build, options, budget, workspace).run();
}

bool all_schedulable_safe(const StagedModel& model, const Taskset& taskset, BuildWindowed build,
                          const AnalysisOptions& options, WorkBudget& budget, SafeWorkspace& workspace) {
  return Iteration(model, taskset, build, options, budget, workspace).all_schedulable();
}

bool meets_deadline_if_others_do(const StagedModel& model, const Taskset& taskset, TaskIndex task, BuildWindowed build,
                                 WorkBudget& budget) {
  AnalysisOptions options;
  options.jitter = JitterSource::deadline;
  SafeWorkspace workspace;
  Iteration iteration(model, taskset, build, options, budget, workspace);
  iteration.trust_deadlines();
  return iteration.meets_deadline(task);
}

void add_windows(const SafeInput& input, TaskIndex i, bool misc_on_host, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(i);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    const Duration misc_here = misc_on_host || device.is_copy ? device.misc : Duration();
    recurrence.windows.push_back({WindowKind::host, task.host[stage] + misc_here, {}, 1, {}});
    const Duration own = device.work - device.launches + (device.misc - misc_here);
    const WindowKind kind = device.is_copy ? WindowKind::copy : WindowKind::gpu;
    recurrence.windows.push_back({kind, own, device.is_copy ? own : Duration(), 1, {}});
    recurrence.block(device_window(stage), Term::overhead, i, 1, device.launches);
  }
  recurrence.windows.push_back({WindowKind::host, task.host.back(), {}, 1, {}});
}

Duration ready_after_release(const SafeInput& input, TaskIndex h) {
  const bool may_be_late = input.known[h].response.is_infinite() && !input.staged(h).devices.empty();
  return may_be_late ? Duration::infinite() : input.task(h).release_jitter;
}

void add_unlocked_core_group(const SafeInput& input, TaskIndex h, WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(h);
  const RtaTask& sums = input.task(h);
  const KnownTask& known = input.known[h];
  const Duration on_core = task.cpu_total + task.misc_total;
  recurrence.add_group(Term::cpu_preemption, h, WindowKind::host);
  if (task.busy || task.devices.empty()) {
    Duration occupied = on_core;
    for (std::size_t stage = 0; stage < task.devices.size(); ++stage) occupied += known.waits[stage];
    recurrence.add_stream({occupied, sums.period, sums.release_jitter, {}, sums.release_jitter});
    return;
  }
  for (std::size_t stage = 0; stage <= task.devices.size(); ++stage) {
    const Duration misc = stage < task.devices.size() ? task.devices[stage].misc : Duration();
    const Duration released = stage == 0 ? ready_after_release(input, h) : known.completed[stage - 1];
    recurrence.add_stream({task.host[stage] + misc, sums.period, released, {}, released});
  }
  recurrence.add_together(sums.period, known.response);
}

void block_gpu_windows(const SafeInput& input, TaskIndex i, TaskIndex by, Duration amount,
                       WindowedRecurrence& recurrence) {
  const StagedTask& task = input.staged(i);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    if (!task.devices[stage].is_copy) recurrence.block(device_window(stage), Term::gpu_blocking, by, 1, amount);
  }
}

void add_copies(const SafeInput& input, TaskIndex i, bool by_priority, WindowedRecurrence& recurrence) {
  if (!input.model.has_copies()) return;
  const StagedTask& task = input.staged(i);
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    if (!task.devices[stage].is_copy || !by_priority) continue;
    recurrence.block(device_window(stage), Term::copy, kNoTask, 1,
                     longest_copy_below(input, i, task.devices[stage].copy_engine));
  }
  for (TaskIndex other = 0; other < input.model.size(); ++other) {
    if (other == i || (by_priority && !input.model.is_higher_on_gpu(other, i))) continue;
    add_copies_of(input, other, recurrence);
    // First come, first served: of each other task one copy may be ahead.
    if (!by_priority) recurrence.groups.back().unit = longest_copy(input.staged(other));
  }
}

void join_groups(const SafeInput& input, JobCharge (*charge_of)(const SafeInput& input, TaskIndex task),
                 WindowedRecurrence& recurrence) {
  // By task: its first group, and its joint once it has a second one.
  std::vector<std::size_t>& first_of = recurrence.scratch.first_group;
  first_of.assign(input.model.size(), kNoGroup);
  for (std::size_t place = 0; place < recurrence.groups.size(); ++place) {
    Group& group = recurrence.groups[place];
    if (group.task == kNoTask || group.term == Term::copy) continue;
    std::size_t& first = first_of[group.task];
    if (first == kNoGroup) {
      first = place;
      continue;
    }
    std::size_t& joint = recurrence.groups[first].joint;
    if (joint == kNoJoint) {
      const JobCharge charge = charge_of(input, group.task);
      // What a job leaves for a window that begins anywhere starts by its response, less all of it.
      const Duration carry = carry_of(input.known[group.task].response, charge.parts);
      joint = recurrence.joints.size();
      recurrence.joints.push_back({charge.parts + charge.waits, input.task(group.task).period, carry});
    }
    group.joint = joint;
  }
}

}  // namespace rtgpu
