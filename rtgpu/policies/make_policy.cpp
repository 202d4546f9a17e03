#include "rtgpu/gpu_policy.h"
#include "rtgpu/policies/federated.h"
#include "rtgpu/policies/fmlp_plus.h"
#include "rtgpu/policies/gcaps.h"
#include "rtgpu/policies/mpcp.h"
#include "rtgpu/policies/server.h"
#include "rtgpu/policies/stream_priority.h"
#include "rtgpu/policies/tsg_rr.h"

#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Error needs(std::string_view pointer, std::string_view expected, std::string_view advice) {
  return Error{ErrorCode::unsupported, Place{{}, std::string(pointer), 0, 0}, "none", std::string(expected),
               std::string(advice)};
}

}  // namespace

Result<std::unique_ptr<GpuPolicy>> make_policy(Policy policy, PolicySetup setup) {
  using Made = std::unique_ptr<GpuPolicy>;
  switch (policy) {
    case Policy::gcaps:
      return Made(std::make_unique<GcapsPolicy>(std::move(setup), false));
    case Policy::gcaps_wc:
      return Made(std::make_unique<GcapsPolicy>(std::move(setup), true));
    case Policy::tsg_rr:
      if (setup.time_slice <= Duration()) {
        return needs("/platform/gpus/0/overheads/time_slice", "a time above 0",
                     "Give the length of a time slice: tsg-rr serves the GPU in slices.");
      }
      return Made(std::make_unique<TsgRrPolicy>(std::move(setup)));
    case Policy::mpcp:
      return Made(std::make_unique<MpcpPolicy>(std::move(setup)));
    case Policy::fmlp_plus:
      return Made(std::make_unique<FmlpPlusPolicy>(std::move(setup)));
    case Policy::stream_priority:
      if (setup.stream_levels <= 0) {
        return needs("/platform/gpus/0/stream_priorities", "a number of stream levels above 0",
                     "Give the number of stream priorities that the device has.");
      }
      return Made(std::make_unique<StreamPriorityPolicy>(std::move(setup)));
    case Policy::federated:
      return Made(std::make_unique<FederatedPolicy>(std::move(setup)));
    case Policy::server:
      return Made(std::make_unique<ServerPolicy>(std::move(setup)));
  }
  return Error{ErrorCode::unsupported,
               {},
               fmt::format("policy {}", to_string(policy)),
               "a policy with a state machine",
               fmt::format("{} is not there yet.", to_string(policy))};
}

}  // namespace rtgpu
