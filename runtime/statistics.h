// What a run showed of a task.
#pragma once

#include "rtgpu/time.h"
#include "runtime/histogram.h"

#include <cstdint>
#include <string>

namespace rtgpu {

// Responses count from the nominal release.
struct TaskStatistics {
  std::int64_t jobs = 0;     // ended, aborted ones included
  std::int64_t misses = 0;   // of a real-time task: not complete by the deadline
  std::int64_t skipped = 0;  // releases dropped
  std::int64_t aborted = 0;
  std::int64_t budget_overruns = 0;
  std::int64_t gpu_failures = 0;  // GPU segments and copies that did not end well
  std::int64_t faults = 0;        // jobs that ended by an exception
  std::int64_t misuses = 0;       // calls that were refused because they made no sense
  bool thread_died = false;
  std::string last_fault;  // what the last exception said, shortened

  Histogram response;
  Histogram execution;  // CPU time of a job
  Histogram
      release_latency;      // from the actual release to the first code of a job that did not have to wait for another
  Histogram grant_latency;  // from being let in to going on
  Histogram completion_latency;  // from the end of GPU work to going on
  std::int64_t longest_job = 0;  // the job of the longest response
};

}  // namespace rtgpu
