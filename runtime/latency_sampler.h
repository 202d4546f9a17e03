// How late the machine lets the highest thread of a CPU run: what no task can be protected from.
#pragma once

#include "rtgpu/time.h"
#include "runtime/histogram.h"
#include "runtime/machine/machine.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rtgpu {

// A time at which the machine was late.
struct Lateness {
  Duration when;
  Duration length;
};

// Notes times at which the machine was late. Allocates nothing after construction.
class LatenessLog {
 public:
  LatenessLog();
  void clear();
  void add(Lateness lateness);
  std::span<const Lateness> seen() const { return seen_; }
  bool is_full() const { return full_; }  // some could not be noted

 private:
  std::vector<Lateness> seen_;
  bool full_ = false;
};

// The longest time lost in any window of this length. `seen` is by time. Linear.
Duration lost_in_window(std::span<const Lateness> seen, Duration window);

// Runs on a thread of the runtime beside the tasks of one core: wakes up again and again, above all tasks, and notes
// how late it is. A stop of the CPU that is longer than the interval shows less the interval at most.
class LatencySampler {
 public:
  static constexpr Duration kInterval = Duration::microseconds(500);

  explicit LatencySampler(int core);

  int core() const { return core_; }
  // The thread, until stop().
  void run(Machine& machine);
  void stop(Machine& machine);

  // Longer than waking up takes: the CPU did something else meanwhile. What is shorter is counted in the histogram
  // alone.
  static constexpr Duration kNoted = Duration::microseconds(200);

  // After the run.
  const Histogram& latency() const { return latency_; }
  const LatenessLog& late() const { return late_; }

 private:
  int core_;
  Signal signal_;
  std::atomic<bool> stopping_ = false;
  Histogram latency_;
  LatenessLog late_;
};

}  // namespace rtgpu
