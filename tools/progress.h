// A line on a terminal that tells how far long work is.
#pragma once

#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace rtgpu {

class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // Writes to `out`, which outlives this object, if `visible`. `things` names what is counted.
  Progress(std::ostream& out, bool visible, Clock::time_point start, std::string_view things = "documents");
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // How many things there are in all, of which some were done before: the line then shows a bar and the time left.
  void expect(std::size_t total, std::size_t done_before);
  // Shows how many things are done, and their rate: nothing in the first second, then at most ten times a second.
  void update(std::size_t done, Clock::time_point now);
  // Removes the line, so that a message can be written; the next update brings it back.
  void clear();

 private:
  std::string text(std::size_t done, double seconds) const;

  std::ostream& out_;
  bool visible_;
  std::string_view things_;
  bool shown_ = false;
  Clock::time_point start_;
  Clock::time_point next_;
  std::size_t total_ = 0;  // 0: not known
  std::size_t done_before_ = 0;
};

}  // namespace rtgpu
