// Releases and jobs of a simulated run.
#include "analysis/simulation/run.h"

#include <algorithm>

namespace rtgpu {

void Backlog::push(Nanoseconds nominal, Nanoseconds actual) {
  if (count_ == ring_.size()) {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(first_), ring_.end());
    first_ = 0;
    ring_.resize(2 * ring_.size());
  }
  ring_[(first_ + count_) % ring_.size()] = {nominal, actual};
  ++count_;
}

Backlog::Entry Backlog::pop() {
  const Entry entry = ring_[first_];
  first_ = (first_ + 1) % ring_.size();
  --count_;
  return entry;
}

// Plans the next release of a task: at its offset for the first, then a period and perhaps a gap after the last.
void Simulator::Run::plan_release(std::uint32_t task) {
  SimJob& job = jobs_[task];
  if (job.next_number > 0) job.next_nominal += tasks_[task].period + draws_.gap(task, job.next_number).count();
  const Nanoseconds jitter = draws_.jitter(task, job.next_number, Duration::nanoseconds(tasks_[task].jitter)).count();
  const Nanoseconds actual = job.next_nominal + jitter;
  // Jobs are released in order, whatever the jitter.
  job.next_actual = job.next_nominal <= last_release_ ? std::max(actual, now_) : kNever;
}

void Simulator::Run::release_due(std::uint32_t task) {
  SimJob& job = jobs_[task];
  ++observation_.events;
  const Nanoseconds nominal = job.next_nominal;
  const Nanoseconds actual = job.next_actual;
  ++job.next_number;
  plan_release(task);
  if (job.state == JobState::idle) {
    start_job(task, nominal, actual);
  } else {
    backlogs_[task].push(nominal, actual);
  }
}

void Simulator::Run::start_job(std::uint32_t task, Nanoseconds nominal, Nanoseconds actual) {
  SimJob& job = jobs_[task];
  ++job.number;
  job.nominal = nominal;
  job.actual = actual;
  job.segment = 0;
  begin_segment(task);
}

void Simulator::Run::begin_segment(std::uint32_t task) {
  SimJob& job = jobs_[task];
  const SimSegment& segment = tasks_[task].segments[job.segment];
  switch (segment.kind) {
    case SegmentKind::cpu:
      job.state = JobState::cpu;
      job.on_core_left = draw(task, segment.on_core, JobPart::cpu);
      break;
    case SegmentKind::gpu:
      job.state = JobState::to_enter;
      break;
    case SegmentKind::copy:
      job.state = JobState::to_copy;
      break;
  }
  touch(task);
}

void Simulator::Run::end_segment(std::uint32_t task) {
  SimJob& job = jobs_[task];
  if (++job.segment < tasks_[task].segments.size()) {
    begin_segment(task);
  } else {
    finish_job(task);
  }
}

void Simulator::Run::finish_job(std::uint32_t task) {
  SimJob& job = jobs_[task];
  TaskObservation& seen = observation_.tasks[task];
  const Nanoseconds response = now_ - job.nominal;
  const bool missed = !tasks_[task].best_effort && response > tasks_[task].deadline;
  ++seen.jobs;
  if (missed) ++seen.misses;
  seen.total_response += Duration::nanoseconds(response);
  if (Duration::nanoseconds(response) > seen.max_response) {
    seen.max_response = Duration::nanoseconds(response);
    seen.longest_job = job.number;
  }
  if (recorder_) {
    recorder_->job({task, job.number, Duration::nanoseconds(job.nominal), Duration::nanoseconds(job.actual),
                    Duration::nanoseconds(now_), missed});
  }
  job.state = JobState::idle;
  job.segment = 0;
  touch(task);
  if (backlogs_[task].empty()) return;
  const Backlog::Entry next = backlogs_[task].pop();
  start_job(task, next.nominal, next.actual);
}

Nanoseconds Simulator::Run::draw(std::uint32_t task, SimTimeRange range, JobPart part) const {
  const SimJob& job = jobs_[task];
  return draws_
      .part(task, job.number, job.segment, part, Duration::nanoseconds(range.min), Duration::nanoseconds(range.max))
      .count();
}

// Jobs that the end of the run cut off have taken at least the time until then.
void Simulator::Run::count_cut_off() {
  const auto count = [&](std::uint32_t task, std::int64_t number, Nanoseconds nominal, Nanoseconds actual) {
    TaskObservation& seen = observation_.tasks[task];
    const Nanoseconds elapsed = now_ - nominal;
    const bool missed = !tasks_[task].best_effort && elapsed > tasks_[task].deadline;
    ++seen.incomplete;
    if (missed) ++seen.misses;
    if (Duration::nanoseconds(elapsed) > seen.max_response) {
      seen.max_response = Duration::nanoseconds(elapsed);
      seen.longest_job = number;
      seen.longest_incomplete = true;
    }
    if (recorder_) {
      recorder_->job(
          {task, number, Duration::nanoseconds(nominal), Duration::nanoseconds(actual), Duration::infinite(), missed});
    }
  };
  for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
    const SimJob& job = jobs_[task];
    if (job.state == JobState::idle) continue;
    count(task, job.number, job.nominal, job.actual);
    for (std::int64_t number = job.number + 1; !backlogs_[task].empty(); ++number) {
      const Backlog::Entry next = backlogs_[task].pop();
      count(task, number, next.nominal, next.actual);
    }
  }
}

}  // namespace rtgpu
