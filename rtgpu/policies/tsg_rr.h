// tsg-rr: the default driver. Nobody is held back; contexts with submitted work are served in turn, up to a time slice
// each. A context that is alone runs on; a newcomer joins at the tail. Moving the GPU to another context than the last
// one costs a context switch.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/policies/unarbitrated.h"

#include <cstdint>
#include <vector>

namespace rtgpu {

class TsgRrPolicy final : public UnarbitratedPolicy {
 public:
  explicit TsgRrPolicy(PolicySetup setup);

  Boundary boundary_kind() const override { return Boundary::time_slice; }
  bool wants_boundary() const override { return !waiting().empty(); }

 protected:
  void on_submit(TaskId task) override;
  void on_boundary(TaskId task) override;
  void run_next() override;
  void on_reset() override;
  void append_state(std::vector<std::uint64_t>& state) const override;

 private:
  void run(TaskId task);

  std::uint64_t arrivals_ = 0;
  TaskId last_context_ = kNobody;  // where the GPU is, also while it idles
};

}  // namespace rtgpu
