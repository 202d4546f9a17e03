// What a task of the runtime is.
#pragma once

#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

struct CUgraph_st;  // these two of the CUDA driver
struct CUstream_st;

namespace rtgpu {

// What happens when a job is not complete by its deadline, or has used up its CPU budget.
enum class Overrun : std::uint8_t {
  keep_on,  // the job goes on; jobs released meanwhile follow it without a pause
  skip,     // the job goes on; releases that it missed are dropped and counted
  abort,    // GPU work not yet submitted is refused, and the job is asked to end: Job::aborted()
};

// What the decision about an overrun is made on.
struct OverrunInfo {
  std::int64_t job = 0;
  bool budget = false;  // the CPU budget, not the deadline
  Duration late = {};   // by how much
};

// How jobs of a task are released.
enum class ReleasedBy : std::uint8_t {
  time,     // a period after the one before, at absolute times
  trigger,  // by TaskHandle::trigger(), at least a period apart
  file,     // when `release_file` is readable, at least a period apart
};

// A CUDA graph as the work of a segment. It is made before the first release, with the priorities of its kernels; those
// that are not the task's are reported.
struct TaskGraph {
  // Captured: what it launches, into the stream that it is given and into others that it forks from that and joins.
  std::function<void(CUstream_st*)> launches = {};
  // Without such a function: a graph (CUgraph, cudaGraph_t) of the application, which may be destroyed after the first
  // run has begun.
  CUgraph_st* made = nullptr;
};

// Times are checked when the task is added. Members that the model has too mean what they mean there (taskset.h).
struct TaskSetup {
  std::string name = {};
  Duration period = {};
  Duration deadline = {};  // 0: the period
  int priority = 0;
  int cpu = 0;
  std::optional<int> gpu_priority = {};  // `priority` unless given
  WaitMode wait = WaitMode::suspend;
  LockWait lock_wait = LockWait::suspend;
  bool best_effort = false;
  std::optional<std::int64_t> memory = {};  // bytes of device memory, set aside before the first release
  // Execution times, for admission, for virtual time, and for work that declares none itself. Not checked against what
  // jobs do.
  std::vector<Segment> segments = {};
  Duration jitter = {};
  Duration offset = {};  // of the first release

  ReleasedBy released_by = ReleasedBy::time;
  int release_file = -1;  // a file descriptor; the job reads it
  Overrun overrun = Overrun::keep_on;
  // Asked instead of `overrun`, on the job's thread.
  std::function<Overrun(const OverrunInfo&)> on_overrun = {};
  // Execution time of the job's thread. Looked at where the job calls the runtime, and at its end.
  Duration cpu_budget = Duration::infinite();
  // Longest time that a GPU segment or a copy may run on the device; then it is ended, and fails. Without one, a job
  // whose work hangs never ends, and neither does the run. What runs on a CUDA device cannot be recalled: no further
  // slice of it is launched, and if it has not ended after as long again, the device counts as lost.
  Duration watchdog = Duration::infinite();
  std::optional<int> sms = {};  // SMs set aside for this task
  // Of a CUDA device: a stream of the application's (a CUstream, or cudaStream_t) in place of one that the runtime
  // makes, for libraries that are bound to theirs. Non-blocking; its priority should be that of the task's level, and
  // it is reported if it is not. It outlives the runtime, and nobody else uses it.
  CUstream_st* cuda_stream = nullptr;
  // Graphs for Stream::launch_graph(), by their position.
  std::vector<TaskGraph> graphs = {};
  std::size_t launches = 64;  // the most in one GPU segment
};

}  // namespace rtgpu
