#include "analysis/response_times.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// With beyond_deadline the iteration goes on to this many periods.
constexpr std::int64_t kBeyondDeadlinePeriods = 10;

void fill_terms(const Recurrence& recurrence, Duration window, Duration release_jitter, bool explain, TaskIndex task,
                TaskResult& result) {
  const auto add = [&](Term term, TaskIndex whose, std::int64_t jobs, Duration amount) {
    result.terms[static_cast<std::size_t>(term)] += amount;
    if (explain && amount != Duration()) result.contributions.push_back({term, whose, jobs, amount});
  };
  for (const Constant& constant : recurrence.constants) {
    add(constant.term, constant.task, constant.jobs, constant.amount);
  }
  add(Term::own, task, 1, release_jitter);
  for (const Charge& charge : recurrence.charges) {
    const std::int64_t jobs = jobs_in(charge, window);
    add(charge.term, charge.task, jobs, charge.cost * jobs);
  }
  for_each_counted(recurrence, window, [&](const Charge& section, std::int64_t count) {
    add(section.term, section.task, count, section.cost * count);
  });
}

// Bounds one task after another, each when what its recurrence uses is known.
class Pass {
 public:
  Pass(const RtaModel& model, const Taskset& taskset, BuildRecurrence build, const AnalysisOptions& options,
       WorkBudget& budget)
      : model_(model),
        taskset_(taskset),
        build_(build),
        options_(options),
        budget_(budget),
        known_(model, options.jitter),
        results_(model.size()) {
    recurrence_.itemized = options.explain;
  }

  // If all tasks pass, no trust in others was broken.
  bool all_schedulable() {
    stops_at_failure_ = true;
    resolve_all();
    return !has_failure_;
  }

  std::vector<TaskResult> run() {
    resolve_all();
    withdraw_broken_trust();
    std::vector<TaskResult> in_file_order;
    in_file_order.reserve(model_.cpu_order().size());
    for (TaskIndex task = 0; task < model_.size(); ++task) {
      if (!model_.task(task).best_effort) in_file_order.push_back(std::move(results_[task]));
    }
    return in_file_order;
  }

 private:
  void resolve_all() {
    std::vector<TaskIndex> open(model_.cpu_order().begin(), model_.cpu_order().end());
    while (!open.empty() && !is_over()) {
      const std::size_t before = open.size();
      std::erase_if(open, [&](TaskIndex task) { return !is_over() && is_ready(task) && resolve(task); });
      if (open.size() == before) break_circle(open);
    }
  }

  bool is_over() const { return stops_at_failure_ && has_failure_; }

  // Whether R_h is known of all tasks of higher priority. Higher tasks of the core are resolved in their order, so the
  // next higher one speaks for all; likewise on the GPU, where places before gpu_front_ are all resolved.
  bool is_ready(TaskIndex task) {
    const auto on_core = model_.higher_on_core(task);
    if (!on_core.empty() && !known_.is_resolved(on_core.back())) return false;
    const auto order = model_.gpu_order();
    while (gpu_front_ < order.size() &&
           (known_.is_resolved(order[gpu_front_]) || !model_.task(order[gpu_front_]).uses_gpu)) {
      ++gpu_front_;
    }
    return model_.gpu_rank(task) <= gpu_front_;
  }

  // Every open task waits for another one: the highest whose core is clear goes first, with deadlines for what is open.
  void break_circle(std::vector<TaskIndex>& open) {
    const auto first = std::ranges::find_if(open, [&](TaskIndex task) {
      const auto on_core = model_.higher_on_core(task);
      return on_core.empty() || known_.is_resolved(on_core.back());
    });
    resolve(*first);
    open.erase(first);
  }

  bool resolve(TaskIndex task) {
    TaskResult& result = results_[task];
    result.task = task;
    if (budget_.evaluations <= 0) {
      set_limit_reached(result);
      has_failure_ = true;
      known_.set_failed(task);
      return true;
    }
    known_.begin_task();
    recurrence_.clear();
    build_(model_, task, known_, budget_, recurrence_);
    budget_.evaluations -= static_cast<std::int64_t>(recurrence_.size());
    for (const TaskIndex other : known_.trusted()) trust_.push_back({task, other, true});
    for (const TaskIndex other : known_.relied_on()) trust_.push_back({task, other, false});
    const bool is_conditional = !known_.trusted().empty() || !known_.relied_on().empty();
    if (known_.taint()) {
      set_unknown(result, *known_.taint());
    } else {
      solve_into(result);
    }
    has_failure_ = has_failure_ || !result.schedulable();
    if (result.bound) {
      known_.set_bound(task, *result.bound, is_conditional);
    } else {
      known_.set_failed(task);
    }
    return true;
  }

  void solve_into(TaskResult& result) {
    const RtaTask& task = model_.task(result.task);
    const Duration limit = options_.beyond_deadline ? task.period * kBeyondDeadlinePeriods : task.deadline;
    const Solution solution = solve(recurrence_, limit - task.release_jitter, budget_);
    const Duration response = solution.value + task.release_jitter;
    switch (solution.status) {
      case SolveStatus::fixed_point:
        set_fixed_point(result, response);
        break;
      case SolveStatus::above_cap:
        if (solution.value.is_infinite()) {
          result.outcome = Outcome::overflow;
          result.reason = "a sum of charges passes 2^63-1 ns, which is above every deadline";
        } else {
          result.outcome = Outcome::not_schedulable;
          result.reason = fmt::format("the recurrence passes {} {}",
                                      options_.beyond_deadline ? "ten periods," : "the deadline,", to_string(limit));
        }
        break;
      case SolveStatus::diverges:
        result.outcome = Outcome::not_schedulable;
        result.reason = "the tasks above it leave no time for it";
        break;
      case SolveStatus::budget_spent:
        set_limit_reached(result);
        break;
    }
    if (result.bound && !stops_at_failure_) {
      fill_terms(recurrence_, solution.value, task.release_jitter, options_.explain, result.task, result);
    }
  }

  // A fixed point past the deadline is a bound only if no job can meet the next one of its task.
  void set_fixed_point(TaskResult& result, Duration response) {
    const RtaTask& task = model_.task(result.task);
    if (response <= task.deadline) {
      result.outcome = Outcome::bound;
      result.bound = response;
      return;
    }
    result.outcome = Outcome::not_schedulable;
    if (response <= task.period) {
      result.bound = response;
      result.reason = fmt::format("the bound is past the deadline, {}", to_string(task.deadline));
    } else {
      result.reason = fmt::format("the recurrence ends at {}, past the period, {}: jobs may pile up",
                                  to_string(response), to_string(task.period));
    }
  }

  static void set_limit_reached(TaskResult& result) {
    result.outcome = Outcome::limit_reached;
    result.reason = fmt::format("stopped after {} evaluations of a charge", kMaxChargeEvaluations);
  }

  void set_unknown(TaskResult& result, TaskIndex because) {
    result = TaskResult{};
    result.task = static_cast<TaskIndex>(&result - results_.data());
    result.outcome = Outcome::unknown;
    result.reason = fmt::format("depends on the response time of {}, which has no bound", taskset_.tasks[because].name);
  }

  // A task that was taken to meet its deadline and does not: whoever relied on it loses its bound, whoever used that
  // bound too, and so on.
  void withdraw_broken_trust() {
    for (bool changed = !trust_.empty(); changed;) {
      changed = false;
      for (const Trust& trust : trust_) {
        const TaskResult& other = results_[trust.other];
        const bool holds = trust.in_deadline ? other.schedulable() : other.bound.has_value();
        if (holds || !results_[trust.task].bound) continue;
        set_unknown(results_[trust.task], trust.other);
        changed = true;
      }
    }
  }

  const RtaModel& model_;
  const Taskset& taskset_;
  BuildRecurrence build_;
  const AnalysisOptions& options_;
  WorkBudget& budget_;
  KnownResponses known_;
  std::vector<TaskResult> results_;
  Recurrence recurrence_;
  std::size_t gpu_front_ = 0;
  bool stops_at_failure_ = false;
  bool has_failure_ = false;
  // That another task meets its deadline, or has the bound that it was given.
  struct Trust {
    TaskIndex task = 0;
    TaskIndex other = 0;
    bool in_deadline = true;
  };
  std::vector<Trust> trust_;
};

}  // namespace

KnownResponses::KnownResponses(const RtaModel& model, JitterSource source)
    : model_(&model),
      source_(source),
      states_(model.size(), State::unresolved),
      bounds_(model.size()),
      is_conditional_(model.size()) {}

Duration KnownResponses::jitter(TaskIndex h, Duration demand) {
  if (states_[h] == State::failed && !taint_) taint_ = h;
  if (states_[h] == State::unresolved) trusted_.push_back(h);
  if (states_[h] == State::bounded && is_conditional_[h]) relied_on_.push_back(h);
  const bool use_bound = states_[h] == State::bounded && source_ == JitterSource::response;
  const Duration response = use_bound ? bounds_[h] : model_->task(h).deadline;
  return std::max(response - demand, Duration());
}

void KnownResponses::set_bound(TaskIndex task, Duration bound, bool is_conditional) {
  // A bound past the deadline does not make the deadline true.
  const bool usable = source_ == JitterSource::response || bound <= model_->task(task).deadline;
  states_[task] = usable ? State::bounded : State::failed;
  bounds_[task] = bound;
  is_conditional_[task] = is_conditional;
}

void KnownResponses::set_failed(TaskIndex task) {
  states_[task] = State::failed;
}

void KnownResponses::begin_task() {
  taint_.reset();
  trusted_.clear();
  relied_on_.clear();
}

std::vector<TaskResult> bound_all(const RtaModel& model, const Taskset& taskset, BuildRecurrence build,
                                  const AnalysisOptions& options, WorkBudget& budget) {
  return Pass(model, taskset, build, options, budget).run();
}

bool all_schedulable(const RtaModel& model, const Taskset& taskset, BuildRecurrence build,
                     const AnalysisOptions& options, WorkBudget& budget) {
  return Pass(model, taskset, build, options, budget).all_schedulable();
}

bool meets_deadline_if_others_do(const RtaModel& model, TaskIndex task, BuildRecurrence build, WorkBudget& budget) {
  KnownResponses known(model, JitterSource::deadline);
  Recurrence recurrence;
  build(model, task, known, budget, recurrence);
  const Duration cap = model.task(task).deadline - model.task(task).release_jitter;
  return solve(recurrence, cap, budget).status == SolveStatus::fixed_point;
}

}  // namespace rtgpu
