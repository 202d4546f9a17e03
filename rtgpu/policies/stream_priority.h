// stream-priority: CUDA streams of one process. Nobody is held back; submitted work is served by stream level, first
// come first served within a level. Work of a higher level gets in when the current thread block of the running work
// ends.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/policies/unarbitrated.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rtgpu {

// The level of each task on a device with `levels` levels; 0 is the highest. GPU-using real-time tasks keep their
// order; where they are more than the levels, neighbours share one, as evenly as it goes. Best-effort tasks have the
// lowest level, and that to themselves if there are two levels or more. Tasks that do not use the GPU get 0. `levels`
// is above 0.
std::vector<int> stream_levels(std::span<const PolicyTask> tasks, int levels);

class StreamPriorityPolicy final : public UnarbitratedPolicy {
 public:
  explicit StreamPriorityPolicy(PolicySetup setup);

  Boundary boundary_kind() const override { return Boundary::block; }
  bool wants_boundary() const override;
  int level(TaskId task) const override { return levels_[task]; }

 protected:
  void on_submit(TaskId task) override;
  void on_boundary(TaskId task) override;
  void run_next() override;
  bool lets_hardware_choose() const override { return true; }
  void on_overtaken(TaskId task) override { waiting().remove(task); }
  void on_reset() override { submissions_ = 0; }
  void append_state(std::vector<std::uint64_t>& state) const override;

 private:
  std::vector<int> levels_;
  std::vector<std::uint64_t> keys_;  // by task: of its submitted work
  std::uint64_t submissions_ = 0;
};

}  // namespace rtgpu
