// A line on a terminal that tells how far a long stream of documents is.
#pragma once

#include <chrono>
#include <cstddef>
#include <ostream>

namespace rtgpu {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // Writes to `out`, which outlives this object, if `visible`.
  Progress(std::ostream& out, bool visible, Clock::time_point start);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows the number of documents done and their rate: nothing in the first second, then at most ten times a second.
  void update(std::size_t documents, Clock::time_point now);
  // Removes the line, so that a message can be written; the next update brings it back.
  void clear();

 private:
  std::ostream& out_;
  bool visible_;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point next_;
};

}  // namespace rtgpu
