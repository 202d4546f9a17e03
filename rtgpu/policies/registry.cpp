// Every policy by name, with its state machine: one line each.
#include "rtgpu/gpu_policy.h"
#include "rtgpu/policies/federated.h"
#include "rtgpu/policies/fmlp_plus.h"
#include "rtgpu/policies/gcaps.h"
#include "rtgpu/policies/mpcp.h"
#include "rtgpu/policies/server.h"
#include "rtgpu/policies/stream_priority.h"
#include "rtgpu/policies/tsg_rr.h"
#include "rtgpu/policy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace rtgpu {
namespace {

using MadePolicy = Result<std::unique_ptr<GpuPolicy>>;

Error setup_needs(std::string_view pointer, std::string_view expected, std::string_view advice) {
  return Error{ErrorCode::unsupported, Place{{}, std::string(pointer), 0, 0}, "none", std::string(expected),
               std::string(advice)};
}

template <class Made, auto... kArguments>
MadePolicy make(PolicySetup setup) {
  return std::unique_ptr<GpuPolicy>(std::make_unique<Made>(std::move(setup), kArguments...));
}

MadePolicy make_tsg_rr(PolicySetup setup) {
  if (setup.time_slice <= Duration()) {
    return setup_needs("/platform/gpus/0/overheads/time_slice", "a time above 0",
                       "Give the length of a time slice: tsg-rr serves the GPU in slices.");
  }
  return make<TsgRrPolicy>(std::move(setup));
}

MadePolicy make_stream_priority(PolicySetup setup) {
  if (setup.stream_levels <= 0) {
    return setup_needs("/platform/gpus/0/stream_priorities", "a number of stream levels above 0",
                       "Give the number of stream priorities that the device has.");
  }
  return make<StreamPriorityPolicy>(std::move(setup));
}

struct RegisteredPolicy {
  Policy policy;
  std::string_view name;
  MadePolicy (*make)(PolicySetup setup);
};

// In the order of the enumeration.
constexpr std::array kRegistered = {
    RegisteredPolicy{Policy::gcaps, "gcaps", &make<GcapsPolicy, false>},
    RegisteredPolicy{Policy::gcaps_wc, "gcaps-wc", &make<GcapsPolicy, true>},
    RegisteredPolicy{Policy::tsg_rr, "tsg-rr", &make_tsg_rr},
    RegisteredPolicy{Policy::mpcp, "mpcp", &make<MpcpPolicy>},
    RegisteredPolicy{Policy::fmlp_plus, "fmlp+", &make<FmlpPlusPolicy>},
    RegisteredPolicy{Policy::stream_priority, "stream-priority", &make_stream_priority},
    RegisteredPolicy{Policy::federated, "federated", &make<FederatedPolicy>},
    RegisteredPolicy{Policy::server, "server", &make<ServerPolicy>},
};

constexpr auto kPolicies = [] {
  std::array<Policy, kRegistered.size()> policies{};
  std::ranges::transform(kRegistered, policies.begin(), &RegisteredPolicy::policy);
  return policies;
}();

constexpr bool is_in_order() {
  for (std::size_t place = 0; place < kRegistered.size(); ++place) {
    if (kRegistered[place].policy != static_cast<Policy>(place)) return false;
  }
  return true;
}
static_assert(is_in_order());

const RegisteredPolicy& registered(Policy policy) {
  return kRegistered[static_cast<std::size_t>(policy)];
}

}  // namespace

std::span<const Policy> all_policies() {
  return kPolicies;
}

std::string_view to_string(Policy policy) {
  return registered(policy).name;
}

std::optional<Policy> parse_policy(std::string_view name) {
  const auto* found = std::ranges::find(kRegistered, name, &RegisteredPolicy::name);
  if (found == kRegistered.end()) return std::nullopt;
  return found->policy;
}

Result<std::unique_ptr<GpuPolicy>> make_policy(Policy policy, PolicySetup setup) {
  return registered(policy).make(std::move(setup));
}

}  // namespace rtgpu
