// How much a thread executed in any window of time: for one that wakes up too often for each time to be charged by
// itself.
#pragma once

#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

// In steps of a millisecond. Room is made at the start: noting takes constant time and allocates nothing. One thread
// notes; read after the run.
class ExecutionLog {
 public:
  static constexpr Duration kStep = Duration::milliseconds(1);

  ExecutionLog() = default;
  // Room for this long.
  explicit ExecutionLog(Duration length);

  bool empty() const { return steps_.empty(); }
  // That much was executed since the last call, until `now` (a time of the run, not before an earlier one).
  void add(Duration now, Duration executed);
  // More than there was room for.
  bool is_full() const { return is_full_; }
  // At least the most that was executed in any window of this length: whole steps, and one more on each side, since
  // what is noted in a step may have been executed in the one before. Linear in the length of the run.
  Duration most_in_window(Duration window) const;

 private:
  std::vector<std::uint32_t> steps_;  // nanoseconds
  std::size_t used_ = 0;
  bool is_full_ = false;
};

}  // namespace rtgpu
