// The random tasksets of the GCAPS paper (ECRTS 2024, table 3).
#pragma once

#include "rtgpu/time.h"
#include "taskset/generators/drawn_tasks.h"
#include "taskset/taskset.h"

#include <cstdint>

namespace rtgpu {

// Ratios and utilisations are in millionths.
struct GcapsTable3 {
  int cpus = 4;
  Range tasks_per_cpu = {3, 6};
  Range utilisation_per_cpu = {400'000, 600'000};  // counts CPU and GPU time
  Range period_ms = {30, 500};
  Range gpu_share = {400'000, 600'000};  // of tasks that use the GPU, drawn once a taskset
  Range gpu_segments = {1, 3};
  Range gpu_to_cpu = {200'000, 2'000'000};  // G / C of a task that uses the GPU
  Range misc_share = {100'000, 300'000};    // Gm / G of each GPU segment
  Duration runlist_update = Duration::milliseconds(1);
  Duration context_switch = Duration::microseconds(200);
  Duration time_slice = Duration::microseconds(1024);
  Duration lock;
  int stream_priorities = 0;  // 0: not given
};

// One taskset: tasks are drawn for each core, its utilisation split uniformly among them; priorities are rate-monotonic
// (a shorter period is higher, then the earlier task); then the tasks are allocated to the cores anew, worst fit by
// falling utilisation. The same seed gives the same taskset everywhere. Its origin
// says what was requested and achieved.
Taskset generate(const GcapsTable3& parameters, std::uint64_t seed);

}  // namespace rtgpu
