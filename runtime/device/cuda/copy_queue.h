// Copies between host and device in the order of their keys, since copy engines follow no priorities: one copy at a
// time, and of that one bounded part.
#pragma once

#include "rtgpu/time.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/event_pairs.h"
#include "runtime/device/cuda/handles.h"
#include "runtime/device/device.h"
#include "runtime/machine/priority_lock.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu::cuda {

// Of one engine. A copy that has begun goes on to its end, as the analyses take it to. Thread-safe, but for set-up;
// nothing allocates, or waits for the device, after reset().
class CopyQueue {
 public:
  CopyQueue(const Driver& driver, HandleOf<CUstream> stream, HandleOf<CUevent> end, std::size_t chunk);

  // Nothing is given back to the driver.
  void forget() {
    static_cast<void>(copies_.release());
    static_cast<void>(end_.release());
  }

  // From now on parts are timed by these events, which it refers to; null: they are not. While nothing is copied.
  void time_with(EventPairs* pairs) { pairs_ = pairs; }
  // Nothing is copied, for that many streams.
  void reset(std::size_t streams);

  // Whether it begins at once; then the next attend() starts it.
  bool submit(StreamId stream, const CopyRequest& request, Duration now);
  // False: a part of it is in flight; it fails when that has ended.
  bool abandon(StreamId stream, Duration now);

  // Looks whether the part in flight has ended, and starts the next one. What makes the device lost, if so.
  CUresult attend(Duration now);
  // What has happened: the end of a copy, and the beginning of the next.
  void tell(DeviceEvents& events, int engine, Duration now);
  // When attend() or tell() has something to do, as far as that is known; infinite: not before something is in flight.
  Duration next_event() const;
  // Since when a part is in flight; infinite: none is.
  Duration in_flight_since() const;

 private:
  enum class Stage : std::uint8_t { idle, ready, starting, in_flight, passes_time, ended };
  struct Waiting {
    bool waits = false;
    CopyRequest request;
  };

  void take_next(Duration now);
  Stage stage_at(Duration now);
  Stage go_on();
  CUresult start_part();
  void end(bool failed);

  Driver driver_;
  HandleOf<CUstream> copies_;
  HandleOf<CUevent> end_;
  std::size_t chunk_;
  EventPairs* pairs_ = nullptr;
  CUevent in_flight_ = nullptr;  // is reached at the end of that

  mutable PriorityLock lock_;
  std::vector<Waiting> waiting_;  // by stream
  Stage stage_ = Stage::idle;
  StreamId stream_ = kNoStream;
  CopyRequest request_;  // what is left of it
  Duration since_;
  std::atomic<bool> was_looked_at_ = false;  // since its part began
  bool is_told_ = true;                      // of its beginning
  bool has_failed_ = false;
};

}  // namespace rtgpu::cuda
