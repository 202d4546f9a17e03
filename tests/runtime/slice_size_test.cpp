// The size of slices under a bound on blocking, and what slicing costs.
#include "runtime/device/slice_size.h"

#include "runtime/device/slicing.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int64_t>::max();

constexpr Duration us(std::int64_t count) {
  return Duration::microseconds(count);
}

std::int64_t size_of(const KernelTiming& kernel, Duration budget) {
  const Result<std::int64_t> size = blocks_per_slice(kernel, budget);
  EXPECT_TRUE(size) << to_string(size.errors().front());
  return size ? *size : -1;
}

Duration cost_of(const KernelTiming& kernel, std::int64_t per_slice) {
  const Result<Duration> cost = slicing_cost(kernel, per_slice);
  EXPECT_TRUE(cost) << to_string(cost.errors().front());
  return cost ? *cost : Duration::infinite();
}

TEST(SliceSize, IsSoManyFullWaves) {
  // 2 + 3 * 10 = 32, 2 + 4 * 10 = 42.
  const KernelTiming kernel{1'000, 8, us(10), us(2)};
  EXPECT_EQ(size_of(kernel, us(32)), 24);
  EXPECT_EQ(size_of(kernel, us(41)), 24);
  EXPECT_EQ(size_of(kernel, us(42)), 32);
  EXPECT_EQ(size_of(kernel, us(42) - Duration::nanoseconds(1)), 24);
}

TEST(SliceSize, IsAtLeastOneWave) {
  const KernelTiming kernel{1'000, 8, us(10), us(2)};
  EXPECT_EQ(size_of(kernel, us(12)), 8);
  EXPECT_EQ(size_of({5, 8, us(10), us(2)}, us(12)), 5);
}

TEST(SliceSize, IsAtMostTheGrid) {
  // 20 blocks are two full waves and a short one: 32.
  const KernelTiming kernel{20, 8, us(10), us(2)};
  EXPECT_EQ(size_of(kernel, us(31)), 16);
  EXPECT_EQ(size_of(kernel, us(32)), 20);
  EXPECT_EQ(size_of(kernel, us(1'000)), 20);
  EXPECT_EQ(size_of(kernel, Duration::infinite()), 20);
}

TEST(SliceSize, BlocksThatTakeNoTimeAllFit) {
  EXPECT_EQ(size_of({1'000, 8, us(0), us(2)}, us(2)), 1'000);
  EXPECT_EQ(size_of({1'000, 8, us(0), us(0)}, us(0)), 1'000);
}

TEST(SliceSize, DoesNotOverflow) {
  EXPECT_EQ(size_of({kMostBlocks, 1, Duration::nanoseconds(1), us(0)}, Duration::nanoseconds(kMostBlocks - 1)),
            kMostBlocks - 1);
  EXPECT_EQ(size_of({kMostBlocks, kMostBlocks, Duration::nanoseconds(1), us(0)}, us(1)), kMostBlocks);
  EXPECT_EQ(size_of({kMostBlocks, kMostBlocks - 1, Duration::nanoseconds(1), us(0)}, Duration::nanoseconds(1)),
            kMostBlocks - 1);
  EXPECT_EQ(size_of({kMostBlocks, 1'000, Duration::nanoseconds(1), us(0)}, Duration::seconds(1)), 1'000'000'000'000);
}

TEST(SliceSize, ABudgetThatIsTooSmallIsAnErrorWithTheLeast) {
  const KernelTiming kernel{1'000, 8, us(10), us(2)};
  for (const Duration budget : {us(12) - Duration::nanoseconds(1), us(2), us(1), us(0), us(-1)}) {
    const Result<std::int64_t> size = blocks_per_slice(kernel, budget);
    ASSERT_FALSE(size) << to_string(budget);
    ASSERT_EQ(size.errors().size(), 1U);
    const Error& error = size.errors().front();
    EXPECT_EQ(error.code, ErrorCode::value);
    EXPECT_EQ(error.found, "a blocking budget of " + to_string(budget));
    EXPECT_EQ(error.expected, "at least 12us: a launch takes 2us, and a block 10us");
    EXPECT_FALSE(error.advice.empty());
  }
  EXPECT_FALSE(blocks_per_slice({1, 1, us(0), us(2)}, us(1)));
  EXPECT_FALSE(blocks_per_slice(kernel, Duration::nanoseconds(std::numeric_limits<std::int64_t>::min())));
}

TEST(SliceSize, NumbersOutOfTheirRangesAreErrorsAllAtOnce) {
  const KernelTiming wrong{0, -1, us(-1), Duration::infinite()};
  const Result<std::int64_t> size = blocks_per_slice(wrong, us(10));
  ASSERT_FALSE(size);
  ASSERT_EQ(size.errors().size(), 4U);
  EXPECT_EQ(size.errors()[0].found, "0 blocks");
  EXPECT_EQ(size.errors()[1].found, "-1 concurrent blocks");
  EXPECT_EQ(size.errors()[2].found, "block time -1us");
  EXPECT_EQ(size.errors()[3].found, "launch time infinite");
  for (const Error& error : size.errors()) EXPECT_EQ(error.code, ErrorCode::value);
  const Result<Duration> cost = slicing_cost(wrong, 1);
  ASSERT_FALSE(cost);
  EXPECT_EQ(cost.errors().size(), 4U);
}

TEST(SlicingCost, OfFullWavesIsTheFurtherLaunches) {
  // 5 slices of two waves.
  EXPECT_EQ(cost_of({80, 8, us(10), us(2)}, 16), us(8));
}

TEST(SlicingCost, HasTheWavesThatAreNotFull) {
  const KernelTiming kernel{80, 8, us(10), us(2)};
  // 10 waves become 9 slices of 9 blocks, two waves each; 81 would be full, so the last one has 8: one wave.
  EXPECT_EQ(cost_of(kernel, 9), us(8 * 2 + (8 * 2 + 1 - 10) * 10));
  EXPECT_EQ(cost_of(kernel, 1), us(79 * 2 + 70 * 10));
  // 20 blocks are 3 waves in one launch, and in slices of 8, 8 and 4.
  EXPECT_EQ(cost_of({20, 8, us(10), us(2)}, 8), us(4));
}

TEST(SlicingCost, OfOneSliceIsNothing) {
  const KernelTiming kernel{20, 8, us(10), us(2)};
  EXPECT_EQ(cost_of(kernel, 20), us(0));
  EXPECT_EQ(cost_of(kernel, 1'000), us(0));
}

TEST(SlicingCost, CountsSlicesAsTheyAreMade) {
  const KernelTiming kernel{4, 8, us(10), us(2)};
  EXPECT_EQ(cost_of(kernel, 0), cost_of(kernel, 1));
  EXPECT_EQ(cost_of(kernel, -3), us(3 * 2 + 3 * 10));
}

TEST(SlicingCost, IsInfiniteWhereItIsNoTime) {
  EXPECT_TRUE(cost_of({kMostBlocks, 1, us(0), Duration::seconds(10'000'000)}, 1).is_infinite());
  EXPECT_TRUE(cost_of({1'000'000, 1'000, Duration::seconds(1'000'000), us(0)}, 1).is_infinite());
  EXPECT_EQ(cost_of({kMostBlocks, kMostBlocks, us(0), us(0)}, 1), us(0));
}

// By going through the slices and their waves one by one.
Duration time_in_slices(const KernelTiming& kernel, std::int64_t per_slice) {
  Duration time;
  for (const Slice slice : sliced(kernel.blocks, per_slice)) {
    time += kernel.launch_time;
    for (std::int64_t left = slice.blocks; left > 0; left -= kernel.concurrent_blocks) time += kernel.block_time;
  }
  return time;
}

// The largest size of which a slice fits, by trying all; 0: none.
std::int64_t largest_that_fits(const KernelTiming& kernel, Duration budget) {
  std::int64_t largest = 0;
  for (std::int64_t size = 1; size <= kernel.blocks; ++size) {
    KernelTiming slice = kernel;
    slice.blocks = size;
    if (time_in_slices(slice, size) <= budget) largest = size;
  }
  return largest;
}

TEST(SliceSize, IsTheLargestThatFitsAndCostsWhatItTakes) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 engine(seed);
  const auto up_to = [&engine](std::uint64_t most) { return static_cast<std::int64_t>(engine() % (most + 1)); };
  for (int round = 0; round < 2'000; ++round) {
    const KernelTiming kernel{1 + up_to(60), 1 + up_to(9), Duration::nanoseconds(up_to(20)),
                              Duration::nanoseconds(up_to(20))};
    const Duration budget = Duration::nanoseconds(up_to(150));
    SCOPED_TRACE(::testing::Message() << kernel.blocks << " blocks, " << kernel.concurrent_blocks << " at once, "
                                      << to_string(kernel.block_time) << " each, launch "
                                      << to_string(kernel.launch_time) << ", budget " << to_string(budget));
    const std::int64_t largest = largest_that_fits(kernel, budget);
    const Result<std::int64_t> size = blocks_per_slice(kernel, budget);
    ASSERT_EQ(static_cast<bool>(size), largest > 0);
    if (size) {
      ASSERT_EQ(*size, largest);
    }
    const std::int64_t per_slice = 1 + up_to(70);
    ASSERT_EQ(cost_of(kernel, per_slice), time_in_slices(kernel, per_slice) - time_in_slices(kernel, kernel.blocks));
  }
}

}  // namespace
}  // namespace rtgpu
