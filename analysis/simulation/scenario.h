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

// Draws that depend on what is drawn alone, not on the order of drawing: a counter-based generator (SplitMix64 of
// Steele et al., OOPSLA 2014, over a mixture of the keys).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}

  // One of 0 ... limit, for the draw that the keys name; limit >= 0.
  std::int64_t up_to(std::int64_t limit, std::uint64_t task, std::uint64_t job, std::uint64_t what) const;
  bool chance(int per_mille, std::uint64_t task, std::uint64_t job, std::uint64_t what) const;

 private:
  std::uint64_t bits(std::uint64_t task, std::uint64_t job, std::uint64_t what) const;
  std::uint64_t seed_;
};

}  // namespace rtgpu
