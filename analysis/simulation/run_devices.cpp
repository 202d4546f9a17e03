// The GPU and the copy engines of a simulated run.
#include "analysis/simulation/run.h"

#include <algorithm>

namespace rtgpu {

void Simulator::Run::apply(const Decision& decision) {
  if (decision.granted != kNobody) {
    const bool enters = jobs_[decision.granted].state == JobState::enter_waiting;
    call(decision.granted, enters ? JobState::entering : JobState::leaving,
         enters ? policy_->enter_cost().count() : policy_->leave_cost().count());
  }
  if (decision.gpu_changed) follow_gpu();
}

void Simulator::Run::follow_gpu() {
  const GpuState& gpu = policy_->gpu();
  on_gpu_ = gpu.runs == kNobody ? kNone : gpu.runs;
  switch_left_ = gpu.switches ? policy_->context_switch().count() : 0;
  turn_done_ = 0;
  ++turns_;
  boundary_at_ = kNever;  // that of the work before may fall on the end of the switch
}

void Simulator::Run::submit_exec(std::uint32_t task) {
  SimJob& job = jobs_[task];
  const SimSegment& segment = tasks_[task].segments[job.segment];
  const Nanoseconds exec = draw(task, segment.on_device, JobPart::exec);
  job.state = JobState::gpu;
  job.device_left = exec + (segment.slices - 1) * segment.launch;
  job.device_done = 0;
  job.slice_length = segment.slices > 1 ? (exec + segment.slices - 1) / segment.slices + segment.launch : 0;
  job.submission = ++submissions_;
  apply(policy_->submit(task));
}

Nanoseconds Simulator::Run::next_on_partitions() const {
  Nanoseconds left = kNever;
  for (const SimJob& job : jobs_) {
    if (job.state == JobState::gpu) left = std::min(left, job.device_left);
  }
  return left == kNever ? kNever : now_ + left;
}

Nanoseconds Simulator::Run::next_on_gpu() {
  if (has_partitions_) return next_on_partitions();
  if (on_gpu_ == kNone) return kNever;
  if (switch_left_ > 0) return now_ + switch_left_;
  const Nanoseconds boundary = to_boundary(on_gpu_);
  boundary_at_ = boundary == kNever ? kNever : now_ + boundary;
  return std::min(now_ + jobs_[on_gpu_].device_left, boundary_at_);
}

// How long the running work runs on until a boundary that somebody waits for.
Nanoseconds Simulator::Run::to_boundary(std::uint32_t task) const {
  if (boundary_kind_ == Boundary::none || !policy_->wants_boundary()) return kNever;
  const SimJob& job = jobs_[task];
  const Nanoseconds block = tasks_[task].segments[job.segment].block;
  switch (boundary_kind_) {
    case Boundary::none:
      break;
    case Boundary::time_slice: {
      // Alone, a context has its time slices one after another.
      const Nanoseconds slice = policy_->time_slice().count();
      return slice - turn_done_ % slice;
    }
    case Boundary::slice:
      if (job.slice_length == 0) return kNever;
      return job.slice_length - job.device_done % job.slice_length;
    case Boundary::block:
      if (block == 0) return job.device_done == 0 ? 0 : kNever;
      return (block - job.device_done % block) % block;
  }
  return kNever;
}

void Simulator::Run::complete_exec(std::uint32_t task) {
  jobs_[task].state = JobState::to_leave;
  apply(policy_->complete(task));
  ++observation_.events;
  touch(task);
}

void Simulator::Run::gpu_due() {
  if (has_partitions_) {
    for (std::uint32_t task = 0; task < jobs_.size(); ++task) {
      if (jobs_[task].state == JobState::gpu && jobs_[task].device_left == 0) complete_exec(task);
    }
    return;
  }
  if (on_gpu_ == kNone || switch_left_ > 0) return;
  const std::uint32_t task = on_gpu_;
  if (jobs_[task].device_left == 0) return complete_exec(task);
  if (boundary_at_ != now_ || !policy_->wants_boundary()) return;
  apply(policy_->boundary(task));
  ++observation_.events;
  touch(task);
}

void Simulator::Run::submit_copy(std::uint32_t task) {
  SimJob& job = jobs_[task];
  const SimSegment& segment = tasks_[task].segments[job.segment];
  job.state = JobState::copy;
  job.device_left = draw(task, segment.on_device, JobPart::exec);
  job.submission = ++submissions_;
  feed_copy_engine(static_cast<std::size_t>(segment.copy_engine));
}

// Starts the copy that is next on an engine, if that is free.
void Simulator::Run::feed_copy_engine(std::size_t engine) {
  if (copying_[engine] != kNone) return;
  for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
    const SimJob& job = jobs_[task];
    if (job.state != JobState::copy) continue;
    if (static_cast<std::size_t>(tasks_[task].segments[job.segment].copy_engine) != engine) continue;
    if (copying_[engine] == kNone || copies_before(task, copying_[engine])) copying_[engine] = task;
  }
}

bool Simulator::Run::copies_before(std::uint32_t a, std::uint32_t b) const {
  if (copies_by_priority_) return policy_->rank(a) < policy_->rank(b);
  return jobs_[a].submission < jobs_[b].submission;
}

void Simulator::Run::copies_due() {
  for (std::size_t engine = 0; engine < copying_.size(); ++engine) {
    const std::uint32_t task = copying_[engine];
    if (task == kNone || jobs_[task].device_left > 0) continue;
    copying_[engine] = kNone;
    jobs_[task].state = JobState::copied;
    feed_copy_engine(engine);
    ++observation_.events;
    touch(task);
  }
}

}  // namespace rtgpu
