// How the SMs of a device are divided: the plan alone, without a driver.
#pragma once

#include "rtgpu/result.h"

#include <span>
#include <vector>

namespace rtgpu::cuda {

// What a device can set aside: whole units, all of one size.
struct SmUnits {
  int unit = 1;   // SMs in one, at least 1
  int units = 0;  // that there are
  int sms = 0;    // of the device, with those that are in no unit
};

// How many units each partition takes, in the order of `asked` (SMs, each rounded up to whole units). With `needs_rest`
// at least one SM is left over. Errors (limit): a partition of less than one SM; they do not fit, and then it says what
// would. O(n * units).
Result<std::vector<int>> plan_sm_split(std::span<const int> asked, const SmUnits& device, bool needs_rest);

}  // namespace rtgpu::cuda
