// What the policies with one lock on the GPU have in common: mpcp and fmlp+.
//
// Enter acquires the lock, leave releases it. The holder is boosted but while its work is with the GPU. At a boundary
// (the end of a slice) a waiter that goes before the holder gets the lock; the rest of the holder's work waits like a
// request.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/rank_queue.h"

#include <cstdint>
#include <vector>

namespace rtgpu {

class GpuLockPolicy : public GpuPolicy {
 public:
  TaskId boosted() const override;
  Boundary boundary_kind() const override { return Boundary::slice; }
  bool wants_boundary() const override;
  Duration enter_cost() const override { return setup().lock; }

 protected:
  explicit GpuLockPolicy(PolicySetup setup);

  // The place of a request made now among those that wait; smaller is served first.
  virtual std::uint64_t key_of_request(TaskId task) = 0;

  void on_enter(TaskId task) override;
  void on_entered(TaskId /*task*/) override {}
  void on_submit(TaskId task) override { run_on_gpu(task); }
  void on_boundary(TaskId task) override;
  void on_complete(TaskId /*task*/) override { run_on_gpu(kNobody); }
  void on_leave(TaskId task) override { grant(task); }
  void on_left(TaskId /*task*/) override { hand_over(); }
  void on_cancel(TaskId task, Phase was) override;
  void append_state(std::vector<std::uint64_t>& state) const override;

 private:
  void hand_over();

  TaskId holder_ = kNobody;
  RankQueue waiting_;
  std::vector<std::uint64_t> keys_;  // by task: of its current request
};

}  // namespace rtgpu
