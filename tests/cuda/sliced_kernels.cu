// Kernels and launches as the comment of sliced_grid.h shows them.
#include "runtime/device/sliced_grid.h"

#include <cstdint>

namespace {

__global__ void number_blocks(std::int64_t* numbers, rtgpu::GridDim grid, rtgpu::GridSlice slice) {
  const rtgpu::BlockIndex block = rtgpu::block_of(slice, grid, blockIdx.x);
  numbers[rtgpu::linear_index(grid, block)] = rtgpu::linear_index(grid, block);
}

__global__ void number_blocks_persistently(std::int64_t* numbers, rtgpu::GridDim grid, rtgpu::GridSlice slice,
                                           rtgpu::SmShare share) {
  for (const std::int64_t index : rtgpu::PersistentBlocks(share, blockIdx.x, slice.blocks)) {
    const rtgpu::BlockIndex block = rtgpu::block_of(slice, grid, index);
    numbers[rtgpu::linear_index(grid, block)] = rtgpu::linear_index(grid, block);
    __syncthreads();
  }
}

}  // namespace

void launch_slice(std::int64_t* numbers, rtgpu::GridDim grid, rtgpu::GridSlice slice, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(slice.blocks);
  number_blocks<<<blocks, 1, 0, stream>>>(numbers, grid, {slice.first_block, slice.blocks});
}

void launch_persistent(std::int64_t* numbers, rtgpu::GridDim grid, rtgpu::SmShare share, cudaStream_t stream) {
  number_blocks_persistently<<<share.count, 1, 0, stream>>>(numbers, grid, {0, rtgpu::blocks_of(grid)}, share);
}
