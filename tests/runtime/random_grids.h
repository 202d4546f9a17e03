// Random grids, and the blocks of a grid in the plainest way.
#pragma once

#include "runtime/device/sliced_grid.h"
#include "runtime/device/slicing.h"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <tuple>
#include <vector>

namespace rtgpu {

inline bool operator==(BlockIndex a, BlockIndex b) {
  return std::tuple(a.x, a.y, a.z) == std::tuple(b.x, b.y, b.z);
}
inline void PrintTo(BlockIndex block, std::ostream* out) {
  *out << '(' << block.x << ", " << block.y << ", " << block.z << ')';
}
inline void PrintTo(GridDim grid, std::ostream* out) {
  *out << grid.x << 'x' << grid.y << 'x' << grid.z;
}

inline GridSlice grid_slice(const Slice& slice) {
  return {slice.first_block, slice.blocks};
}

// What a launch of the whole grid has, by three loops.
inline std::vector<BlockIndex> blocks_in_order(GridDim grid) {
  std::vector<BlockIndex> blocks;
  for (std::uint32_t z = 0; z < grid.z; ++z) {
    for (std::uint32_t y = 0; y < grid.y; ++y) {
      for (std::uint32_t x = 0; x < grid.x; ++x) blocks.push_back({x, y, z});
    }
  }
  return blocks;
}

class RandomGrids {
 public:
  explicit RandomGrids(std::uint64_t seed) : engine_(seed) {}

  std::int64_t up_to(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(engine_); }
  // One to three dimensions, each of up to so many blocks.
  GridDim grid(std::int64_t most_in_x, std::int64_t most_in_y_or_z) {
    const std::int64_t dimensions = up_to(3);
    GridDim grid;
    grid.x = static_cast<std::uint32_t>(up_to(most_in_x));
    if (dimensions >= 2) grid.y = static_cast<std::uint32_t>(up_to(most_in_y_or_z));
    if (dimensions >= 3) grid.z = static_cast<std::uint32_t>(up_to(most_in_y_or_z));
    return grid;
  }
  // Large and small numbers alike.
  std::int64_t magnitude_up_to(std::int64_t most) {
    const std::int64_t bits = up_to(63);
    return up_to(std::min(most, static_cast<std::int64_t>((std::uint64_t{1} << bits) - 1)));
  }
  GridDim grid_of_any_magnitude() { return grid(magnitude_up_to(kMostBlocksInX), magnitude_up_to(kMostBlocksInYOrZ)); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace rtgpu
