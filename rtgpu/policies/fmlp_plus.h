// fmlp+: one lock on the GPU, first come first served. The holder's request is always the earliest, so a slice boundary
// never takes the lock away, and the rank of its boost by the time of its request has nobody to compete with.
#pragma once

#include "rtgpu/policies/gpu_lock.h"

#include <cstdint>
#include <utility>

namespace rtgpu {

class FmlpPlusPolicy final : public GpuLockPolicy {
 public:
  explicit FmlpPlusPolicy(PolicySetup setup_of) : GpuLockPolicy(std::move(setup_of)) {}

 protected:
  std::uint64_t key_of_request(TaskId /*task*/) override { return requests_++; }
  void on_reset() override { requests_ = 0; }

 private:
  std::uint64_t requests_ = 0;
};

}  // namespace rtgpu
