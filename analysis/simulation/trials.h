// Many runs of one taskset that differ in what the model leaves open, and what they showed.
#pragma once

#include "analysis/simulation/scenario.h"
#include "analysis/simulation/simulator.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rtgpu {

enum class Releases : std::uint8_t {
  periodic,  // one period after another
  sporadic,  // with gaps between them
};
enum class Execution : std::uint8_t {
  worst,   // every part takes its worst case
  random,  // parts are shortened: down to their best case or, where the taskset gives none at all, down to nothing
};

struct TrialChoices {
  Releases releases = Releases::periodic;
  Execution execution = Execution::worst;
  std::uint64_t seed = 0;  // of all trials
};

// The scenario of one trial, which depends on nothing but the arguments: a trial can be made again alone. In trial 0
// all tasks are released at once, with periodic releases and worst-case times the synchronous scenario. The others draw
// an offset below the period for each task, and the release jitter of their jobs where the task has any.
Scenario scenario_of_trial(const Taskset& taskset, const TrialChoices& choices, std::uint64_t trial);

// What all trials showed of one task.
struct TaskTrials {
  std::int64_t jobs = 0;    // completed
  std::int64_t misses = 0;  // jobs of a real-time task not complete by their deadline
  std::int64_t incomplete =
      0;                    // jobs that the end of their run cut off; they count as misses if they were late by then
  Duration total_response;  // of the completed jobs; infinite if beyond the range
  // The longest response, and the first job that had it. Of a job that was cut off, the time it had taken by then.
  Duration max_response;
  std::uint64_t trial = 0;
  std::int64_t job = 0;
  bool longest_incomplete = false;

  bool any_job() const { return jobs + incomplete > 0; }
};

// The job with the longest response for its deadline. Those of best-effort tasks, which have none, count only where
// there are no others; their period stands for it.
struct WorstJob {
  TaskIndex task = kNoTask;
  std::int64_t job = 0;
  std::uint64_t trial = 0;
  Duration response;
  std::int64_t events = 0;  // of the run
};

class TrialSummary {
 public:
  // The taskset outlives the object.
  explicit TrialSummary(const Taskset& taskset);

  void add(std::uint64_t trial, const Observation& observation);

  const std::vector<TaskTrials>& tasks() const { return tasks_; }  // in the order of the taskset
  // nullopt if there was no job.
  const std::optional<WorstJob>& worst() const { return worst_; }
  // Of all real-time tasks.
  std::int64_t misses() const;

 private:
  bool is_worse(TaskIndex task, Duration response) const;

  const Taskset* taskset_;
  std::vector<TaskTrials> tasks_;
  std::optional<WorstJob> worst_;
};

}  // namespace rtgpu
