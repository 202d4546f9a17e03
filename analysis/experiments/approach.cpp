#include "analysis/experiments/approach.h"

#include <algorithm>

#include <fmt/format.h>

namespace rtgpu {

std::string_view to_string(WaitChoice wait) {
  switch (wait) {
    case WaitChoice::file:
      return "file";
    case WaitChoice::suspend:
      return "suspend";
    case WaitChoice::busy:
      return "busy";
  }
  return "?";
}

std::string policy_label(const Approach& approach) {
  std::string label(to_string(approach.policy));
  if (approach.gpu_priorities == GpuPriorities::search) label += "+search";
  return label;
}

std::string to_string(const Approach& approach) {
  return fmt::format("{} {} {}", policy_label(approach), to_string(approach.wait), to_string(approach.variant));
}

bool can_search_gpu_priorities(Policy policy, Variant variant) {
  return std::ranges::any_of(analyses(), [&](const AnalysisEntry& entry) {
    return entry.policy == policy && entry.variant == variant && entry.gpu_priority_search;
  });
}

AnalysisOptions analysis_options(const Approach& approach) {
  AnalysisOptions options;
  options.policy = approach.policy;
  options.variant = approach.variant;
  options.wait = approach.wait;
  options.jitter = approach.jitter;
  options.gpu_priorities = approach.gpu_priorities;
  return options;
}

Verdict verdict_of(Judge& judge, const Approach& approach) {
  const Result<bool> schedulable = judge.is_schedulable(analysis_options(approach));
  if (!schedulable) return Verdict::not_covered;
  return *schedulable ? Verdict::schedulable : Verdict::not_schedulable;
}

}  // namespace rtgpu
