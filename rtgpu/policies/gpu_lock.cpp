#include "rtgpu/policies/gpu_lock.h"

#include <utility>

namespace rtgpu {

GpuLockPolicy::GpuLockPolicy(PolicySetup setup_of)
    : GpuPolicy(std::move(setup_of)), waiting_(task_count()), keys_(task_count()) {}

TaskId GpuLockPolicy::boosted() const {
  return holder_ != kNobody && phase(holder_) != Phase::submitted ? holder_ : kNobody;
}

bool GpuLockPolicy::wants_boundary() const {
  return holder_ != kNobody && !waiting_.empty() && waiting_.front_key() < keys_[holder_];
}

void GpuLockPolicy::on_enter(TaskId task) {
  keys_[task] = key_of_request(task);
  if (holder_ == kNobody) {
    holder_ = task;
    grant(task);
  } else {
    waiting_.push(task, keys_[task]);
  }
}

void GpuLockPolicy::on_boundary(TaskId task) {
  if (!wants_boundary()) return;
  waiting_.push(task, keys_[task]);
  hand_over();
}

void GpuLockPolicy::on_cancel(TaskId task, Phase /*was*/) {
  if (task == holder_) {
    hand_over();
  } else {
    waiting_.remove(task);
  }
}

void GpuLockPolicy::append_state(std::vector<std::uint64_t>& state) const {
  state.push_back(holder_);
  if (holder_ != kNobody) state.push_back(waiting_.count_before(keys_[holder_]));
  waiting_.append_order(state);
}

// The next holder either asked to enter, or has the rest of its work with the GPU.
void GpuLockPolicy::hand_over() {
  holder_ = waiting_.empty() ? kNobody : waiting_.pop();
  const bool has_rest = holder_ != kNobody && phase(holder_) == Phase::submitted;
  run_on_gpu(has_rest ? holder_ : kNobody);
  if (holder_ != kNobody && !has_rest) grant(holder_);
}

}  // namespace rtgpu
