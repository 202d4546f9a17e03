// What the policies that hold nobody back have in common: tsg-rr and stream-priority. Enter and leave do nothing;
// submitted work waits in a queue for the GPU.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/rank_queue.h"

#include <utility>

namespace rtgpu {

class UnarbitratedPolicy : public GpuPolicy {
 protected:
  explicit UnarbitratedPolicy(PolicySetup setup_of) : GpuPolicy(std::move(setup_of)), waiting_(task_count()) {}

  // Puts the next of the waiting work on the GPU, or nothing.
  virtual void run_next() = 0;

  void on_enter(TaskId task) final { grant(task); }
  void on_entered(TaskId /*task*/) final {}
  void on_complete(TaskId /*task*/) final { run_next(); }
  void on_leave(TaskId task) final { grant(task); }
  void on_left(TaskId /*task*/) final {}
  void on_cancel(TaskId task, Phase was) final {
    if (was != Phase::submitted) return;
    if (gpu().runs == task) {
      run_next();
    } else {
      waiting_.remove(task);
    }
  }

  RankQueue& waiting() { return waiting_; }
  const RankQueue& waiting() const { return waiting_; }

 private:
  RankQueue waiting_;
};

}  // namespace rtgpu
