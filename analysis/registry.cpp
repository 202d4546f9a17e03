#include "analysis/registry.h"

#include "analysis/rta/federated_published.h"
#include "analysis/rta/federated_safe.h"
#include "analysis/rta/fmlp_plus_published.h"
#include "analysis/rta/fmlp_plus_safe.h"
#include "analysis/rta/gcaps_published.h"
#include "analysis/rta/gcaps_safe.h"
#include "analysis/rta/mpcp_published.h"
#include "analysis/rta/mpcp_safe.h"
#include "analysis/rta/server_published.h"
#include "analysis/rta/server_safe.h"
#include "analysis/rta/stream_priority_safe.h"
#include "analysis/rta/tsg_rr_published.h"
#include "analysis/rta/tsg_rr_safe.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr RegisteredAnalysis published(Policy policy, BuildRecurrence build, std::string_view source, bool search,
                                       Needs needs) {
  return {{policy, Variant::published, source, search}, build, nullptr, needs, nullptr};
}

constexpr RegisteredAnalysis safe(Policy policy, BuildWindowed build, std::string_view source, bool search,
                                  Needs needs) {
  return {{policy, Variant::safe, source, search}, nullptr, build, needs, nullptr};
}

constexpr RegisteredAnalysis published_as_a_whole(Policy policy, BoundTaskset bound, std::string_view source,
                                                  Needs needs) {
  return {{policy, Variant::published, source, false}, nullptr, nullptr, needs, bound};
}

// One line an analysis.
constexpr std::array kAnalyses = {
    safe(Policy::gcaps, &build_gcaps_safe, "analysis/rta/gcaps_safe.h", true, Needs::nothing),
    published(Policy::gcaps, &build_gcaps_published, "GCAPS (ECRTS 2024), section 6.3; search: section 5.3", true,
              Needs::nothing),
    safe(Policy::gcaps_wc, &build_gcaps_wc_safe, "analysis/rta/gcaps_safe.h", true, Needs::nothing),
    safe(Policy::tsg_rr, &build_tsg_rr_safe, "analysis/rta/tsg_rr_safe.h", false, Needs::time_slice),
    published(Policy::tsg_rr, &build_tsg_rr_published, "GCAPS (ECRTS 2024), section 6.2", false, Needs::time_slice),
    safe(Policy::mpcp, &build_mpcp_safe, "analysis/rta/mpcp_safe.h", true, Needs::nothing),
    published(Policy::mpcp, &build_mpcp_published, "MPCP with self-suspensions (RTAS 2018), hybrid bound", false,
              Needs::nothing),
    safe(Policy::fmlp_plus, &build_fmlp_plus_safe, "analysis/rta/fmlp_plus_safe.h", false, Needs::nothing),
    published(Policy::fmlp_plus, &build_fmlp_plus_published, "FMLP+ (ECRTS 2014), partitioned, suspension-aware", false,
              Needs::nothing),
    safe(Policy::stream_priority, &build_stream_priority_safe, "analysis/rta/stream_priority_safe.h", true,
         Needs::stream_priorities),
    safe(Policy::federated, &build_federated_safe, "analysis/rta/federated_safe.h", false, Needs::sm_partition),
    published_as_a_whole(Policy::federated, &bound_federated_published, "RTGPU (TPDS 2023)", Needs::sm_partition),
    safe(Policy::server, &build_server_safe, "analysis/rta/server_safe.h", true, Needs::nothing),
    published(Policy::server, &build_server_published, "GPU server (RTCSA 2017), request-driven bound", false,
              Needs::nothing),
};

constexpr auto kEntries = [] {
  std::array<AnalysisEntry, kAnalyses.size()> entries{};
  std::ranges::transform(kAnalyses, entries.begin(), &RegisteredAnalysis::entry);
  return entries;
}();

std::string policies_of(Variant variant) {
  std::vector<std::string_view> names;
  for (const AnalysisEntry& entry : kEntries) {
    if (entry.variant == variant) names.push_back(to_string(entry.policy));
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
  error.expected = fmt::format("a policy with a {} analysis: {}", to_string(variant), policies_of(variant));
  const Variant other = variant == Variant::safe ? Variant::published : Variant::safe;
  error.advice = find_analysis(policy, other) == nullptr
                     ? fmt::format("{} is not there yet.", to_string(policy))
                     : fmt::format("There is a {} analysis of {}.", to_string(other), to_string(policy));
  return error;
}

}  // namespace rtgpu
