// How long the blocks of a kernel take on this device, and a launch of it: what blocks_per_slice() needs.
#pragma once

#include "rtgpu/result.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/device/slice_size.h"

#include <cstdint>
#include <functional>

struct CUstream_st;  // of the CUDA driver

namespace rtgpu {

// A kernel that takes its grid in slices.
struct KernelToMeasure {
  std::int64_t blocks = 1;             // of its grid, at least 1
  std::int64_t concurrent_blocks = 1;  // that the SMs it is going to have hold at once, at least 1
  // Launches the blocks [first_block, first_block + blocks) into the stream.
  std::function<void(CUstream_st* stream, std::int64_t first_block, std::int64_t blocks)> launch = {};
  int runs = 20;  // of each part, at least 1
};

// Launches the grid in parts of as many blocks as run at once, `runs` times, on an idle device, and takes the longest
// of each: of what the device measured for a part (the block time), and of what the host saw beyond that (the launch
// time). A maximum of measurements, which other data, other clocks or a busy device can exceed: leave room. Set-up:
// waits for the device. Errors: value, a number out of its range or no function; environment, those of the driver, or
// what a launch ended with.
Result<KernelTiming> measure_kernel(int device, const KernelToMeasure& kernel, const CudaOptions& options = {});

}  // namespace rtgpu
