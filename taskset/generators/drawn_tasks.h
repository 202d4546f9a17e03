// What the generators of random tasksets have in common: the segments of a task, priorities, and cores. Internal to the
// library. Ratios and utilisations are in millionths.
#pragma once

#include "taskset/generators/random.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rtgpu {

inline constexpr std::int64_t kMillion = 1'000'000;

// A range of whole numbers, both ends included; equal ends fix the value.
struct Range {
  std::int64_t low = 0;
  std::int64_t high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

std::int64_t draw(Random& random, Range range);

// `millionths` of a time in nanoseconds, rounded down.
std::int64_t share_of(std::int64_t time, std::int64_t millionths);

// How the execution time of a task that uses the GPU is divided.
struct SegmentShape {
  Range gpu_segments;
  Range gpu_to_cpu;              // G / C
  Range misc_share;              // Gm / G of each GPU segment
  bool splits_unevenly = false;  // see split_unevenly()
};

// Segments that take `total` nanoseconds in all: one on the core, or of a task that uses the GPU one around and between
// its GPU segments.
std::vector<Segment> draw_segments(Random& random, const SegmentShape& shape, std::int64_t total, bool uses_gpu);

// Gives each GPU segment work, span and interleave for a GPU of `sms` SMs beside its exec, so that RTGPU's bound on all
// of them is exec: the critical path is a tenth of it, and two virtual SMs slow each other down by a half. Draws
// nothing.
void give_parallel_work(Taskset& taskset, int sms);

// Makes a share of the tasks best-effort: as many as it comes to, rounded down, and each as likely as the others. Draws
// nothing where the share is 0, so that such tasksets are what they were before there was this parameter.
void draw_best_effort(Random& random, Range share, Taskset& taskset);

// Real-time tasks first; then a shorter period is higher, then the earlier task. GPU priorities are the same.
void assign_rate_monotonic(Taskset& taskset);

// Gives the tasks in the order of falling utilisation to the core that has the least so far.
void allocate_worst_fit(Taskset& taskset, const std::vector<std::int64_t>& utilisations);
// Likewise, in the order of the tasks.
void allocate_worst_fit_in_order(Taskset& taskset, const std::vector<std::int64_t>& utilisations);

// The rest is for every kind of parameters that has these members.

template <class Parameters>
Platform platform_of(const Parameters& parameters) {
  Platform platform;
  platform.cpus = parameters.cpus;
  Gpu& gpu = platform.gpus.front();
  gpu.overheads.runlist_update = parameters.runlist_update;
  gpu.overheads.context_switch = parameters.context_switch;
  gpu.overheads.time_slice = parameters.time_slice;
  gpu.overheads.lock = parameters.lock;
  if (parameters.stream_priorities > 0) gpu.stream_priorities = parameters.stream_priorities;
  if (parameters.sms > 0) gpu.sms = parameters.sms;
  return platform;
}

template <class Parameters>
std::int64_t draw_period_ms(Random& random, const Parameters& parameters) {
  if (parameters.uniform_periods) return draw(random, parameters.period_ms);
  return log_uniform(random, parameters.period_ms.low, parameters.period_ms.high);
}

template <class Parameters>
Task draw_task(Random& random, const Parameters& parameters, std::int64_t utilisation, std::int64_t gpu_share) {
  Task task;
  task.period = Duration::milliseconds(draw_period_ms(random, parameters));
  task.deadline = task.period;
  const bool uses_gpu = random.between(0, kMillion - 1) < gpu_share;
  const SegmentShape shape{parameters.gpu_segments, parameters.gpu_to_cpu, parameters.misc_share};
  task.segments = draw_segments(random, shape, share_of(task.period.count(), utilisation), uses_gpu);
  return task;
}

// A taskset whose tasks have these utilisations: rate-monotonic priorities, cores worst fit by falling utilisation.
// What is achieved is added to the origin.
template <class Parameters>
Taskset draw_tasks(Random& random, const Parameters& parameters, const std::vector<std::int64_t>& utilisations,
                   Origin origin) {
  Taskset taskset;
  taskset.platform = platform_of(parameters);
  const std::int64_t gpu_share = draw(random, parameters.gpu_share);
  for (std::size_t index = 0; index < utilisations.size(); ++index) {
    taskset.tasks.push_back(draw_task(random, parameters, utilisations[index], gpu_share));
    taskset.tasks.back().name = "task" + std::to_string(index);
  }
  if (parameters.sms > 0) give_parallel_work(taskset, parameters.sms);
  draw_best_effort(random, parameters.best_effort_share, taskset);
  assign_rate_monotonic(taskset);
  allocate_worst_fit(taskset, utilisations);
  origin.achieved = utilisation_per_cpu(taskset);
  taskset.origin = std::move(origin);
  return taskset;
}

}  // namespace rtgpu
