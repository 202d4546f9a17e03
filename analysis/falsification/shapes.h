// Schedules to try. Internal to analysis/falsification.
#pragma once

#include "analysis/falsification/attack.h"
#include "analysis/simulation/scenario.h"
#include "taskset/generators/random.h"
#include "taskset/taskset.h"

#include <span>
#include <vector>

namespace rtgpu {

// Draws schedules for one taskset.
class Shapes {
 public:
  Shapes(const Taskset& taskset, std::span<const Claim> claims, bool below_best_case);

  // Offsets, gaps, release jitter and shortened parts at random.
  Scenario random(Random& random) const;
  // The work of others meets a job of one of the claims.
  Scenario predicted(Random& random) const;
  // A few changes to a schedule.
  Scenario changed(const Scenario& scenario, Random& random) const;

 private:
  // Times of a task when nobody delays it, from its release.
  struct Outline {
    std::vector<Duration> requests;  // of its device work
    Duration bound;                  // the claim; the demand where there is none
    Duration demand;
  };

  Duration offset_before(TaskIndex task, Duration moment) const;
  void align(Scenario& scenario, TaskIndex task, TaskIndex with, Random& random) const;
  Duration moment_of(TaskIndex task, Random& random) const;
  void change_task(Scenario& scenario, TaskIndex task, Random& random) const;

  const Taskset& taskset_;
  std::span<const Claim> claims_;
  std::vector<Outline> outlines_;
  Duration anchor_;  // later than one period of every task
  bool below_best_case_;
};

}  // namespace rtgpu
