// What the generators of random tasksets have in common: the segments of a task, priorities, and cores. Internal to the
// library. Ratios and utilisations are in millionths.
#pragma once

#include "taskset/generators/random.h"
#include "taskset/taskset.h"

#include <cstdint>
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
  Range gpu_to_cpu;  // G / C
  Range misc_share;  // Gm / G of each GPU segment
};

// Segments that take `total` nanoseconds in all: one on the core, or of a task that uses the GPU one around and between
// its GPU segments.
std::vector<Segment> draw_segments(Random& random, const SegmentShape& shape, std::int64_t total, bool uses_gpu);

// A shorter period is higher, then the earlier task. GPU priorities are the same.
void assign_rate_monotonic(Taskset& taskset);

// Gives the tasks in the order of falling utilisation to the core that has the least so far.
void allocate_worst_fit(Taskset& taskset, const std::vector<std::int64_t>& utilisations);

}  // namespace rtgpu
