#include "analysis/simulation/trials.h"

#include "taskset/generators/random.h"

#include <algorithm>

namespace rtgpu {
namespace {

// Chances, per mille.
constexpr int kShorten = 500;
constexpr int kJitterChance = 500;
constexpr int kMostGaps = 500;

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

// Whether response / deadline of one is larger than of the other.
bool is_longer_for_deadline(Duration response, Duration deadline, Duration other, Duration other_deadline) {
  return Int128{response.count()} * other_deadline.count() > Int128{other.count()} * deadline.count();
}

}  // namespace

Scenario scenario_of_trial(const Taskset& taskset, const TrialChoices& choices, std::uint64_t trial) {
  const bool draws_releases = trial > 0 || choices.releases == Releases::sporadic;
  Scenario scenario = synchronous_scenario(taskset.tasks.size());
  scenario.seed = seed_of(choices.seed, trial);
  scenario.below_best_case = !gives_best_cases(taskset);
  Random random(scenario.seed);
  for (std::size_t index = 0; index < taskset.tasks.size(); ++index) {
    const Task& task = taskset.tasks[index];
    TaskScenario& chosen = scenario.tasks[index];
    if (trial > 0) chosen.offset = Duration::nanoseconds(random.between(0, task.period.count() - 1));
    if (draws_releases && task.jitter > Duration()) chosen.jitter_chance = kJitterChance;
    if (choices.releases == Releases::sporadic) {
      chosen.gap_chance = static_cast<int>(random.between(1, kMostGaps));
      chosen.longest_gap = Duration::nanoseconds(random.between(1, task.period.count()));
    }
    if (choices.execution == Execution::random) chosen.shorten_chance = kShorten;
  }
  return scenario;
}

TrialSummary::TrialSummary(const Taskset& taskset) : taskset_(&taskset), tasks_(taskset.tasks.size()) {}

void TrialSummary::add(std::uint64_t trial, const Observation& observation) {
  for (TaskIndex task = 0; task < tasks_.size(); ++task) {
    const TaskObservation& seen = observation.tasks[task];
    TaskTrials& all = tasks_[task];
    if (seen.max_response > all.max_response || !all.any_job()) {
      all.max_response = seen.max_response;
      all.trial = trial;
      all.job = seen.longest_job;
      all.longest_incomplete = seen.longest_incomplete;
    }
    all.jobs += seen.jobs;
    all.misses += seen.misses;
    all.incomplete += seen.incomplete;
    all.total_response += seen.total_response;
    if (seen.jobs + seen.incomplete > 0 && is_worse(task, seen.max_response)) {
      worst_ = {task, seen.longest_job, trial, seen.max_response, observation.events};
    }
  }
}

bool TrialSummary::is_worse(TaskIndex task, Duration response) const {
  if (!worst_) return true;
  const Task& mine = taskset_->tasks[task];
  const Task& other = taskset_->tasks[worst_->task];
  if (mine.best_effort != other.best_effort) return other.best_effort;
  return is_longer_for_deadline(response, mine.deadline, worst_->response, other.deadline);
}

std::int64_t TrialSummary::misses() const {
  std::int64_t sum = 0;
  for (const TaskTrials& task : tasks_) sum += task.misses;
  return sum;
}

}  // namespace rtgpu
