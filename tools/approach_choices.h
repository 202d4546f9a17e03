// Approaches as options name them: the policies, ways to wait, variants and GPU priorities to combine.
#pragma once

#include "analysis/experiments/approach.h"
#include "rtgpu/error.h"

#include <optional>
#include <string>
#include <vector>

namespace rtgpu {

// The options as they are on the command line; what is empty was not given.
struct ApproachArguments {
  std::vector<std::string> policies;
  std::vector<std::string> waits;
  std::vector<std::string> variants;
  std::vector<std::string> gpu_priorities;
  std::string jitter;
};

// What is combined: every policy with every wait, variant and choice of GPU priorities for which there is an analysis.
struct ApproachChoices {
  std::vector<Policy> policies;
  bool all_policies =
      false;  // every one that has an analysis of one of the variants, and the policies are of no matter
  std::vector<WaitChoice> waits;
  std::vector<Variant> variants;
  std::vector<GpuPriorities> gpu_priorities;
  JitterSource jitter = JitterSource::response;
};

// All that occur in the approaches, in the order in which they do.
ApproachChoices choices_of(const std::vector<Approach>& approaches);

// Replaces what is given. Adds errors for words that are none.
void choose_approaches(ApproachChoices& choices, const ApproachArguments& arguments, Errors& errors);

// The combinations, by policy, then GPU priorities, then wait, then variant. Where there is no search for GPU
// priorities or no analysis of one of several variants, a note says so; an error if nothing is left of a policy that is
// named, or a search is asked for and none of the policies has one.
std::vector<Approach> combine(const ApproachChoices& choices, std::vector<std::string>& notes, Errors& errors);

}  // namespace rtgpu
