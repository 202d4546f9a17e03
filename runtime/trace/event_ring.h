// Where one thread leaves what another one collects.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

// A ring of events with one writer and one reader, each of any thread. The writer never waits: an event that finds the
// ring full is dropped and counted. No lock, no allocation after construction.
template <class Event>
class EventRing {
 public:
  // Room for `capacity` events, rounded up to a power of two; 0: every event is ignored, and none counts as dropped.
  explicit EventRing(std::size_t capacity)
      : events_(capacity == 0 ? 0 : std::bit_ceil(capacity)), mask_(events_.empty() ? 0 : events_.size() - 1) {}

  void write(const Event& event) {
    if (events_.empty()) return;
    const std::uint64_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == events_.size()) {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    events_[end & mask_] = event;
    end_.store(end + 1, std::memory_order_release);
  }

  // Moves what has been written to the end of `into`. One thread at a time.
  void drain(std::vector<Event>& into) {
    const std::uint64_t end = end_.load(std::memory_order_acquire);
    std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    for (; begin != end; ++begin) into.push_back(events_[begin & mask_]);
    begin_.store(begin, std::memory_order_release);
  }

  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  std::vector<Event> events_;
  std::uint64_t mask_ = 0;
  std::atomic<std::uint64_t> begin_ = 0;
  // Apart, so that reader and writer do not fight for a cache line.
  alignas(64) std::atomic<std::uint64_t> end_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
};

}  // namespace rtgpu
