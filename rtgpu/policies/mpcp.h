// mpcp: one lock on the GPU whose waiters queue by GPU priority, best-effort ones last.
#pragma once

#include "rtgpu/policies/gpu_lock.h"

#include <cstdint>
#include <utility>

namespace rtgpu {

class MpcpPolicy final : public GpuLockPolicy {
 public:
  explicit MpcpPolicy(PolicySetup setup_of) : GpuLockPolicy(std::move(setup_of)) {}

 protected:
  std::uint64_t key_of_request(TaskId task) override { return rank(task); }
};

}  // namespace rtgpu
