// How many blocks a slice may have, and what slicing costs: kernel partitioning in time with a bound on blocking.
//
// A device runs the blocks of a launch in waves of as many as it can hold at once, each wave as long as the longest
// block, after the time that a launch takes. The next slice is launched when the one before has ended. Others wait for
// the end of a slice: its length is the blocking that they see.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"

#include <cstdint>

namespace rtgpu {

// A kernel's grid and its times, declared or measured in the worst case.
struct KernelTiming {
  std::int64_t blocks = 1;             // at least 1
  std::int64_t concurrent_blocks = 1;  // that the SMs it may use hold at once, at least 1
  Duration block_time;                 // of the longest block among as many others; finite
  Duration launch_time;  // from the launch until blocks begin, and from their end until it is seen; finite
};

// The most blocks in a slice that takes no longer than `budget`, 1 to kernel.blocks:
//   launch_time + ceil(blocks / concurrent_blocks) * block_time <= budget
// An infinite budget allows the whole grid. Errors (value): a number out of its range, all that are; a budget in which
// not even one wave of blocks fits, with the least one that would do. Constant time; thread-safe.
Result<std::int64_t> blocks_per_slice(const KernelTiming& kernel, Duration budget);

// By how much longer the kernel takes in slices of `per_slice` blocks, as sliced() makes them, than in one launch: the
// further launches, and the waves that are not full. Infinite if that is no representable time. Errors (value): a
// number out of its range. Constant time; thread-safe.
Result<Duration> slicing_cost(const KernelTiming& kernel, std::int64_t per_slice);

}  // namespace rtgpu
