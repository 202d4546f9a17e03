// Grids in slices and by persistent blocks: every block exactly once, at its own place, and the same results.
#include "runtime/device/sliced_grid.h"

#include "runtime/device/slicing.h"
#include "tests/runtime/random_grids.h"
#include "tests/runtime/sliced_kernels.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

constexpr GridDim kLargestGrid{kMostBlocksInX, kMostBlocksInYOrZ, kMostBlocksInYOrZ};

// All slices of a grid, each as its blocks see it.
std::vector<BlockIndex> blocks_in_slices(GridDim grid, std::int64_t per_slice) {
  std::vector<BlockIndex> blocks;
  for (const Slice part : sliced(blocks_of(grid), per_slice)) {
    for (std::int64_t index = 0; index < part.blocks; ++index) {
      blocks.push_back(block_of(grid_slice(part), grid, index));
    }
  }
  return blocks;
}

TEST(SlicedGrid, OneDimension) {
  const std::vector<BlockIndex> expected = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}, {4, 0, 0}};
  EXPECT_EQ(blocks_in_slices({5, 1, 1}, 2), expected);
  EXPECT_EQ(block_of({2, 2}, {5, 1, 1}, 1), (BlockIndex{3, 0, 0}));
}

TEST(SlicedGrid, TwoDimensions) {
  const std::vector<BlockIndex> expected = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 1, 0}};
  EXPECT_EQ(blocks_in_slices({3, 2, 1}, 4), expected);
  EXPECT_EQ(block_of({4, 2}, {3, 2, 1}, 1), (BlockIndex{2, 1, 0}));
}

TEST(SlicedGrid, ThreeDimensions) {
  EXPECT_EQ(blocks_in_slices({4, 3, 2}, 5), blocks_in_order({4, 3, 2}));
  EXPECT_EQ(block_of({10, 5}, {4, 3, 2}, 0), (BlockIndex{2, 2, 0}));
  EXPECT_EQ(block_of({10, 5}, {4, 3, 2}, 2), (BlockIndex{0, 0, 1}));
  EXPECT_EQ(linear_index({4, 3, 2}, {1, 2, 1}), 21);
  // A dimension of one block between two others, and in x.
  EXPECT_EQ(block_at({4, 1, 2}, 5), (BlockIndex{1, 0, 1}));
  EXPECT_EQ(block_at({1, 3, 2}, 5), (BlockIndex{0, 2, 1}));
}

TEST(SlicedGrid, OneBlockInASliceAndOneSlice) {
  EXPECT_EQ(blocks_in_slices({3, 3, 3}, 1), blocks_in_order({3, 3, 3}));
  EXPECT_EQ(blocks_in_slices({3, 3, 3}, 1'000), blocks_in_order({3, 3, 3}));
}

TEST(SlicedGrid, LimitsOfAGrid) {
  EXPECT_TRUE(is_launchable({1, 1, 1}));
  EXPECT_TRUE(is_launchable(kLargestGrid));
  EXPECT_FALSE(is_launchable({0, 1, 1}));
  EXPECT_FALSE(is_launchable({1, 0, 1}));
  EXPECT_FALSE(is_launchable({1, 1, 0}));
  EXPECT_FALSE(is_launchable({0x8000'0000U, 1, 1}));
  EXPECT_FALSE(is_launchable({1, 65'536, 1}));
  EXPECT_FALSE(is_launchable({1, 1, 65'536}));
}

TEST(SlicedGrid, TheLargestGridDoesNotOverflow) {
  constexpr std::int64_t kBlocks = 9'223'090'559'730'712'575;  // (2^31 - 1) * 65535^2
  EXPECT_EQ(blocks_of(kLargestGrid), kBlocks);
  EXPECT_EQ(block_at(kLargestGrid, kBlocks - 1), (BlockIndex{2'147'483'646, 65'534, 65'534}));
  EXPECT_EQ(linear_index(kLargestGrid, {2'147'483'646, 65'534, 65'534}), kBlocks - 1);
  EXPECT_EQ(block_of({kBlocks - 10, 10}, kLargestGrid, 0), (BlockIndex{2'147'483'637, 65'534, 65'534}));
}

TEST(SlicedGrid, IndicesOnBothSidesOf32Bits) {
  constexpr GridDim kGrid{65'536, 65'535, 3};
  // 2^32 = 65535 rows of 2^16, and one row more: the first row of the second layer.
  EXPECT_EQ(block_at(kGrid, 0xffff'ffff), (BlockIndex{65'535, 0, 1}));
  EXPECT_EQ(block_at(kGrid, 0x1'0000'0000), (BlockIndex{0, 1, 1}));
  EXPECT_EQ(block_at({kMostBlocksInX, 4, 1}, 0x1'0000'0000), (BlockIndex{2, 2, 0}));
}

TEST(SlicedGrid, SmallGridsAreCoveredOnceAndInOrder) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  RandomGrids random(seed);
  for (int round = 0; round < 10'000; ++round) {
    const GridDim grid = random.grid(12, 6);
    const std::int64_t per_slice = random.up_to(blocks_of(grid) + 2);
    const std::vector<BlockIndex> blocks = blocks_in_slices(grid, per_slice);
    const std::vector<BlockIndex> expected = blocks_in_order(grid);
    // Compared first as a whole: one assertion for each grid is quick.
    if (blocks != expected) {
      FAIL() << ::testing::PrintToString(grid) << " in " << per_slice << ": " << ::testing::PrintToString(blocks);
    }
  }
}

// The block after this one in the order of a whole grid.
BlockIndex successor(GridDim grid, BlockIndex block) {
  if (++block.x < grid.x) return block;
  block.x = 0;
  if (++block.y < grid.y) return block;
  block.y = 0;
  ++block.z;
  return block;
}

bool is_within(GridDim grid, BlockIndex block) {
  return block.x < grid.x && block.y < grid.y && block.z < grid.z;
}

// With each index its own block of the grid, and the slices following each other without a gap, each block is covered
// exactly once.
void check_large_grid(RandomGrids& random, GridDim grid, std::int64_t per_slice) {
  const std::int64_t blocks = blocks_of(grid);
  const Sliced slices = sliced(blocks, per_slice);
  ASSERT_EQ(block_of(grid_slice(slices.slice(0)), grid, 0), BlockIndex());
  for (int sample = 0; sample < 8; ++sample) {
    const Slice part = slices.slice(static_cast<int>(random.up_to(slices.count()) - 1));
    const std::int64_t index = random.up_to(part.blocks) - 1;
    const BlockIndex block = block_of(grid_slice(part), grid, index);
    ASSERT_TRUE(is_within(grid, block)) << ::testing::PrintToString(block);
    ASSERT_EQ(linear_index(grid, block), part.first_block + index);

    const BlockIndex last = block_of(grid_slice(part), grid, part.blocks - 1);
    const BlockIndex next = successor(grid, last);
    if (part.index + 1 == part.count) {
      ASSERT_EQ(next, (BlockIndex{0, 0, grid.z}));
    } else {
      ASSERT_EQ(block_of(grid_slice(slices.slice(part.index + 1)), grid, 0), next);
    }
  }
}

TEST(SlicedGrid, GridsOfAnySizeAreCoveredOnceAndInOrder) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  RandomGrids random(seed);
  for (int round = 0; round < 10'000; ++round) {
    const GridDim grid = round == 0 ? kLargestGrid : random.grid_of_any_magnitude();
    ASSERT_TRUE(is_launchable(grid)) << ::testing::PrintToString(grid);
    const std::int64_t per_slice = random.magnitude_up_to(blocks_of(grid));
    check_large_grid(random, grid, per_slice);
    if (::testing::Test::HasFatalFailure()) FAIL() << ::testing::PrintToString(grid) << " in " << per_slice;
  }
}

std::vector<std::int64_t> indices_of(SmShare share, std::uint32_t persistent_block, std::int64_t blocks) {
  std::vector<std::int64_t> indices;
  for (const std::int64_t index : PersistentBlocks(share, persistent_block, blocks)) indices.push_back(index);
  return indices;
}

TEST(PersistentBlocks, TakeTurns) {
  constexpr SmShare kShare{4, 3, 16};
  EXPECT_EQ(indices_of(kShare, 0, 8), (std::vector<std::int64_t>{0, 3, 6}));
  EXPECT_EQ(indices_of(kShare, 1, 8), (std::vector<std::int64_t>{1, 4, 7}));
  EXPECT_EQ(indices_of(kShare, 2, 8), (std::vector<std::int64_t>{2, 5}));
}

TEST(PersistentBlocks, ThatAreTooManyDoNothing) {
  constexpr SmShare kShare{0, 3, 3};
  EXPECT_EQ(indices_of(kShare, 1, 1), std::vector<std::int64_t>());
  EXPECT_EQ(indices_of(kShare, 0, 0), std::vector<std::int64_t>());
  EXPECT_EQ(indices_of(kShare, 3, 8), std::vector<std::int64_t>());
  EXPECT_EQ(indices_of(kShare, 0xffff'ffff, 8), std::vector<std::int64_t>());
}

TEST(PersistentBlocks, ReachTheEndOfTheLargestGrid) {
  constexpr SmShare kShare{0, 0xffff'ffff, 0xffff'ffff};
  const std::int64_t blocks = blocks_of(kLargestGrid);
  PersistentBlocks::Iterator last(blocks - 1, kShare.count, blocks);
  EXPECT_TRUE(last != PersistentBlocks::End());
  ++last;
  EXPECT_FALSE(last != PersistentBlocks::End());
}

TEST(PersistentBlocks, DoEveryBlockOnce) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  RandomGrids random(seed);
  for (int round = 0; round < 10'000; ++round) {
    const std::int64_t blocks = random.up_to(200);
    const auto count = static_cast<std::uint32_t>(random.up_to(20));
    std::vector<int> done(static_cast<std::size_t>(blocks));
    for (std::uint32_t persistent = 0; persistent < count; ++persistent) {
      for (const std::int64_t index : PersistentBlocks({0, count, count}, persistent, blocks)) {
        ++done.at(static_cast<std::size_t>(index));
      }
    }
    ASSERT_EQ(std::ranges::count(done, 1), blocks) << blocks << " blocks by " << count;
  }
}

TEST(SmShare, IsAPartOfADevice) {
  EXPECT_TRUE(is_valid({0, 132, 132}));
  EXPECT_TRUE(is_valid({131, 1, 132}));
  EXPECT_FALSE(is_valid({0, 0, 132}));
  EXPECT_FALSE(is_valid({131, 2, 132}));
  EXPECT_FALSE(is_valid({132, 0, 132}));
  EXPECT_FALSE(is_valid({133, 1, 132}));
  EXPECT_FALSE(is_valid({2, 0xffff'ffff, 132}));
}

TEST(SmShare, ContainsItsSms) {
  constexpr SmShare kShare{4, 3, 16};
  EXPECT_FALSE(contains(kShare, 3));
  EXPECT_TRUE(contains(kShare, 4));
  EXPECT_TRUE(contains(kShare, 6));
  EXPECT_FALSE(contains(kShare, 7));
  EXPECT_FALSE(contains(kShare, 0));
}

TEST(SlicedGrid, KernelsInSlicesGiveTheSameResults) {
  check_sliced_kernels(std::random_device{}(), 300);
}

}  // namespace
}  // namespace rtgpu
