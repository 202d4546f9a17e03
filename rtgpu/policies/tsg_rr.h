// tsg-rr: the default driver. Nobody is held back; contexts with submitted work are served in turn, up to a time slice
// each. A context that is alone runs on; a newcomer joins at the tail. Moving the GPU to another context than the last
// one costs a context switch.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/rank_queue.h"

#include <cstdint>

namespace rtgpu {

class TsgRrPolicy final : public GpuPolicy {
 public:
  explicit TsgRrPolicy(PolicySetup setup);

  Boundary boundary_kind() const override { return Boundary::time_slice; }
  bool wants_boundary() const override { return !waiting_.empty(); }

 protected:
  void on_enter(TaskId task) override { grant(task); }
  void on_entered(TaskId /*task*/) override {}
  void on_submit(TaskId task) override;
  void on_boundary(TaskId task) override;
  void on_complete(TaskId /*task*/) override { run_next(); }
  void on_leave(TaskId task) override { grant(task); }
  void on_left(TaskId /*task*/) override {}
  void on_cancel(TaskId task, Phase was) override;
  void on_reset() override;

 private:
  void run(TaskId task);
  void run_next();

  RankQueue waiting_;  // by arrival at the tail
  std::uint64_t arrivals_ = 0;
  TaskId last_context_ = kNobody;  // where the GPU is, also while it idles
};

}  // namespace rtgpu
