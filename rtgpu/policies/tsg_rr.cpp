#include "rtgpu/policies/tsg_rr.h"

#include <utility>

namespace rtgpu {

TsgRrPolicy::TsgRrPolicy(PolicySetup setup_of) : GpuPolicy(std::move(setup_of)), waiting_(task_count()) {}

void TsgRrPolicy::on_submit(TaskId task) {
  if (gpu().runs == kNobody) {
    run(task);
  } else {
    waiting_.push(task, arrivals_++);
  }
}

void TsgRrPolicy::on_boundary(TaskId task) {
  if (waiting_.empty()) return;
  waiting_.push(task, arrivals_++);
  run_next();
}

void TsgRrPolicy::on_cancel(TaskId task, Phase was) {
  if (was != Phase::submitted) return;
  if (gpu().runs == task) {
    run_next();
  } else {
    waiting_.remove(task);
  }
}

void TsgRrPolicy::on_reset() {
  arrivals_ = 0;
  last_context_ = kNobody;
}

void TsgRrPolicy::run(TaskId task) {
  const bool moves = last_context_ != kNobody && last_context_ != task;
  last_context_ = task;
  run_on_gpu(task, moves);
}

void TsgRrPolicy::run_next() {
  if (waiting_.empty()) {
    run_on_gpu(kNobody);
  } else {
    run(waiting_.pop());
  }
}

}  // namespace rtgpu
