// Random tasksets whose utilisation is split by UUniFast (Bini and Buttazzo, Real-Time Systems 30, 2005) or
// UUniFast-discard (Davis and Burns, RTSS 2009), with the GPU segments of the GCAPS paper's tasksets.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/generators/drawn_tasks.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <string_view>

namespace rtgpu {

// Ratios and utilisations are in millionths.
struct UUniFast {
  // Whether splits in which a task has more than `task_utilisation` are drawn again. If not, a task may have more
  // than 1.
  bool discards = false;
  int cpus = 4;
  int tasks = 16;
  Range utilisation_per_cpu = {500'000, 500'000};  // counts CPU and GPU time; their sum is split among all tasks
  std::int64_t task_utilisation = 1'000'000;
  bool uniform_periods = false;  // instead of log-uniform
  Range period_ms = {10, 1'000};
  Range gpu_share = {400'000, 600'000};  // of tasks that use the GPU, drawn once a taskset
  Range gpu_segments = {1, 3};
  Range gpu_to_cpu = {200'000, 2'000'000};  // G / C of a task that uses the GPU
  Range misc_share = {100'000, 300'000};    // Gm / G of each GPU segment
  Range best_effort_share = {0, 0};         // of tasks that are best-effort, drawn once a taskset
  Duration runlist_update = Duration::milliseconds(1);
  Duration context_switch = Duration::microseconds(200);
  Duration time_slice = Duration::microseconds(1024);
  Duration lock;
  int stream_priorities = 0;  // 0: not given
  int sms = 0;                // of the GPU, with work on each GPU segment; 0: not given
};

// How often a split is drawn for one taskset before it is given up.
inline constexpr int kMaxDiscards = 10'000;

// One taskset: rate-monotonic priorities, cores worst fit by falling utilisation. The same seed gives the same taskset
// everywhere. An error (unsupported) if none of kMaxDiscards splits is within the limit.
Result<Taskset> generate(const UUniFast& parameters, std::uint64_t seed);

}  // namespace rtgpu
