// The device's clock, which declared work goes by, against the host's.
#include "examples/cuda/device_array.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;
using cuda_example::DeviceArray;
using gpu_kernels::Stamps;

TEST(GpuClocks, DeclaredWorkTakesAtLeastItsTime) {
  gpu_test::run_job("mpcp", [](Job& job) {
    for (const Duration time : {Duration(100us), Duration(5ms), Duration(50ms)}) {
      const Duration begin = job.now();
      EXPECT_EQ(job.gpu("declared", [&](Stream stream) { stream.run(time); }), GpuStatus::ok);
      // The device's clock counts in steps of a microsecond on many devices.
      EXPECT_GE(job.now() - begin, time - Duration(2us));
    }
  });
}

TEST(GpuClocks, WhatTheDeviceStampsLiesWithinTheSegmentAndClocksAgree) {
  const DeviceArray<Stamps> stamps(std::vector<Stamps>(2));
  Duration first_begin;
  Duration last_end;
  const RunReport report = gpu_test::run_job("mpcp", [&](Job& job) {
    first_begin = job.now();
    for (int part = 0; part < 2; ++part) {
      job.gpu("spin",
              [&](Stream stream) { gpu_kernels::spin(stream.cuda(), 1, 32, 20'000'000, stamps.data() + part); });
      job.spend(Duration(part == 0 ? 300ms : 0ms));
    }
    last_end = job.now();
  });
  EXPECT_TRUE(report.is_clean()) << report;
  const std::vector<Stamps> seen = stamps.values();
  for (const Stamps& part : seen) EXPECT_GE(part.end - part.begin, 20'000'000U);
  const auto on_device = static_cast<std::int64_t>(seen[1].end - seen[0].begin);
  EXPECT_LE(on_device, (last_end - first_begin).count() * 101 / 100);
  EXPECT_GE(on_device, Duration(340ms).count() * 99 / 100);
}

}  // namespace
}  // namespace rtgpu
