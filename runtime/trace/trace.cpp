#include "runtime/trace/trace.h"

#include <algorithm>
#include <utility>

namespace rtgpu {
namespace {

bool is_before(const TraceEvent& a, const TraceEvent& b) {
  return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.order < b.order;
}

}  // namespace

TraceRing& Tracer::add_ring() {
  return sources_.emplace_back(capacity_).ring;
}

void Tracer::collect() {
  for (Source& source : sources_) source.ring.drain(source.gathered);
}

std::uint64_t Tracer::dropped() const {
  std::uint64_t all = 0;
  for (const Source& source : sources_) all += source.ring.dropped();
  return all;
}

Trace Tracer::take(Duration end) {
  collect();
  Trace trace;
  for (Source& source : sources_) {
    trace.events.insert(trace.events.end(), source.gathered.begin(), source.gathered.end());
    source.gathered = {};
  }
  std::ranges::stable_sort(trace.events, is_before);
  const std::uint64_t dropped_in_all = dropped();
  trace.dropped = dropped_in_all - std::exchange(taken_dropped_, dropped_in_all);
  trace.end = end;
  return trace;
}

}  // namespace rtgpu
