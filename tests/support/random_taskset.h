// Random valid tasksets for property tests and benchmarks. The same engine state gives the same taskset on every
// platform: only the engine's output is used, no standard distributions.
#pragma once

#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <random>

namespace rtgpu::testing {

// Uniform enough for tests (the bias of the modulo is below 2^-30 for the ranges used); low <= high.
std::int64_t uniform(std::mt19937_64& engine, std::int64_t low, std::int64_t high);

// True in `percent` of 100 cases.
bool chance(std::mt19937_64& engine, int percent);

struct RandomOptions {
  enum class Waits : std::uint8_t { suspend, busy, mixed };
  enum class Order : std::uint8_t { deadline_monotonic, random };

  int tasks = 8;
  int cpus = 2;
  int gpu_percent = 50;          // of the tasks that use the GPU
  int best_effort_percent = 0;   // of the tasks that are best-effort
  int utilisation_percent = 50;  // of each core: worst-case CPU and GPU time over period; no more than this in all,
                                 // but each segment is at least one grain
  int max_gpu_segments = 3;      // of one task; the task has one CPU segment more
  int min_period_ms = 30;
  int max_period_ms = 500;
  Waits waits = Waits::suspend;
  Order order = Order::deadline_monotonic;    // priorities are unique: tasks, tasks - 1, ..., 1 from high to low
  bool separate_gpu_priorities = false;       // GPU priorities are another permutation instead of the priorities
  bool jitter = false;                        // of up to a tenth of the deadline
  bool constrained_deadlines = false;         // deadlines in [period / 2, period]
  bool best_case_below_worst = false;         // min in [0, max] instead of min = max
  bool overheads = false;                     // random overheads instead of none
  Duration grain = Duration::nanoseconds(1);  // every time is a multiple of it; at most 1 ms
  bool every_feature = false;  // everything the format knows: copies, by_sms, work, block, slices, memory, several
                               // GPUs, names that need escapes, ties, negative priorities
};

// Valid under validate(). Tasks are dealt to the cores in turn.
Taskset random_taskset(std::mt19937_64& engine, const RandomOptions& options = {});

}  // namespace rtgpu::testing
