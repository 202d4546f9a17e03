// Hands the newest value from one thread to another; neither ever waits.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace perception {

// One writer, one reader. Of the three places one is the writer's, one the reader's, and one holds the newest value.
template <class Value>
class Mailbox {
 public:
  // The writer fills this, then posts it.
  Value& draft() { return places_[draft_]; }
  void post() { draft_ = newest_.exchange(draft_ | kFresh, std::memory_order_acq_rel) & kPlace; }

  // The newest value that was posted; the last one again if there is none.
  const Value& take() {
    if ((newest_.load(std::memory_order_acquire) & kFresh) != 0) {
      read_ = newest_.exchange(read_, std::memory_order_acq_rel) & kPlace;
    }
    return places_[read_];
  }

 private:
  static constexpr std::uint32_t kPlace = 3;
  static constexpr std::uint32_t kFresh = 4;

  std::array<Value, 3> places_{};
  std::uint32_t draft_ = 0;
  std::atomic<std::uint32_t> newest_ = 1;
  std::uint32_t read_ = 2;
};

}  // namespace perception
