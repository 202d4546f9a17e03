// Streams of tasks: their priorities as the device has them, and graphs in them.
#include "examples/cuda/device_array.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/graph.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;
using cuda_example::DeviceArray;

constexpr std::size_t kTasks = 10;

struct StreamSeen {
  int priority = 1000;
  unsigned flags = 0;
};

TEST(GpuStreams, PrioritiesAreTheLevelsOfTheReportInTheDevicesRange) {
  int least = 0;
  int greatest = 0;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&least, &greatest), cudaSuccess);
  std::array<StreamSeen, kTasks> seen{};
  Runtime runtime(gpu_test::options("stream-priority"));
  for (std::size_t task = 0; task < kTasks; ++task) {
    const int priority = static_cast<int>(task) + 1;
    runtime.add_task({.name = "task " + std::to_string(task), .period = 1s, .priority = priority}, [&, task](Job& job) {
      job.gpu("nothing", [&](Stream stream) {
        EXPECT_EQ(cudaStreamGetPriority(stream.cuda(), &seen[task].priority), cudaSuccess);
        EXPECT_EQ(cudaStreamGetFlags(stream.cuda(), &seen[task].flags), cudaSuccess);
        gpu_kernels::nothing(stream.cuda());
      });
    });
  }
  runtime.run_for(1ms);
  const RunReport report = runtime.report();
  EXPECT_EQ(runtime.device().stream_levels, least - greatest + 1);
  std::set<int> priorities;
  for (std::size_t task = 0; task < kTasks; ++task) {
    EXPECT_EQ(seen[task].priority, greatest + report.tasks[task].stream_level) << task;
    EXPECT_EQ(seen[task].flags, static_cast<unsigned>(cudaStreamNonBlocking)) << task;
    // The tasks' priorities ascend; smaller numbers go first on the device.
    if (task > 0) {
      EXPECT_LE(seen[task].priority, seen[task - 1].priority) << task;
    }
    priorities.insert(seen[task].priority);
  }
  EXPECT_EQ(priorities.size(), std::min(kTasks, static_cast<std::size_t>(least - greatest + 1)));
}

// Both are on the device; the low one has many blocks, between which the hardware chooses.
TEST(GpuStreams, AHigherLevelGetsInWhenABlockEnds) {
  Duration low_end;
  Duration high_end;
  Runtime runtime(gpu_test::options("stream-priority"));
  const int per_sm = gpu_kernels::blocks_per_sm(gpu_kernels::kFullBlock);
  ASSERT_GE(per_sm, 1);
  const auto wave = static_cast<std::uint32_t>(runtime.device().sms * per_sm);
  runtime.add_task({.name = "low", .period = 10s, .priority = 1, .watchdog = 5s}, [&](Job& job) {
    job.gpu("200 waves of 1 ms", [&](Stream stream) {
      gpu_kernels::spin(stream.cuda(), 200 * wave, gpu_kernels::kFullBlock, 1'000'000, nullptr);
    });
    low_end = job.now();
  });
  runtime.add_task(
      {.name = "high", .period = 10s, .priority = 2, .cpu = 1, .offset = 50ms, .watchdog = 5s}, [&](Job& job) {
        job.gpu("a full block",
                [](Stream stream) { gpu_kernels::spin(stream.cuda(), 1, gpu_kernels::kFullBlock, 1000, nullptr); });
        high_end = job.now();
      });
  runtime.run_for(60ms);
  EXPECT_GE(low_end, Duration(200ms));
  EXPECT_LT(high_end, low_end);
  EXPECT_TRUE(runtime.report().is_clean()) << runtime.report();
}

cuda::CUstream of_driver(CUstream_st* stream) {
  return reinterpret_cast<cuda::CUstream>(stream);
}

// The same kernel three times.
Result<cuda::CudaGraph> captured(const DeviceArray<std::uint32_t>& values, GridDim grid) {
  const Result<cuda::Driver> driver = cuda::Driver::load();
  if (!driver) return driver.errors();
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  Result<cuda::CudaGraph> graph = cuda::CudaGraph::capture(*driver, of_driver(stream), [&](cuda::CUstream) {
    for (int node = 0; node < 3; ++node) gpu_kernels::count(stream, values.data(), grid, {0, blocks_of(grid)});
  });
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  return graph;
}

TEST(GpuStreams, ASegmentEndsWithTheGraphThatWasLaunched) {
  constexpr GridDim kGrid = {30, 20, 2};
  const DeviceArray<std::uint32_t> values(static_cast<std::size_t>(blocks_of(kGrid)) * gpu_kernels::kThreads);
  const Result<cuda::CudaGraph> graph = captured(values, kGrid);
  ASSERT_TRUE(static_cast<bool>(graph)) << to_string(graph.errors().front());
  EXPECT_EQ(graph->priorities().kernels, 3U);
  EXPECT_FALSE(graph->priorities().has_foreign());
  std::vector<std::uint32_t> result;
  const RunReport report = gpu_test::run_job("mpcp", [&](Job& job) {
    const GpuStatus status = job.gpu(
        "graph", [&](Stream stream) { EXPECT_EQ(graph->launch(of_driver(stream.cuda())), cuda::CUresult::success); });
    EXPECT_EQ(status, GpuStatus::ok);
    result = values.values();
  });
  EXPECT_TRUE(report.is_clean()) << report;
  for (std::int64_t block = 0; block < blocks_of(kGrid); ++block) {
    const auto first = static_cast<std::size_t>(block) * gpu_kernels::kThreads;
    ASSERT_EQ(result[first], 3 * gpu_kernels::value_of(block_at(kGrid, block), 0)) << block;
  }
}

}  // namespace
}  // namespace rtgpu
