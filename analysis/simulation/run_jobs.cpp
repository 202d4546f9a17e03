// Releases and jobs of a simulated run.
#include "analysis/simulation/run.h"

#include <algorithm>

namespace rtgpu {
namespace {

// Names of draws that are made once a job; parts of a job have numbers above these.
constexpr std::uint64_t kGap = 0;
constexpr std::uint64_t kGapLength = 1;
constexpr std::uint64_t kJitter = 2;
constexpr std::uint64_t kJitterLength = 3;
constexpr std::uint64_t kFirstPart = 4;

// How a part is shortened: chance, way, length.
constexpr std::uint64_t kDrawsOfPart = 3;

}  // namespace

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
  const TaskScenario& choices = scenario_->tasks[task];
  const auto number = static_cast<std::uint64_t>(job.next_number);
  if (job.next_number > 0) {
    job.next_nominal += tasks_[task].period;
    if (draws_.chance(choices.gap_chance, task, number, kGap)) {
      job.next_nominal += draws_.up_to(choices.longest_gap.count(), task, number, kGapLength);
    }
  }
  Nanoseconds actual = job.next_nominal;
  if (draws_.chance(choices.jitter_chance, task, number, kJitter)) {
    actual += draws_.up_to(tasks_[task].jitter, task, number, kJitterLength);
  }
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
      job.on_core_left = draw(task, segment.on_core, SimPart::cpu);
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

// A part of the current job takes its worst case, or less where the scenario shortens it: half of those all the way.
Nanoseconds Simulator::Run::draw(std::uint32_t task, SimTimeRange range, SimPart part) const {
  const SimJob& job = jobs_[task];
  const auto number = static_cast<std::uint64_t>(job.number);
  const std::uint64_t what = kFirstPart + kDrawsOfPart * (8 * job.segment + static_cast<std::uint64_t>(part));
  if (!draws_.chance(scenario_->tasks[task].shorten_chance, task, number, what)) return range.max;
  const Nanoseconds least = scenario_->below_best_case ? 0 : range.min;
  if (draws_.chance(500, task, number, what + 1)) return least;
  return least + draws_.up_to(range.max - least, task, number, what + 2);
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
