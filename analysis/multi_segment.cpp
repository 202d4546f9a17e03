#include "analysis/multi_segment.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace rtgpu {

MultiSegmentWorkload::MultiSegmentWorkload(std::vector<SeparatedSegment> segments, Duration period, Duration wrap)
    : segments_(std::move(segments)), wrap_(wrap) {
  Duration length;
  for (std::size_t place = 0; place < segments_.size(); ++place) {
    work_ += segments_[place].cost;
    length += segments_[place].cost;
    if (place + 1 < segments_.size()) length += segments_[place].separation;
  }
  cycle_ = std::max(period, length);
}

MultiSegmentWorkload::InWindow MultiSegmentWorkload::most_in(Duration t) const {
  InWindow most{{}, t};
  for (std::size_t first = 0; first < segments_.size(); ++first) {
    const InWindow here = from(first, t);
    if (here.work > most.work || (here.work == most.work && here.until > most.until)) most = here;
  }
  return most;
}

// In the rest of a job, from its segment `first` on.
MultiSegmentWorkload::InWindow MultiSegmentWorkload::in_job(std::size_t first, Duration t) const {
  InWindow sum{{}, t};
  Duration passed;
  for (std::size_t place = first; place < segments_.size() && passed < t; ++place) {
    const SeparatedSegment& segment = segments_[place];
    sum.work += std::min(segment.cost, t - passed);
    passed += segment.cost;
    if (passed > t) sum.until = passed;
    passed += segment.separation;
  }
  return sum;
}

MultiSegmentWorkload::InWindow MultiSegmentWorkload::from(std::size_t first, Duration t) const {
  Duration begun;
  Duration work;
  for (std::size_t place = first; place < segments_.size(); ++place) {
    work += segments_[place].cost;
    begun += segments_[place].cost + (place + 1 < segments_.size() ? segments_[place].separation : wrap_);
  }
  if (t <= begun) return in_job(first, t);
  const std::int64_t jobs = (t - begun).count() / cycle_.count();
  const Duration before = begun + cycle_ * jobs;
  const InWindow last = in_job(0, t - before);
  return {work + work_ * jobs + last.work, before + last.until};
}

}  // namespace rtgpu
