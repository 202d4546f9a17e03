// The workload of a task whose segments on a resource are apart from each other: the multi-segment workload function
// (Huang and Chen, "Schedulability and Priority Assignment for Multi-Segment Self-Suspending Real-Time Tasks under
// Fixed-Priority Scheduling", technical report, TU Dortmund, 2015), which RTGPU uses for the core and for copies.
//
// From one of its segments on, a task executes all that follow, each its worst case, and each a minimum separation
// after the end of the one before. The last segment of a job is complete by the deadline, so the next job begins no
// earlier than T - D after it; the jobs after that begin T after each other. The most that can execute in a window of
// length t is that of the best segment to begin with.
#pragma once

#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

struct SeparatedSegment {
  Duration cost;        // worst case
  Duration separation;  // from its end to the next one of the job, at least; of the last one without meaning
};

class MultiSegmentWorkload {
 public:
  // `wrap`: from the end of the last segment of a job that meets its deadline to the first one of the next, at least.
  // No segments: no workload. Sums are at most the period, or the workload counts on as if they were.
  MultiSegmentWorkload(std::vector<SeparatedSegment> segments, Duration period, Duration wrap);

  struct InWindow {
    Duration work;
    // How long the window may get while all that it gains is work: in one of t + x <= until there is work + x at least.
    Duration until;
  };
  // The most work in a window of length t >= 0. O(segments squared): about steps().
  InWindow most_in(Duration t) const;
  std::int64_t steps() const { return static_cast<std::int64_t>(segments_.size() * segments_.size()) + 1; }

 private:
  InWindow from(std::size_t first, Duration t) const;
  InWindow in_job(std::size_t first, Duration t) const;

  std::vector<SeparatedSegment> segments_;
  Duration wrap_;
  Duration work_;   // of all segments
  Duration cycle_;  // from the first segment of a job to that of the next
};

}  // namespace rtgpu
