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
  int tasks = 0;                                   // in all; 0: as tasks_per_cpu and utilisation_per_cpu say
  Range task_utilisation = {50'000, 300'000};      // of each, where `tasks` is given: the two above are not used then
  Range period_ms = {30, 500};
  Range gpu_share = {400'000, 600'000};  // of tasks that use the GPU, drawn once a taskset
  Range gpu_segments = {1, 3};
  Range gpu_to_cpu = {200'000, 2'000'000};  // G / C of a task that uses the GPU
  Range misc_share = {100'000, 300'000};    // Gm / G of each GPU segment
  Range best_effort_share = {0, 0};         // of tasks that are best-effort, drawn once a taskset
  bool as_program = false;                  // draw as the published program does; see below
  Duration runlist_update = Duration::milliseconds(1);
  Duration context_switch = Duration::microseconds(200);
  Duration time_slice = Duration::microseconds(1024);
  Duration lock;
  int stream_priorities = 0;  // 0: not given
  int sms = 0;                // of the GPU, with work on each GPU segment; 0: not given
};

// One taskset: tasks are drawn for each core, its utilisation split uniformly among them; priorities are rate-monotonic
// (a shorter period is higher, then the earlier task); then the tasks are allocated to the cores anew, worst fit by
// falling utilisation. With a number of tasks in all, the utilisation of each is drawn by itself, as the programs that
// were published with the paper do it (figures 8a and 9a): more tasks are more load. The same seed gives the same
// taskset everywhere. Its origin says what was requested and achieved.
//
// The program that was published with the paper, and made its figures, draws otherwise than the paper says. With
// `as_program`: utilisations and execution times are split unevenly (see split_unevenly()); the utilisation of a task
// is a whole hundredth, and one at least, or, with a number of tasks in all, a multiple of 0.05 above the low end of
// its range and below the high one; gpu_share is drawn for each task; tasks stay on the core that they were drawn for,
// or, with a number in all, are allocated worst fit in the order they are drawn in. Not taken over: it rounds execution
// times to 10 us.
Taskset generate(const GcapsTable3& parameters, std::uint64_t seed);

}  // namespace rtgpu
