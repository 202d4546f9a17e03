// stream-priority: CUDA streams of one process. Nobody is held back; submitted work is served by stream level, first
// come first served within a level. Work of a higher level gets in when the current thread block of the running work
// ends.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/rank_queue.h"

#include <cstdint>
#include <span>
#include <vector>

namespace rtgpu {

// The level of each task on a device with `levels` levels; 0 is the highest. GPU-using real-time tasks keep their
// order; where they are more than the levels, neighbours share one, as evenly as it goes. Best-effort tasks have the
// lowest level, and that to themselves if there are two levels or more. Tasks that do not use the GPU get 0. Larger
// than 0 `levels`.
std::vector<int> stream_levels(std::span<const PolicyTask> tasks, int levels);

class StreamPriorityPolicy final : public GpuPolicy {
 public:
  explicit StreamPriorityPolicy(PolicySetup setup);

  Boundary boundary_kind() const override { return Boundary::block; }
  bool wants_boundary() const override;
  int level(TaskId task) const override { return levels_[task]; }

 protected:
  void on_enter(TaskId task) override { grant(task); }
  void on_entered(TaskId /*task*/) override {}
  void on_submit(TaskId task) override;
  void on_boundary(TaskId task) override;
  void on_complete(TaskId /*task*/) override { run_next(); }
  void on_leave(TaskId task) override { grant(task); }
  void on_left(TaskId /*task*/) override {}
  void on_cancel(TaskId task, Phase was) override;
  void on_reset() override { submissions_ = 0; }

 private:
  void run_next();

  std::vector<int> levels_;
  RankQueue waiting_;                // by level, then submission
  std::vector<std::uint64_t> keys_;  // by task: of its submitted work
  std::uint64_t submissions_ = 0;
};

}  // namespace rtgpu
