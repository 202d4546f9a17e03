#pragma once

#include "rtgpu/gpu_policy.h"

#include <cstdint>

namespace rtgpu {

// Of which job something is, and of which of its segments.
struct JobPlace {
  TaskId task = kNobody;
  std::int64_t job = 0;
  std::uint16_t segment = 0;
};

}  // namespace rtgpu
