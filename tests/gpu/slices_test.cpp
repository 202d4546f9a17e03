// Grids in slices and by persistent blocks, against the CPU.
#include "examples/cuda/device_array.h"
#include "runtime/device/sliced_grid.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;
using cuda_example::DeviceArray;
using gpu_kernels::kThreads;

// One, two and three dimensions, primes among them.
constexpr std::array<GridDim, 10> kGrids = {GridDim{1}, {7},    {128},     {1009},    {5, 3},
                                            {32, 17},   {1, 9}, {3, 4, 5}, {2, 1, 7}, {16, 8, 3}};

constexpr std::uint32_t kAllSms = 0;

std::vector<std::uint32_t> of_cpu(GridDim grid) {
  std::vector<std::uint32_t> values;
  for (std::uint32_t z = 0; z < grid.z; ++z) {
    for (std::uint32_t y = 0; y < grid.y; ++y) {
      for (std::uint32_t x = 0; x < grid.x; ++x) {
        for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
          values.push_back(gpu_kernels::value_of({x, y, z}, thread));
        }
      }
    }
  }
  return values;
}

std::string text_of(GridDim grid) {
  return std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " + std::to_string(grid.z);
}

TEST(GpuSlices, EachBlockRunsOnceWhateverTheGridAndTheRemainder) {
  const RunReport report = gpu_test::run_job("mpcp", [](Job& job) {
    for (const GridDim grid : kGrids) {
      const std::int64_t blocks = blocks_of(grid);
      const std::vector<std::uint32_t> expected = of_cpu(grid);
      for (const std::int64_t per_slice : {blocks / 100 + 1, std::int64_t{64}, blocks - 1, blocks, blocks + 1}) {
        const DeviceArray<std::uint32_t> values(expected.size());
        const GpuStatus status = job.gpu("count", sliced(blocks, per_slice), [&](Stream stream, Slice part) {
          gpu_kernels::count(stream.cuda(), values.data(), grid, {part.first_block, part.blocks});
        });
        ASSERT_EQ(status, GpuStatus::ok);
        ASSERT_EQ(values.values(), expected) << text_of(grid) << " in slices of " << per_slice;
      }
    }
  });
  EXPECT_TRUE(report.is_clean()) << report;
}

TEST(GpuSlices, EachBlockRunsOnceByPersistentBlocks) {
  const RunReport report = gpu_test::run_job("mpcp", [](Job& job) {
    for (const GridDim grid : kGrids) {
      const std::vector<std::uint32_t> expected = of_cpu(grid);
      for (const std::uint32_t count : {1U, 2U, 5U, kAllSms}) {
        const DeviceArray<std::uint32_t> values(expected.size());
        const GpuStatus status = job.gpu("count", [&](Stream stream) {
          const SmShare share = count == kAllSms ? stream.sms() : SmShare{0, count, count};
          gpu_kernels::count_persistently(stream.cuda(), values.data(), grid, share);
        });
        ASSERT_EQ(status, GpuStatus::ok);
        ASSERT_EQ(values.values(), expected) << text_of(grid) << " by " << count;
      }
    }
  });
  EXPECT_TRUE(report.is_clean()) << report;
}

TEST(GpuSlices, EachIsToldTheSmsOfItsTask) {
  std::vector<std::uint32_t> sms;
  sms.reserve(3);
  gpu_test::run_job("mpcp", [&](Job& job) {
    job.gpu("slices", sliced(3, 1), [&](Stream stream, Slice) {
      sms.push_back(stream.sms().count);
      gpu_kernels::nothing(stream.cuda());
    });
  });
  const auto all = static_cast<std::uint32_t>(Runtime(gpu_test::options("mpcp")).device().sms);
  EXPECT_EQ(sms, (std::vector<std::uint32_t>{all, all, all}));
}

// The urgent task is released while the long one runs: for 200 ms, in slices or in one launch.
struct Ends {
  Duration of_urgent;
  Duration of_long;
};
Ends run_two(int slices) {
  constexpr Duration kLong = 200ms;
  Ends ends;
  Runtime runtime(gpu_test::options("mpcp"));
  const auto each = static_cast<std::uint64_t>(kLong.count() / slices);
  runtime.add_task({.name = "long", .period = 10s, .priority = 1, .watchdog = 5s}, [&](Job& job) {
    EXPECT_EQ(job.gpu("long", sliced(slices, 1),
                      [&](Stream stream, Slice) { gpu_kernels::spin(stream.cuda(), 1, 32, each, nullptr); }),
              GpuStatus::ok);
    ends.of_long = job.now();
  });
  runtime.add_task(
      {.name = "urgent", .period = 10s, .priority = 2, .cpu = 1, .offset = 50ms, .watchdog = 5s}, [&](Job& job) {
        EXPECT_EQ(job.gpu("urgent", [](Stream stream) { gpu_kernels::nothing(stream.cuda()); }), GpuStatus::ok);
        ends.of_urgent = job.now();
      });
  runtime.run_for(60ms);
  return ends;
}

TEST(GpuSlices, AnUrgentTaskIsLetInBetweenSlices) {
  const Ends ends = run_two(20);
  EXPECT_LT(ends.of_urgent, ends.of_long);
}

TEST(GpuSlices, WithoutSlicesItHasToWait) {
  const Ends ends = run_two(1);
  EXPECT_GE(ends.of_urgent, Duration(200ms)) << "it cannot have been let in earlier";
}

}  // namespace
}  // namespace rtgpu
