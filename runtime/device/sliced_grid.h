// Where a block of a kernel is in the kernel's grid, if it was launched in another way than as that grid: in slices
// (partitioning in time), or by persistent blocks (partitioning of the SMs). For host code and for CUDA device code.
//
// A kernel in slices. It is launched once for each slice, with a grid of one dimension and slice.blocks blocks, and
// takes what it used to take from blockIdx and gridDim from here:
//
//   __global__ void blur(Image image, rtgpu::GridDim grid, rtgpu::GridSlice slice) {
//     const rtgpu::BlockIndex block = rtgpu::block_of(slice, grid, blockIdx.x);  // instead of blockIdx
//     ...                                                                        // grid instead of gridDim
//   }
//   job.gpu("blur", sliced(rtgpu::blocks_of(grid), 64), [&](Stream s, Slice part) {
//     const auto blocks = static_cast<unsigned>(part.blocks);
//     blur<<<blocks, threads, 0, s.cuda()>>>(image, grid, {part.first_block, part.blocks});
//   });
//
// By persistent blocks. The kernel is launched with share.count blocks, each so large that an SM holds one of them;
// they do the blocks of the grid, or of a slice of it, in turns:
//
//   for (const std::int64_t index : rtgpu::PersistentBlocks(share, blockIdx.x, slice.blocks)) {
//     const rtgpu::BlockIndex block = rtgpu::block_of(slice, grid, index);
//     ...
//     __syncthreads();  // if the next block uses the same shared memory
//   }
//
// Both are for kernels whose blocks do not wait for each other: no synchronisation of the whole grid.
//
// C++17, and nothing but <cstdint>, so that every kernel can include it. All functions are pure and take constant time.
// Linear indices have 64 bits: none overflows for a grid that is_launchable().
#pragma once

#include <cstdint>

// The one macro of this project: host compilers do not know these words, and CUDA knows no other way to say this.
#ifdef __CUDACC__
#define RTGPU_HOST_DEVICE __host__ __device__
#else
#define RTGPU_HOST_DEVICE
#endif

namespace rtgpu {

// The blocks of a grid in each dimension, as CUDA's gridDim.
struct GridDim {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

// The place of a block in its grid, as CUDA's blockIdx.
struct BlockIndex {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
};

// The blocks [first_block, first_block + blocks) of a grid, by their linear indices.
struct GridSlice {
  std::int64_t first_block = 0;
  std::int64_t blocks = 0;
};

// CUDA's limits: the blocks of a grid in x, and so those of a slice, and the blocks in y and in z.
inline constexpr std::uint32_t kMostBlocksInX = 2'147'483'647;
inline constexpr std::uint32_t kMostBlocksInYOrZ = 65'535;

RTGPU_HOST_DEVICE constexpr bool is_launchable(GridDim grid) {
  return grid.x >= 1 && grid.x <= kMostBlocksInX && grid.y >= 1 && grid.y <= kMostBlocksInYOrZ && grid.z >= 1 &&
         grid.z <= kMostBlocksInYOrZ;
}

// Below 2^63 for a grid that is launchable.
RTGPU_HOST_DEVICE constexpr std::int64_t blocks_of(GridDim grid) {
  return static_cast<std::int64_t>(grid.x) * grid.y * grid.z;
}

// From 0 on, x first, then y, then z: in the order in which CUDA numbers threads. `block` is one of the grid.
RTGPU_HOST_DEVICE constexpr std::int64_t linear_index(GridDim grid, BlockIndex block) {
  return (static_cast<std::int64_t>(block.z) * grid.y + block.y) * grid.x + block.x;
}

// The reverse. The grid is launchable, and 0 <= linear < blocks_of(grid).
RTGPU_HOST_DEVICE constexpr BlockIndex block_at(GridDim grid, std::int64_t linear) {
  // A GPU has no instruction for division: 32 bits take it a fraction of the time of 64, and are enough for most grids.
  if (linear <= UINT32_MAX) {
    const auto index = static_cast<std::uint32_t>(linear);
    const std::uint32_t row = index / grid.x;
    return {index % grid.x, row % grid.y, row / grid.y};
  }
  const auto index = static_cast<std::uint64_t>(linear);
  const std::uint64_t row = index / grid.x;
  return {static_cast<std::uint32_t>(index % grid.x), static_cast<std::uint32_t>(row % grid.y),
          static_cast<std::uint32_t>(row / grid.y)};
}

// The block of the grid that is number `index` of the slice, 0 <= index < slice.blocks.
RTGPU_HOST_DEVICE constexpr BlockIndex block_of(GridSlice slice, GridDim grid, std::int64_t index) {
  return block_at(grid, slice.first_block + index);
}

// The SMs [first, first + count) of the `total` that a device has. A launch of `count` persistent blocks takes no more
// SMs than that, whichever the hardware chooses.
struct SmShare {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t total = 1;
};

RTGPU_HOST_DEVICE constexpr bool is_valid(SmShare share) {
  return share.count >= 1 && share.first < share.total && share.count <= share.total - share.first;
}

// Whether an SM, by its number (%smid), is in the share. To be told apart from the number of a persistent block: the
// hardware may put two of these on one SM and none on another, so the SM's number must not decide which blocks are
// done.
RTGPU_HOST_DEVICE constexpr bool contains(SmShare share, std::uint32_t sm) {
  return sm >= share.first && sm - share.first < share.count;
}

// Of `blocks` blocks those that persistent block number `persistent_block` of a launch of share.count does: every
// share.count-th. Together the persistent blocks of the launch do each block exactly once; one whose number is not
// below share.count does none. The share is valid; `blocks` is that of a launchable grid or of a part of it.
class PersistentBlocks {
 public:
  struct End {};
  class Iterator {
   public:
    RTGPU_HOST_DEVICE constexpr Iterator(std::int64_t index, std::int64_t stride, std::int64_t blocks)
        : index_(index), stride_(stride), blocks_(blocks) {}
    RTGPU_HOST_DEVICE constexpr std::int64_t operator*() const { return index_; }
    RTGPU_HOST_DEVICE constexpr Iterator& operator++() {
      index_ += stride_;  // cannot overflow: the largest grid has 2^48 blocks less than the largest number
      return *this;
    }
    RTGPU_HOST_DEVICE friend constexpr bool operator!=(const Iterator& iterator, End /*end*/) {
      return iterator.index_ < iterator.blocks_;
    }

   private:
    std::int64_t index_;
    std::int64_t stride_;
    std::int64_t blocks_;
  };

  RTGPU_HOST_DEVICE constexpr PersistentBlocks(SmShare share, std::uint32_t persistent_block, std::int64_t blocks)
      : first_(persistent_block < share.count ? persistent_block : blocks), stride_(share.count), blocks_(blocks) {}

  RTGPU_HOST_DEVICE constexpr Iterator begin() const { return {first_, stride_, blocks_}; }
  RTGPU_HOST_DEVICE constexpr End end() const { return {}; }

 private:
  std::int64_t first_;
  std::int64_t stride_;
  std::int64_t blocks_;
};

}  // namespace rtgpu
