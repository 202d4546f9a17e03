// Random tasksets whose utilisation is split by RandFixedSum (Emberson, Stafford and Davis, WATERS 2010): uniform over
// all splits in which each task's utilisation is within bounds, however tight. With the GPU segments of the GCAPS
// paper's tasksets.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/generators/drawn_tasks.h"
#include "taskset/taskset.h"

#include <cstdint>

namespace rtgpu {

// Ratios and utilisations are in millionths.
struct RandFixedSum {
  int cpus = 4;
  int tasks = 16;                                  // at most kMaxBoundedShares (bounded_split.h)
  Range utilisation_per_cpu = {500'000, 500'000};  // counts CPU and GPU time; their sum is split among all tasks
  Range task_utilisation = {0, 1'000'000};         // the least and the most of a task
  bool uniform_periods = false;                    // instead of log-uniform
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

// The utilisation of all tasks together: what may be drawn, and what the bounds of the tasks allow.
Range requested_utilisation(const RandFixedSum& parameters);
Range possible_utilisation(const RandFixedSum& parameters);

// One taskset: rate-monotonic priorities, cores worst fit by falling utilisation. The same seed gives the same taskset
// everywhere. An error (conflict) if what is drawn is not possible.
Result<Taskset> generate(const RandFixedSum& parameters, std::uint64_t seed);

}  // namespace rtgpu
