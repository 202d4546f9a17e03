// Drives a policy through every order of the events of a small system, and compares each step with the specification.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/policy.h"
#include "tests/rtgpu/policy_specification.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rtgpu::testing {

struct ExplorationLimits {
  int segments = 2;    // of each task
  int boundaries = 1;  // of each exec, where somebody waits for them
  int cancels = 1;     // of all tasks together; a cancelled task goes on with its next segment
  // Goes on from a state once for each order of events that leads there, not once in all: does not trust state().
  bool every_path = false;
};

struct ExplorationResult {
  std::size_t states = 0;  // different ones
  std::size_t steps = 0;
  std::size_t ends = 0;  // states in which every task has finished
  std::string failure;   // the first that was found, with the events that led to it; empty if there is none
};

ExplorationResult explore(Policy which, const std::vector<PolicyTask>& tasks, ExplorationLimits limits);

// Some overheads, and two stream levels.
PolicySetup setup_of(std::vector<PolicyTask> tasks);
PolicySpecification specification_of(Policy which, const PolicySetup& setup);

// How a policy differs from its specification after an event, in words; empty if it does not.
std::string difference(const GpuPolicy& policy, const Decision& decision, const GpuState& gpu_before,
                       const PolicySpecification& specification, const SpecifiedState& expected,
                       const PolicySpecification::Outcome& outcome);

}  // namespace rtgpu::testing
