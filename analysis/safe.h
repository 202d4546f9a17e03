// What the safe analyses have in common: the interface to the iteration over a taskset, and the parts of a recurrence
// that do not depend on the policy.
#pragma once

#include "analysis/analysis.h"
#include "analysis/fixed_point.h"
#include "analysis/stages.h"
#include "analysis/windowed.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rtgpu {

// Set of tasks in a word: tasks that are 64 apart count as one.
using TaskBits = std::uint64_t;
constexpr TaskBits bit_of(TaskIndex task) {
  return TaskBits{1} << (task % 64);
}

// What is known, by task. Notes of whom it is asked.
class KnownTasks {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): the same, looked at through this.
  KnownTasks(const std::vector<KnownTask>& tasks) : tasks_(tasks) {}
  KnownTasks(const std::vector<KnownTask>& tasks, TaskBits& asked) : tasks_(tasks), asked_(&asked) {}

  const KnownTask& operator[](TaskIndex task) const {
    if (asked_ != nullptr) *asked_ |= bit_of(task);
    return tasks_[task];
  }

 private:
  std::span<const KnownTask> tasks_;
  TaskBits* asked_ = nullptr;
};

// What an analysis knows when it bounds a task.
struct SafeInput {
  const StagedModel& model;
  KnownTasks known;

  const StagedTask& staged(TaskIndex task) const { return model.staged(task); }
  const RtaTask& task(TaskIndex index) const { return model.task(index); }
};

// Fills in the recurrence of task i, whose windows are, for each device stage: one on the core, one with the device;
// and a last one on the core. Release jitter of i itself apart.
using BuildWindowed = void (*)(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

// Bounds of every real-time task, in the order of the taskset.
//
// Recurrences depend on each other's results, in circles too (a lower-priority task may block, a turn is taken by all).
// The bounds are the least ones that are consistent with each other: iteration starts from the demand of each task
// alone and only rises. A consistent set of bounds is safe: the first job in time that exceeds its bound would have
// done so while all others kept theirs up to then, which its recurrence rules out. A task whose bound passes its
// deadline is given up: it counts as having none, and those that need one from it get none either.
std::vector<TaskResult> bound_all_safe(const StagedModel& model, const Taskset& taskset, BuildWindowed build,
                                       const AnalysisOptions& options, WorkBudget& budget);

// Memory of the iteration, to be used again for the next taskset.
struct SafeWorkspace {
  std::vector<KnownTask> known;
  KnownTask next;
  WindowedRecurrence recurrence;
  WindowedSolver solver;
  WindowedSolution solution;
  // By task: of whom its last bound is made, and when that was. By bit of tasks: when what is known of them last
  // changed. Times are counts of such events.
  std::vector<TaskBits> asked;
  std::vector<std::int64_t> solved_at;
  std::array<std::int64_t, 64> changed_at{};
};

// Whether bound_all_safe() finds a bound at or below the deadline for every real-time task. Quicker: what it knows at
// the start is enough to see that most tasksets that fail do, and it ends with the first task that has no bound.
bool all_schedulable_safe(const StagedModel& model, const Taskset& taskset, BuildWindowed build,
                          const AnalysisOptions& options, WorkBudget& budget, SafeWorkspace& workspace);

// Whether a task meets its deadline if all others meet theirs: deadlines stand for their response times.
bool meets_deadline_if_others_do(const StagedModel& model, const Taskset& taskset, TaskIndex task, BuildWindowed build,
                                 WorkBudget& budget);

// Latest completion less cost: the jitter of a stream in a window that may begin anywhere.
constexpr Duration carry_of(Duration completion, Duration cost) {
  return std::max(completion - cost, Duration());
}

// The index of the core window before device stage `stage`, of the stage's own window, and of the last core window.
constexpr std::size_t host_window(std::size_t stage) {
  return 2 * stage;
}
constexpr std::size_t device_window(std::size_t stage) {
  return 2 * stage + 1;
}

// Adds the windows of i: on the core its CPU time and, with `misc_on_host`, misc; with the GPU or a copy engine the
// work, for the GPU with misc unless `misc_on_host`. Launches of further slices are overhead.
void add_windows(const SafeInput& input, TaskIndex i, bool misc_on_host, WindowedRecurrence& recurrence);

// In a core window that begins when no work of h is ready there: how long after the release of a job of h its first
// part becomes ready at the latest. A job of h may still wait for its device work then; where h has no bound, the next
// one may have been released long before, and be ready only when that one is complete.
Duration ready_after_release(const SafeInput& input, TaskIndex h);

// How the work of a higher-priority task on the same core delays others where its policy never holds it back: streams
// for CPU time and misc, released by its release and by the ends of its device work. A task that waits busily occupies
// the core from its release until its completion.
void add_unlocked_core_group(const SafeInput& input, TaskIndex h, WindowedRecurrence& recurrence);

// A delay by `by` (kNoTask: by any) in each GPU window of i.
void block_gpu_windows(const SafeInput& input, TaskIndex i, TaskIndex by, Duration amount,
                       WindowedRecurrence& recurrence);

// Copies of others: in a copy window, one that runs and is of lower priority (or, `by_priority` false, one of each
// other task), and those of higher priority.
void add_copies(const SafeInput& input, TaskIndex i, bool by_priority, WindowedRecurrence& recurrence);

// How many instants of others' responses can be charged to a job, by all groups of its task together.
struct JobCharge {
  Duration parts;  // times that are part of its own response as well
  Duration waits;  // what may be charged to it besides, while it waits on its core
};
// Joins the groups of each task but for copies, as far as its response is known. The groups are those of all that the
// task is charged in; `charge_of` may be infinite.
void join_groups(const SafeInput& input, JobCharge (*charge_of)(const SafeInput& input, TaskIndex task),
                 WindowedRecurrence& recurrence);

}  // namespace rtgpu
