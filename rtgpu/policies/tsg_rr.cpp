#include "rtgpu/policies/tsg_rr.h"

#include <utility>

namespace rtgpu {

TsgRrPolicy::TsgRrPolicy(PolicySetup setup_of) : UnarbitratedPolicy(std::move(setup_of)) {}

void TsgRrPolicy::on_submit(TaskId task) {
  if (gpu().runs == kNobody) {
    run(task);
  } else {
    waiting().push(task, arrivals_++);
  }
}

void TsgRrPolicy::on_boundary(TaskId task) {
  if (waiting().empty()) return;
  waiting().push(task, arrivals_++);
  run_next();
}

void TsgRrPolicy::on_reset() {
  arrivals_ = 0;
  last_context_ = kNobody;
}

void TsgRrPolicy::append_state(std::vector<std::uint64_t>& state) const {
  state.push_back(last_context_);
  waiting().append_order(state);
}

void TsgRrPolicy::run(TaskId task) {
  const bool moves = last_context_ != kNobody && last_context_ != task;
  last_context_ = task;
  run_on_gpu(task, moves);
}

void TsgRrPolicy::run_next() {
  if (waiting().empty()) {
    run_on_gpu(kNobody);
  } else {
    run(waiting().pop());
  }
}

}  // namespace rtgpu
