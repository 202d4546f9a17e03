// What the model leaves open about a run: when jobs are released and how long each part of them takes.
#pragma once

#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

// The choices for one task. Chances are per mille.
struct TaskScenario {
  Duration offset;         // of the first nominal release
  int gap_chance = 0;      // that a release comes later than one period after the last
  Duration longest_gap;    // by up to this much
  int jitter_chance = 0;   // that a job is released later than nominally, by up to the task's release jitter
  int shorten_chance = 0;  // that a part of a job takes less than its worst case
  friend bool operator==(const TaskScenario&, const TaskScenario&) = default;
};

// A run in full: with the same taskset, policy and horizon it gives the same schedule, on every machine.
struct Scenario {
  std::uint64_t seed = 0;
  bool below_best_case = false;  // shortened parts go down to 0 instead of their best case
  std::vector<TaskScenario> tasks;
  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// Every task released at once, then periodically, with worst-case execution times.
Scenario synchronous_scenario(std::size_t tasks);

// Parts of a job whose lengths are drawn on their own.
enum class JobPart : std::uint8_t { cpu, enter, misc, exec, leave };

// What a scenario says of each job. A draw depends on what is drawn alone, not on the order of drawing: a counter-based
// generator (SplitMix64 of Steele et al., OOPSLA 2014, over a mixture of the keys). Refers to the scenario.
class ScenarioDraws {
 public:
  explicit ScenarioDraws(const Scenario& scenario) : scenario_(&scenario) {}

  // By how much more than a period after the one before a job of a task is nominally released.
  Duration gap(std::size_t task, std::int64_t job) const;
  // How long after its nominal release it is released, at most `longest`.
  Duration jitter(std::size_t task, std::int64_t job, Duration longest) const;
  // How long a part of a job takes: its worst case, or less where the scenario shortens it.
  Duration part(std::size_t task, std::int64_t job, std::size_t segment, JobPart part, Duration min,
                Duration max) const;

 private:
  std::int64_t up_to(std::int64_t limit, std::uint64_t task, std::uint64_t job, std::uint64_t what) const;
  bool chance(int per_mille, std::uint64_t task, std::uint64_t job, std::uint64_t what) const;

  const Scenario* scenario_;
};

}  // namespace rtgpu
