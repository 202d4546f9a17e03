// What a run recorded: the rings of its threads, and what is made of them.
#pragma once

#include "rtgpu/time.h"
#include "runtime/device/device_times.h"
#include "runtime/trace/trace_event.h"
#include "runtime/trace/trace_ring.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace rtgpu {

struct Trace {
  std::vector<TraceEvent> events;  // by time, then order; those of one thread that are equal in both as it wrote them
  std::uint64_t dropped = 0;       // events that found their ring full, and work of which device_times lacks the times
  Duration end;                    // of the run
  // What the device did by its own clock, if it has one; and how far that is known.
  std::vector<DeviceInterval> device_times = {};
  std::string device_clock = {};
};

// Owns the rings of a run and gathers what is written to them. Rings are made before the threads that write to them
// start. From then on one thread at a time, of any priority, may collect; writers never wait for it.
class Tracer {
 public:
  // Each ring has room for `capacity` events between two collections, see TraceRing; 0: nothing is traced.
  explicit Tracer(std::size_t capacity) : capacity_(capacity) {}

  // A ring for one more thread. It lives as long as the tracer, at the same place.
  TraceRing& add_ring();

  // Empties the rings. What is gathered is kept until take(): 40 bytes for each event, as many as there are. Whoever
  // collects only at the end needs no more than the rings. Linear in the events.
  void collect();

  // Events that found their ring full so far. Any thread.
  std::uint64_t dropped() const;

  // Everything since the last take(), in order, once the writers have ended. `end` is that of the run. O(n log n).
  Trace take(Duration end);

 private:
  struct Source {
    explicit Source(std::size_t capacity) : ring(capacity) {}
    TraceRing ring;
    std::vector<TraceEvent> gathered;
  };

  std::size_t capacity_;
  std::deque<Source> sources_;  // whose elements stay where they are
  std::uint64_t taken_dropped_ = 0;
};

}  // namespace rtgpu
