// The jobs of one task as its events go by. Internal to the runtime.
#pragma once

#include "analysis/simulation/schedule.h"
#include "rtgpu/time.h"
#include "runtime/trace/trace_event.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace rtgpu {

class TracedJobs {
 public:
  TracedJobs(TaskIndex task, const Task& model) : task_(task), model_(&model) {}

  // Events by time. The record of the job, if the event completes it.
  std::optional<JobRecord> apply(const TraceEvent& event);
  // The jobs that are not complete at the end of the run.
  std::vector<JobRecord> cut_off(Duration end) const;

  // Of the current job, or of the last one if there is none.
  std::int64_t job() const { return job_; }
  std::size_t segment() const { return segment_; }
  JobState state() const { return state_; }

 private:
  struct Release {
    std::int64_t job = 0;
    Duration nominal;
    Duration actual;
  };

  void release(const TraceEvent& event);
  void begin(std::int64_t job, std::optional<Release> release);
  bool find_job(std::int64_t job);
  void follow(const TraceEvent& event, JobState next);
  std::optional<JobRecord> complete(Duration when);
  JobRecord record_of(const Release& release, Duration completion, Duration seen_until) const;
  bool is_in_gpu_segment() const;

  TaskIndex task_;
  const Task* model_;
  std::int64_t job_ = -1;
  std::size_t segment_ = 0;
  JobState state_ = JobState::idle;
  std::optional<Release> released_;  // of the current job, if it was traced
  std::deque<Release> backlog_;      // of jobs that wait for the one before them
};

}  // namespace rtgpu
