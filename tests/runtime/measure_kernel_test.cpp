#include "runtime/device/cuda/measure_kernel.h"

#include "runtime/device/cuda/cuda_device.h"
#include "tests/runtime/cuda_runs.h"
#include "tests/support/build.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using cuda::FakeCuda;
using ::testing::Each;
using ::testing::HasSubstr;
using testing::ms;

// On the fake driver, whose time is exact: 100 blocks in waves of 32.
TEST(MeasureKernel, TakesTheLongestOfEach) {
  FakeCuda fake;
  fake.set("clock=manual");
  CudaOptions options;
  options.library = FakeCuda::path();
  // Keeps the context, and so the kernel.
  const Result<std::unique_ptr<cuda::CudaDevice>> device = cuda::CudaDevice::open(0, options);
  ASSERT_TRUE(device);
  testing::CountingKernel counting(fake, "measured", ms(3));
  counting.counts.assign(100, 0);
  KernelToMeasure kernel;
  kernel.blocks = 100;
  kernel.concurrent_blocks = 32;
  kernel.runs = 2;
  StreamTarget target;
  kernel.launch = [&](CUstream_st* stream, std::int64_t first, std::int64_t blocks) {
    target.cuda = stream;
    counting.launch(Stream(target), first, blocks);
  };
  const Result<KernelTiming> timing = measure_kernel(0, kernel, options);
  ASSERT_TRUE(timing) << to_string(timing.errors().front());
  EXPECT_THAT(counting.counts, Each(3));  // one more, for loading
  EXPECT_GE(timing->block_time, ms(3));
  EXPECT_LE(timing->block_time, ms(3) + Duration::microseconds(2));
  EXPECT_GE(timing->launch_time, Duration());
  // What a slice may have then: with 10 ms, of which a launch takes next to nothing here, three waves.
  KernelTiming exact = *timing;
  exact.launch_time = Duration();
  EXPECT_EQ(*blocks_per_slice(exact, ms(10)), 96);
}

TEST(MeasureKernel, SaysWhatIsWrong) {
  FakeCuda fake;
  CudaOptions options;
  options.library = FakeCuda::path();
  KernelToMeasure kernel;
  const auto refused = [&] {
    const Result<KernelTiming> timing = measure_kernel(0, kernel, options);
    return timing ? std::string() : to_string(timing.errors().front());
  };
  EXPECT_THAT(refused(), HasSubstr("no function that launches"));
  kernel.launch = [](CUstream_st*, std::int64_t, std::int64_t) {};
  kernel.runs = 0;
  EXPECT_THAT(refused(), HasSubstr("0 runs"));
  kernel.runs = 1;
  for (const char* call :
       {"cuStreamCreateWithPriority", "cuEventCreate", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime"}) {
    fake.set(std::string("fail=") + call + ":719");
    EXPECT_THAT(refused(), HasSubstr("CUDA_ERROR_LAUNCH_FAILED (719)")) << call;
  }
  EXPECT_EQ(refused(), "");
  EXPECT_EQ(fake.things_left(), 0U);
}

}  // namespace
}  // namespace rtgpu
