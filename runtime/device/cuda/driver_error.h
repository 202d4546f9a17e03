// What the CUDA driver's results mean.
#pragma once

#include "runtime/device/cuda/driver_api.h"

#include <cstdint>
#include <string>

namespace rtgpu::cuda {

// What a result means for a run. The choice for each is in driver_error.cpp, by group, with the reason.
enum class Severity : std::uint8_t {
  none,            // no error
  retry,           // not yet: the same call can succeed later, and nothing is lost
  segment_failed,  // this call had no effect, and others go on
  device_lost,     // every later call fails too, until the process ends: the device is of no use to it any more
};

// Of a value that is not known (of a later driver, say): device_lost, since it may be one that stays.
// O(log n) in the known values; neither throws nor allocates.
Severity severity_of(CUresult result);

// "CUDA_ERROR_ILLEGAL_ADDRESS (700): a kernel used memory that is not there". Allocates.
std::string describe(CUresult result);

}  // namespace rtgpu::cuda
