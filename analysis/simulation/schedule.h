// A recorded schedule: what every task, core and engine did at every moment.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rtgpu {

// What a job is doing. States marked (core) want the task's core.
enum class JobState : std::uint8_t {
  idle,           // no job
  cpu,            // a CPU segment (core)
  to_enter,       // about to ask to be let in (core; takes no time once it runs)
  enter_waiting,  // waits to be let in: suspended, or spinning on the core
  entering,       // its enter call (core)
  misc,           // misc of a GPU segment (core)
  gpu,            // its work is with the GPU: suspended, or waiting busily on the core
  to_leave,       // its work is done, about to ask to leave (core; takes no time)
  leave_waiting,  // waits for the leave call: suspended, or spinning on the core
  leaving,        // its leave call (core)
  woken,          // the server has left it, about to go on (core; takes no time)
  to_copy,        // about to submit a copy (core; takes no time)
  copy,           // its copy is with the copy engine: suspended, or waiting busily on the core
  copied,         // its copy is done, about to go on (core; takes no time)
};
inline constexpr std::size_t kJobStateCount = 14;
// Under the policy server, the states that are the server's work for the job, on the server's core; the job itself does
// as its wait mode says.
constexpr bool is_served_in(JobState state) {
  return state == JobState::entering || state == JobState::misc || state == JobState::to_leave ||
         state == JobState::leave_waiting || state == JobState::leaving;
}
std::string_view to_string(JobState state);  // as above: "idle", "cpu", "to_enter", ...

// Each kind of interval is sorted by its begin; neighbours that are alike are one, but for turns on the GPU. Times are
// from the start of the run. `job` counts the jobs of a task from 0.
struct TaskInterval {
  TaskIndex task = kNoTask;
  std::int64_t job = 0;
  std::size_t segment = 0;
  JobState state = JobState::idle;
  bool boosted = false;
  Duration begin;
  Duration end;
  friend bool operator==(const TaskInterval&, const TaskInterval&) = default;
};
struct CoreInterval {
  int core = 0;
  TaskIndex task = kNoTask;
  Duration begin;
  Duration end;
  bool by_server = false;  // the server runs, for the task
  friend bool operator==(const CoreInterval&, const CoreInterval&) = default;
};
struct GpuInterval {
  TaskIndex task = kNoTask;
  bool switching = false;  // moving to the task's context
  Duration begin;
  Duration end;
  friend bool operator==(const GpuInterval&, const GpuInterval&) = default;
};
struct CopyInterval {
  int engine = 0;
  TaskIndex task = kNoTask;
  Duration begin;
  Duration end;
  friend bool operator==(const CopyInterval&, const CopyInterval&) = default;
};
struct JobRecord {
  TaskIndex task = kNoTask;
  std::int64_t job = 0;
  Duration nominal_release;
  Duration release;     // with jitter
  Duration completion;  // infinite if the run ended before
  bool missed = false;  // real-time, and not complete by its deadline
  friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

struct Schedule {
  std::vector<TaskInterval> tasks;   // by begin, then task
  std::vector<CoreInterval> cores;   // by begin, then core
  std::vector<GpuInterval> gpu;      // by begin, then task
  std::vector<CopyInterval> copies;  // by begin, then engine
  std::vector<JobRecord> jobs;       // by completion; those that the end cut off come last
  Duration end;
  bool sm_partitions = false;  // each task has SMs of its own: intervals of the GPU overlap but for those of one task
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

}  // namespace rtgpu
