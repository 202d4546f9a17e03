// What a taskset is judged under in an experiment: a policy, how tasks wait, and which analysis decides.
#pragma once

#include "analysis/analysis.h"
#include "analysis/judge.h"
#include "rtgpu/policy.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace rtgpu {

struct Approach {
  Policy policy = Policy::gcaps;
  WaitChoice wait = WaitChoice::suspend;
  Variant variant = Variant::safe;
  GpuPriorities gpu_priorities = GpuPriorities::file;
  JitterSource jitter = JitterSource::response;
  friend bool operator==(const Approach&, const Approach&) = default;
};

std::string_view to_string(WaitChoice wait);  // "file", "suspend", "busy"

// The name of the policy; with a search for GPU priorities "gcaps+search", so that both have a row of their own.
std::string policy_label(const Approach& approach);

// "gcaps+search suspend published".
std::string to_string(const Approach& approach);

// Whether GPU priorities can be searched under the analysis of that policy and variant.
bool can_search_gpu_priorities(Policy policy, Variant variant);

AnalysisOptions analysis_options(const Approach& approach);

enum class Verdict : std::uint8_t {
  schedulable,
  not_schedulable,  // or undecided: a limit of the analysis was reached
  not_covered,      // the analysis does not cover the taskset
};

// On the taskset that the judge has taken: the one place where an experiment asks an analysis. See Judge for its limits
// and what it throws. The analysis exists (see availability_error()).
Verdict verdict_of(Judge& judge, const Approach& approach);

}  // namespace rtgpu
