#include "runtime/latency_sampler.h"

#include <algorithm>

namespace rtgpu {
namespace {

// 1 MiB: an hour of a machine that is late eighteen times a second.
constexpr std::size_t kMostNoted = 1U << 16U;

}  // namespace

LatenessLog::LatenessLog() {
  seen_.reserve(kMostNoted);
}

void LatenessLog::clear() {
  seen_.clear();
  full_ = false;
}

void LatenessLog::add(Lateness lateness) {
  if (seen_.size() < kMostNoted) {
    seen_.push_back(lateness);
  } else {
    full_ = true;
  }
}

Duration lost_in_window(std::span<const Lateness> seen, Duration window) {
  Duration longest;
  Duration lost;
  std::size_t first = 0;
  for (const Lateness& each : seen) {
    lost += each.length;
    while (each.when - seen[first].when > window) lost -= seen[first++].length;
    longest = std::max(longest, lost);
  }
  return longest;
}

LatencySampler::LatencySampler(int core) : core_(core) {}

void LatencySampler::run(Machine& machine) {
  Duration next = kInterval;
  while (!stopping_.load(std::memory_order_acquire)) {
    machine.wait(signal_, Waiting::suspended, next);
    const Duration late = machine.now() - next;
    if (late < Duration()) continue;  // woken to stop
    latency_.add(late);
    if (late >= kNoted) late_.add({next, late});
    // What it slept through is part of the same lateness.
    next += kInterval * ceil_div(std::max(late, Duration::nanoseconds(1)), kInterval);
  }
}

void LatencySampler::stop(Machine& machine) {
  stopping_.store(true, std::memory_order_release);
  machine.notify(signal_);
}

}  // namespace rtgpu
