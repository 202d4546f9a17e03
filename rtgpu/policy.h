// The GPU access policies by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace rtgpu {

// How the GPU is shared among tasks.
enum class Policy : std::uint8_t {
  gcaps,            // context-level preemption through runlist updates (ECRTS 2024)
  gcaps_wc,         // the same, work-conserving
  tsg_rr,           // the default driver: time-sliced round-robin of contexts
  mpcp,             // one lock on the GPU, priority-ordered
  fmlp_plus,        // one lock on the GPU, first come first served
  stream_priority,  // CUDA stream priorities of one process
  federated,        // SMs partitioned among tasks
  server,           // a GPU server task
};

// Every policy, in the order of the enumeration.
std::span<const Policy> all_policies();

// The name on command lines and in results: "gcaps", "gcaps-wc", "tsg-rr", "mpcp", "fmlp+", "stream-priority",
// "federated", "server".
std::string_view to_string(Policy policy);

std::optional<Policy> parse_policy(std::string_view name);

}  // namespace rtgpu
