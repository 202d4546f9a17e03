#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <cstdint>

namespace rtgpu::gpu_kernels {
namespace {

__device__ std::uint64_t clock_now() {
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__device__ void wait(std::uint64_t nanoseconds) {
  const std::uint64_t begin = clock_now();
  while (clock_now() - begin < nanoseconds) {
  }
}

__device__ void add_values(std::uint32_t* values, GridDim grid, BlockIndex block) {
  const std::int64_t place = linear_index(grid, block) * kThreads + threadIdx.x;
  atomicAdd(&values[place], value_of(block, threadIdx.x));
}

__global__ void count_kernel(std::uint32_t* values, GridDim grid, GridSlice slice) {
  add_values(values, grid, block_of(slice, grid, blockIdx.x));
}

__global__ void count_persistently_kernel(std::uint32_t* values, GridDim grid, SmShare share) {
  for (const std::int64_t index : PersistentBlocks(share, blockIdx.x, blocks_of(grid))) {
    add_values(values, grid, block_at(grid, index));
  }
}

__global__ void nothing_kernel() {}

__global__ void spin_kernel(std::uint64_t nanoseconds, Stamps* stamps) {
  if (stamps != nullptr && threadIdx.x == 0) atomicMin(&stamps->begin, clock_now());
  wait(nanoseconds);
  if (stamps != nullptr && threadIdx.x == 0) atomicMax(&stamps->end, clock_now());
}

__global__ void occupy_kernel(std::uint64_t nanoseconds, std::uint32_t* blocks_of_sm) {
  if (threadIdx.x == 0) {
    std::uint32_t sm = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    atomicAdd(&blocks_of_sm[sm], 1U);
  }
  wait(nanoseconds);
}

__global__ void write_astray_kernel(int* nowhere) {
  *nowhere = 1;
}

template <class Kernel>
bool load_kernel(Kernel* kernel) {
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess;
}

}  // namespace

bool load() {
  return load_kernel(count_kernel) && load_kernel(count_persistently_kernel) && load_kernel(nothing_kernel) &&
         load_kernel(spin_kernel) && load_kernel(occupy_kernel) && load_kernel(write_astray_kernel);
}

void count(CUstream_st* stream, std::uint32_t* values, GridDim grid, GridSlice slice) {
  count_kernel<<<static_cast<std::uint32_t>(slice.blocks), kThreads, 0, stream>>>(values, grid, slice);
}

void count_persistently(CUstream_st* stream, std::uint32_t* values, GridDim grid, SmShare share) {
  count_persistently_kernel<<<share.count, kThreads, 0, stream>>>(values, grid, share);
}

void nothing(CUstream_st* stream) {
  nothing_kernel<<<1, 1, 0, stream>>>();
}

void spin(CUstream_st* stream, std::uint32_t blocks, std::uint32_t threads, std::uint64_t nanoseconds, Stamps* stamps) {
  spin_kernel<<<blocks, threads, 0, stream>>>(nanoseconds, stamps);
}

void occupy(CUstream_st* stream, std::uint32_t blocks, std::uint64_t nanoseconds, std::uint32_t* blocks_of_sm) {
  occupy_kernel<<<blocks, kFullBlock, 0, stream>>>(nanoseconds, blocks_of_sm);
}

// An address that no allocation has.
void write_astray(CUstream_st* stream) {
  write_astray_kernel<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(std::uintptr_t{256}));
}

int blocks_per_sm(std::uint32_t threads) {
  int blocks = 0;
  const cudaError_t result =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, spin_kernel, static_cast<int>(threads), 0);
  return result == cudaSuccess ? blocks : 0;
}

void* spin_function() {
  cudaFunction_t function = nullptr;
  const cudaError_t result = cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(spin_kernel));
  return result == cudaSuccess ? static_cast<void*>(function) : nullptr;
}

}  // namespace rtgpu::gpu_kernels
