// Events around what is launched into a stream, one piece after the other, that were made for timing.
#pragma once

#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/handles.h"
#include "runtime/device/device_times.h"
#include "runtime/job_place.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace rtgpu::cuda {

// A pair for each piece, from its beginning until somebody has read when it was. Nobody waits for a free pair: without
// one, the piece is not timed. After construction nothing allocates.
class EventPairs {
 public:
  static constexpr std::size_t kPairs = 8;

  struct Pair {
    HandleOf<CUevent> begin = {};
    HandleOf<CUevent> end = {};
    JobPlace place = {};
  };

  // For work, or the copies of an engine. Errors: what the driver answered is in `result`, and there is none.
  static std::unique_ptr<EventPairs> create(const Driver& driver, int engine, CUresult& result);

  int engine() const { return engine_; }
  // Set-up: nothing is there to be read.
  void restart();
  // Nothing is given back to the driver.
  void forget();

  // By whoever launches. The three go round: begin(), which may be called again to begin anew, end(), ended().

  // What is launched from now on belongs to the next piece.
  void begin(CUstream stream);
  // What was launched until now does. The event to look at; none: the piece is not timed.
  CUevent end() const { return is_open_ ? pairs_[next()].end.get() : nullptr; }
  // The end has been seen to be reached.
  void ended(const JobPlace& place);

  // By one thread at a time, which may be another one.

  // The pair that was reached first; null: none is left.
  const Pair* oldest() const;
  // It has been read.
  void free_oldest() { read_.store(read_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  // Pieces that were not timed.
  std::uint64_t missed() const { return missed_.load(std::memory_order_relaxed); }

 private:
  EventPairs(const Driver& driver, int engine) : driver_(driver), engine_(engine) {}
  std::size_t next() const { return reached_.load(std::memory_order_relaxed) % kPairs; }

  Driver driver_;
  int engine_;
  std::array<Pair, kPairs> pairs_{};
  bool is_open_ = false;                    // the next pair has begun
  std::atomic<std::uint64_t> reached_ = 0;  // of these, all but the last kPairs are free
  std::atomic<std::uint64_t> read_ = 0;
  std::atomic<std::uint64_t> missed_ = 0;
};

}  // namespace rtgpu::cuda
