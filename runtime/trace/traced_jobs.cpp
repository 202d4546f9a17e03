#include "runtime/trace/traced_jobs.h"

#include <algorithm>
#include <variant>

namespace rtgpu {
namespace {

// The state that a job is in from an event on; none: the event changes no state.
std::optional<JobState> state_from(TraceKind kind) {
  switch (kind) {
    case TraceKind::cpu:
    case TraceKind::left:  // unless something else follows at once
      return JobState::cpu;
    case TraceKind::arrive:
      return JobState::to_enter;
    case TraceKind::enter:
      return JobState::enter_waiting;
    case TraceKind::grant:
      return JobState::entering;
    case TraceKind::inside:
      return JobState::misc;
    case TraceKind::submit:
      return JobState::gpu;
    case TraceKind::end:
      return JobState::to_leave;
    case TraceKind::leave:
      return JobState::leave_waiting;
    case TraceKind::leave_grant:
      return JobState::leaving;
    case TraceKind::copy_arrive:
      return JobState::to_copy;
    case TraceKind::copy_submit:
      return JobState::copy;
    case TraceKind::copy_end:
      return JobState::copied;
    default:
      return std::nullopt;
  }
}

JobState first_state(const Task& task) {
  if (task.segments.empty()) return JobState::cpu;
  const Segment& first = task.segments.front();
  if (std::holds_alternative<GpuSegment>(first)) return JobState::to_enter;
  return std::holds_alternative<CopySegment>(first) ? JobState::to_copy : JobState::cpu;
}

}  // namespace

std::optional<JobRecord> TracedJobs::apply(const TraceEvent& event) {
  if (event.kind == TraceKind::release) {
    release(event);
    return std::nullopt;
  }
  const std::optional<JobState> next = state_from(event.kind);
  if (!next && event.kind != TraceKind::start && event.kind != TraceKind::complete) return std::nullopt;
  if (!find_job(event.job)) return std::nullopt;
  if (event.kind == TraceKind::complete) return complete(Duration::nanoseconds(event.time_ns));
  if (next && event.segment < model_->segments.size()) follow(event, *next);
  return std::nullopt;
}

void TracedJobs::release(const TraceEvent& event) {
  const std::int64_t last = backlog_.empty() ? job_ : backlog_.back().job;
  if (event.job <= last) return;
  const Release release{event.job, Duration::nanoseconds(event.value), Duration::nanoseconds(event.time_ns)};
  if (state_ == JobState::idle) {
    begin(release.job, release);
  } else {
    backlog_.push_back(release);
  }
}

void TracedJobs::begin(std::int64_t job, std::optional<Release> release) {
  job_ = job;
  segment_ = 0;
  state_ = first_state(*model_);
  released_ = release;
}

// Whether an event of this job is of the current one. A later job shows that the end of the current one is missing.
bool TracedJobs::find_job(std::int64_t job) {
  if (job == job_ && state_ != JobState::idle) return true;
  if (job <= job_) return false;
  while (!backlog_.empty() && backlog_.front().job < job) backlog_.pop_front();
  std::optional<Release> release;
  if (!backlog_.empty() && backlog_.front().job == job) {
    release = backlog_.front();
    backlog_.pop_front();
  }
  begin(job, release);
  return true;
}

void TracedJobs::follow(const TraceEvent& event, JobState next) {
  // Work that is dropped may end after its job has been taken out of the segment.
  if (event.kind == TraceKind::end && !is_in_gpu_segment()) return;
  state_ = next;
  segment_ = event.segment;
  if (event.kind == TraceKind::left) segment_ = std::min(segment_ + 1, model_->segments.size() - 1);
}

bool TracedJobs::is_in_gpu_segment() const {
  return state_ >= JobState::to_enter && state_ <= JobState::gpu;
}

std::optional<JobRecord> TracedJobs::complete(Duration when) {
  std::optional<JobRecord> record;
  if (released_) record = record_of(*released_, when, when);
  state_ = JobState::idle;
  segment_ = 0;
  if (!backlog_.empty()) {
    const Release next = backlog_.front();
    backlog_.pop_front();
    begin(next.job, next);
  }
  return record;
}

std::vector<JobRecord> TracedJobs::cut_off(Duration end) const {
  std::vector<JobRecord> records;
  if (state_ == JobState::idle) return records;
  if (released_) records.push_back(record_of(*released_, Duration::infinite(), end));
  for (const Release& release : backlog_) records.push_back(record_of(release, Duration::infinite(), end));
  return records;
}

// A job that the end cut off has taken at least the time until then.
JobRecord TracedJobs::record_of(const Release& release, Duration completion, Duration seen_until) const {
  const bool missed = !model_->best_effort && seen_until - release.nominal > model_->deadline;
  return {task_, release.job, release.nominal, release.actual, completion, missed};
}

}  // namespace rtgpu
