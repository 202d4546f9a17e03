#include "rtgpu/policies/server.h"

#include <utility>

namespace rtgpu {

ServerPolicy::ServerPolicy(PolicySetup setup_of) : GpuPolicy(std::move(setup_of)), waiting_(task_count()) {}

TaskId ServerPolicy::served() const {
  return client_ != kNobody && phase(client_) != Phase::submitted ? client_ : kNobody;
}

void ServerPolicy::on_enter(TaskId task) {
  if (client_ == kNobody) {
    client_ = task;
    grant(task);
  } else {
    waiting_.push(task, rank(task));
  }
}

void ServerPolicy::on_cancel(TaskId task, Phase /*was*/) {
  if (task == client_) {
    serve_next();
  } else {
    waiting_.remove(task);
  }
}

void ServerPolicy::append_state(std::vector<std::uint64_t>& state) const {
  state.push_back(client_);
  waiting_.append_order(state);
}

void ServerPolicy::serve_next() {
  client_ = waiting_.empty() ? kNobody : waiting_.pop();
  run_on_gpu(kNobody);
  if (client_ != kNobody) grant(client_);
}

}  // namespace rtgpu
