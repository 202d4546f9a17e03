// How far a run is, in a line.
#pragma once

#include "rtgpu/time.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace rtgpu {

struct LiveTask {
  std::string name;
  std::int64_t jobs = 0;
  std::int64_t misses = 0;
  Duration max_response;
  std::optional<Duration> bound = {};
};

// "12.3s of 60s  1234 jobs  0 missed  largest max/bound 0.530 (camera)". Without `elapsed`, as in virtual time, and
// without a bound, less.
std::string live_text(std::span<const LiveTask> tasks, std::optional<Duration> elapsed, Duration duration);

}  // namespace rtgpu
