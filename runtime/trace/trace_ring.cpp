#include "runtime/trace/trace_ring.h"

#include <bit>

namespace rtgpu {

TraceRing::TraceRing(std::size_t capacity)
    : events_(capacity == 0 ? 0 : std::bit_ceil(capacity)), mask_(events_.empty() ? 0 : events_.size() - 1) {}

void TraceRing::drain(std::vector<TraceEvent>& into) {
  const std::uint64_t end = end_.load(std::memory_order_acquire);
  std::uint64_t begin = begin_.load(std::memory_order_relaxed);
  for (; begin != end; ++begin) into.push_back(events_[begin & mask_]);
  begin_.store(begin, std::memory_order_release);
}

}  // namespace rtgpu
