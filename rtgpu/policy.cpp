#include "rtgpu/policy.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace rtgpu {
namespace {

constexpr std::array kPolicies = {Policy::gcaps,     Policy::gcaps_wc,        Policy::tsg_rr,    Policy::mpcp,
                                  Policy::fmlp_plus, Policy::stream_priority, Policy::federated, Policy::server};

}  // namespace

std::span<const Policy> all_policies() {
  return kPolicies;
}

std::string_view to_string(Policy policy) {
  switch (policy) {
    case Policy::gcaps:
      return "gcaps";
    case Policy::gcaps_wc:
      return "gcaps-wc";
    case Policy::tsg_rr:
      return "tsg-rr";
    case Policy::mpcp:
      return "mpcp";
    case Policy::fmlp_plus:
      return "fmlp+";
    case Policy::stream_priority:
      return "stream-priority";
    case Policy::federated:
      return "federated";
    case Policy::server:
      return "server";
  }
  return "?";
}

std::optional<Policy> parse_policy(std::string_view name) {
  const auto* found = std::ranges::find_if(kPolicies, [&](Policy policy) { return to_string(policy) == name; });
  if (found == kPolicies.end()) return std::nullopt;
  return *found;
}

}  // namespace rtgpu
