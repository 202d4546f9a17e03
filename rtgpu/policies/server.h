// server: a GPU server task on one core, above all others there, that serves one request at a time.
//
// Enter hands a request to the server, which takes the requests that wait by rank. It takes one over (the enter call),
// runs its misc, submits its work, and at the end of that wakes the client (the leave call); then it takes the next.
// All of that but the work runs on the server's core, while the client waits on its own.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/rank_queue.h"

#include <cstdint>
#include <vector>

namespace rtgpu {

class ServerPolicy final : public GpuPolicy {
 public:
  explicit ServerPolicy(PolicySetup setup);

  TaskId served() const override;
  Duration enter_cost() const override { return setup().lock; }
  Duration leave_cost() const override { return setup().lock; }

 protected:
  void on_enter(TaskId task) override;
  void on_entered(TaskId /*task*/) override {}
  void on_submit(TaskId task) override { run_on_gpu(task); }
  void on_complete(TaskId /*task*/) override { run_on_gpu(kNobody); }
  void on_leave(TaskId task) override { grant(task); }
  void on_left(TaskId /*task*/) override { serve_next(); }
  void on_cancel(TaskId task, Phase was) override;
  void append_state(std::vector<std::uint64_t>& state) const override;

 private:
  void serve_next();

  TaskId client_ = kNobody;  // whose request is served
  RankQueue waiting_;
};

}  // namespace rtgpu
