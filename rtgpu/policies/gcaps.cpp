#include "rtgpu/policies/gcaps.h"

#include <utility>

namespace rtgpu {

GcapsPolicy::GcapsPolicy(PolicySetup setup_of, bool work_conserving)
    : GpuPolicy(std::move(setup_of)),
      work_conserving_(work_conserving),
      waiting_(task_count()),
      is_active_(task_count(), 0),
      by_rank_(task_count()) {
  for (TaskId task = 0; task < task_count(); ++task) by_rank_[rank(task)] = task;
}

Boundary GcapsPolicy::boundary_kind() const {
  return setup().time_slice > Duration() ? Boundary::time_slice : Boundary::none;
}

// Only best-effort work takes turns.
bool GcapsPolicy::wants_boundary() const {
  const TaskId running = gpu().runs;
  if (running == kNobody || !is_best_effort(running)) return false;
  for (TaskId task = 0; task < task_count(); ++task) {
    if (task != running && is_best_effort(task) && is_active(task) && has_work(task)) return true;
  }
  return false;
}

void GcapsPolicy::on_enter(TaskId task) {
  request_mutex(task);
}

void GcapsPolicy::on_entered(TaskId task) {
  is_active_[task] = 1;
  release_mutex();
  update_gpu();
}

void GcapsPolicy::on_submit(TaskId /*task*/) {
  update_gpu();
}

void GcapsPolicy::on_boundary(TaskId task) {
  if (!is_best_effort(task)) return;
  pass_turn(task);
  update_gpu();
}

void GcapsPolicy::on_complete(TaskId task) {
  if (is_best_effort(task)) pass_turn(task);
  update_gpu();
}

void GcapsPolicy::on_leave(TaskId task) {
  request_mutex(task);
}

void GcapsPolicy::on_left(TaskId task) {
  is_active_[task] = 0;
  release_mutex();
  update_gpu();
}

void GcapsPolicy::on_cancel(TaskId task, Phase was) {
  is_active_[task] = 0;
  if (was == Phase::enter_waiting || was == Phase::leave_waiting) waiting_.remove(task);
  if (holder_ == task) release_mutex();
  update_gpu();
}

void GcapsPolicy::append_state(std::vector<std::uint64_t>& state) const {
  state.insert(state.end(), {holder_, turn_});
  for (const char active : is_active_) state.push_back(static_cast<std::uint64_t>(active));
  waiting_.append_order(state);
}

void GcapsPolicy::request_mutex(TaskId task) {
  if (holder_ == kNobody) {
    holder_ = task;
    grant(task);
  } else {
    waiting_.push(task, rank(task));
  }
}

void GcapsPolicy::release_mutex() {
  holder_ = waiting_.empty() ? kNobody : waiting_.pop();
  if (holder_ != kNobody) grant(holder_);
}

void GcapsPolicy::pass_turn(TaskId task) {
  turn_ = by_rank_[(rank(task) + 1) % task_count()];
}

// What is active is looked up afresh at every change; there is no second copy of it that could go stale.
void GcapsPolicy::update_gpu() {
  const TaskId owner = real_time_owner();
  if (owner != kNobody) {
    run_on_gpu(has_work(owner) ? owner : kNobody);  // gcaps: a reserved GPU idles until its owner submits
    return;
  }
  const TaskId next = best_effort_owner();
  if (next != kNobody) turn_ = next;
  run_on_gpu(next);
}

TaskId GcapsPolicy::real_time_owner() const {
  for (const TaskId task : by_rank_) {
    if (is_best_effort(task)) return kNobody;
    if (is_active(task) && (!work_conserving_ || has_work(task))) return task;
  }
  return kNobody;
}

// Whoever has the turn, or the next in rank, cyclically, that has work.
TaskId GcapsPolicy::best_effort_owner() const {
  const std::size_t first = turn_ == kNobody ? 0 : rank(turn_);
  for (std::size_t step = 0; step < by_rank_.size(); ++step) {
    const TaskId task = by_rank_[(first + step) % by_rank_.size()];
    if (is_best_effort(task) && is_active(task) && has_work(task)) return task;
  }
  return kNobody;
}

}  // namespace rtgpu
