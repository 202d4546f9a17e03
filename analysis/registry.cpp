#include "analysis/registry.h"

#include "analysis/rta/gcaps_published.h"
#include "analysis/rta/tsg_rr_published.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// One line an analysis.
constexpr std::array kAnalyses = {
    RegisteredAnalysis{
        {Policy::gcaps, Variant::published, "GCAPS (ECRTS 2024), section 6.3; search: section 5.3", true},
        &build_gcaps_published,
        false},
    RegisteredAnalysis{
        {Policy::tsg_rr, Variant::published, "GCAPS (ECRTS 2024), section 6.2", false}, &build_tsg_rr_published, true},
};

constexpr auto kEntries = [] {
  std::array<AnalysisEntry, kAnalyses.size()> entries{};
  std::ranges::transform(kAnalyses, entries.begin(), &RegisteredAnalysis::entry);
  return entries;
}();

std::string available_as_text() {
  std::vector<std::string> names;
  for (const AnalysisEntry& entry : kEntries) {
    names.push_back(fmt::format("{} ({})", to_string(entry.policy), to_string(entry.variant)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::span<const AnalysisEntry> analyses() {
  return kEntries;
}

const RegisteredAnalysis* find_analysis(Policy policy, Variant variant) {
  const auto* found = std::ranges::find_if(kAnalyses, [&](const RegisteredAnalysis& analysis) {
    return analysis.entry.policy == policy && analysis.entry.variant == variant;
  });
  return found == kAnalyses.end() ? nullptr : found;
}

std::optional<Error> availability_error(Policy policy, Variant variant) {
  if (find_analysis(policy, variant) != nullptr) return std::nullopt;
  Error error;
  error.code = ErrorCode::unsupported;
  error.found = fmt::format("policy {}, variant {}", to_string(policy), to_string(variant));
  error.expected = fmt::format("one of the analyses that exist: {}", available_as_text());
  error.advice = fmt::format("The {} analysis of {} is not there yet.", to_string(variant), to_string(policy));
  return error;
}

}  // namespace rtgpu
