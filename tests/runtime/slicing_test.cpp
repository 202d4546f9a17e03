#include "runtime/device/slicing.h"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

std::vector<Slice> slices_of(const Sliced& grid) {
  std::vector<Slice> slices;
  for (const Slice part : grid) slices.push_back(part);
  return slices;
}

TEST(Slicing, TheLastSliceIsShorter) {
  const std::vector<Slice> expected = {{0, 4, 0, 3}, {4, 4, 1, 3}, {8, 2, 2, 3}};
  EXPECT_EQ(slices_of(sliced(10, 4)), expected);
}

TEST(Slicing, AnExactMultipleHasNoShortSlice) {
  const std::vector<Slice> expected = {{0, 4, 0, 2}, {4, 4, 1, 2}};
  EXPECT_EQ(slices_of(sliced(8, 4)), expected);
}

TEST(Slicing, ASliceLargerThanTheGridIsTheGrid) {
  EXPECT_EQ(slices_of(sliced(3, 64)), (std::vector<Slice>{{0, 3, 0, 1}}));
}

TEST(Slicing, NoBlocksAreNoSlices) {
  EXPECT_EQ(sliced(0, 4).count(), 0);
  EXPECT_TRUE(slices_of(sliced(0, 4)).empty());
  EXPECT_TRUE(slices_of(sliced(-5, 4)).empty());
}

TEST(Slicing, LessThanOneBlockInASliceIsOne) {
  const std::vector<Slice> expected = {{0, 1, 0, 2}, {1, 1, 1, 2}};
  EXPECT_EQ(slices_of(sliced(2, 0)), expected);
  EXPECT_EQ(slices_of(sliced(2, -7)), expected);
}

TEST(Slicing, LargeGridsDoNotOverflow) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kOneSlice = kLargest;
  EXPECT_EQ(slices_of(sliced(kLargest, kOneSlice)), (std::vector<Slice>{{0, kLargest, 0, 1}}));

  const Sliced many = sliced(kLargest, 1);
  EXPECT_EQ(many.count(), std::numeric_limits<int>::max());
  const Slice last = many.slice(many.count() - 1);
  EXPECT_EQ(last.first_block + last.blocks, kLargest);
  EXPECT_GE(last.blocks, 1);
}

TEST(Slicing, SlicesCoverTheGridOnceAndInOrder) {
  for (std::int64_t blocks = 0; blocks < 40; ++blocks) {
    for (std::int64_t size = 1; size < 45; ++size) {
      std::int64_t next = 0;
      int index = 0;
      const Sliced grid = sliced(blocks, size);
      for (const Slice part : grid) {
        ASSERT_EQ(part.first_block, next) << blocks << " in " << size;
        ASSERT_EQ(part.index, index++);
        ASSERT_EQ(part.count, grid.count());
        ASSERT_GE(part.blocks, 1);
        ASSERT_LE(part.blocks, size);
        next += part.blocks;
      }
      ASSERT_EQ(next, blocks);
    }
  }
}

}  // namespace
}  // namespace rtgpu
