// Kernels whose effect can be counted, or whose time is known, and functions that launch them into a stream. Pointers
// are to memory that the device can use.
#pragma once

#include "runtime/device/sliced_grid.h"

#include <cstdint>

struct CUstream_st;

namespace rtgpu::gpu_kernels {

inline constexpr std::uint32_t kThreads = 64;  // of a block that counts
inline constexpr std::uint32_t kFullBlock = 1024;

// What a thread of a block adds to its value: all differ within a grid of the tests, and depend on each coordinate.
RTGPU_HOST_DEVICE constexpr std::uint32_t value_of(BlockIndex block, std::uint32_t thread) {
  return ((block.z * 1009U + block.y) * 2003U + block.x) * kThreads + thread + 1U;
}

// The device's clock (%globaltimer, nanoseconds) at the begin of the first block and at the end of the last one.
struct Stamps {
  unsigned long long begin = ~0ULL;
  unsigned long long end = 0;
};

// Loads all kernels, so that no launch has to. Whether that went well.
bool load();

// A slice of `grid` with a block of kThreads for each of its blocks: adds value_of() to
// values[linear_index * kThreads + thread].
void count(CUstream_st* stream, std::uint32_t* values, GridDim grid, GridSlice slice);
// The same of the whole grid, by share.count persistent blocks.
void count_persistently(CUstream_st* stream, std::uint32_t* values, GridDim grid, SmShare share);

// A block that does nothing.
void nothing(CUstream_st* stream);
// `blocks` blocks that take `nanoseconds` each; `stamps` may be null.
void spin(CUstream_st* stream, std::uint32_t blocks, std::uint32_t threads, std::uint64_t nanoseconds, Stamps* stamps);
// The same with full blocks, which count themselves in blocks_of_sm[%smid].
void occupy(CUstream_st* stream, std::uint32_t blocks, std::uint64_t nanoseconds, std::uint32_t* blocks_of_sm);
// Writes where no memory is.
void write_astray(CUstream_st* stream);

// How many blocks of spin() an SM holds at once; 0 if that cannot be told.
int blocks_per_sm(std::uint32_t threads);
// spin() as a CUfunction of the driver API; null if there is none.
void* spin_function();

}  // namespace rtgpu::gpu_kernels
