// federated: every task has SMs of its own. Nobody is held back, and all submitted work runs at once, each on the SMs
// of its task.
#pragma once

#include "rtgpu/gpu_policy.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace rtgpu {

class FederatedPolicy final : public GpuPolicy {
 public:
  explicit FederatedPolicy(PolicySetup setup_of) : GpuPolicy(std::move(setup_of)) {}

  bool runs_all_submitted() const override { return true; }

 protected:
  void on_enter(TaskId task) override { grant(task); }
  void on_entered(TaskId /*task*/) override {}
  void on_submit(TaskId /*task*/) override {}
  void on_complete(TaskId /*task*/) override {}
  void on_leave(TaskId task) override { grant(task); }
  void on_left(TaskId /*task*/) override {}
  void on_cancel(TaskId /*task*/, Phase /*was*/) override {}
  void append_state(std::vector<std::uint64_t>& /*state*/) const override {}
};

}  // namespace rtgpu
