// From the recurrence of one task to the bounds of a taskset.
#pragma once

#include "analysis/analysis.h"
#include "analysis/fixed_point.h"
#include "analysis/rta_model.h"

#include <optional>
#include <vector>

namespace rtgpu {

// What is known of the response times R_h while those of other tasks are being bounded.
//
// The jitter of a task's work on one resource is R_h less its own demand there. Where R_h cannot be known yet (GPU
// priorities may run against CPU priorities, in a circle), D_h stands for it; the result then holds only if h meets its
// deadline, which is checked at the end; and so do bounds that are made of that one.
class KnownResponses {
 public:
  KnownResponses(const RtaModel& model, JitterSource source);

  // R_h - demand, or D_h - demand. Notes it if h has no bound: taint() is then set.
  Duration jitter(TaskIndex h, Duration demand);

  // Conditional: the bound holds only if a deadline does that was taken on trust, by this task or by one whose bound it
  // used.
  void set_bound(TaskIndex task, Duration bound, bool is_conditional);
  void set_failed(TaskIndex task);
  bool is_resolved(TaskIndex task) const { return states_[task] != State::unresolved; }

  // Forgets what the last recurrence used; called before each.
  void begin_task();
  // A task without a bound that the recurrence being built depends on.
  std::optional<TaskIndex> taint() const { return taint_; }
  // Tasks whose deadline the recurrence took on trust.
  const std::vector<TaskIndex>& trusted() const { return trusted_; }
  // Tasks whose conditional bound it used.
  const std::vector<TaskIndex>& relied_on() const { return relied_on_; }

 private:
  enum class State : std::uint8_t { unresolved, bounded, failed };
  const RtaModel* model_;
  JitterSource source_;
  std::vector<State> states_;
  std::vector<Duration> bounds_;
  std::optional<TaskIndex> taint_;
  std::vector<TaskIndex> trusted_;
  std::vector<bool> is_conditional_;
  std::vector<TaskIndex> relied_on_;
};

// An analysis in the form of a recurrence a task: fills in the recurrence of task i (its release jitter apart). It may
// stop early once `known` is tainted. What it solves on the way comes out of the budget.
using BuildRecurrence = void (*)(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget& budget,
                                 Recurrence& recurrence);

// Bounds for every real-time task, in the order of the taskset.
std::vector<TaskResult> bound_all(const RtaModel& model, const Taskset& taskset, BuildRecurrence build,
                                  const AnalysisOptions& options, WorkBudget& budget);

// Whether bound_all() finds a bound at or below the deadline for every real-time task. Quicker: it ends with the first
// task that has none.
bool all_schedulable(const RtaModel& model, const Taskset& taskset, BuildRecurrence build,
                     const AnalysisOptions& options, WorkBudget& budget);

// The recurrence of one task, solved on the assumption that all others meet their deadlines: whether its bound is at
// most its deadline.
bool meets_deadline_if_others_do(const RtaModel& model, TaskIndex task, BuildRecurrence build, WorkBudget& budget);

}  // namespace rtgpu
