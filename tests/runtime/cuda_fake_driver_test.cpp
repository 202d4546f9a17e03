// What the fake driver does is what the backend's tests rely on.
#include "tests/runtime/cuda_fake_driver.h"

#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/driver_error.h"
#include "tests/support/fake_driver/fake_cuda.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

constexpr std::uint32_t kAdded = 5;

TEST_F(CudaFakeDriver, PrioritiesAreClampedAndReadBack) {
  const std::vector<std::pair<int, int>> greatest_by_levels = {{1, 0}, {2, -1}, {3, -2}, {6, -5}};
  for (const auto& [levels, greatest] : greatest_by_levels) {
    fake.set("levels=" + std::to_string(levels));
    EXPECT_EQ(priority_of(stream(3)), 0) << levels;
    EXPECT_EQ(priority_of(stream(0)), 0) << levels;
    EXPECT_EQ(priority_of(stream(-1)), std::max(-1, greatest)) << levels;
    EXPECT_EQ(priority_of(stream(greatest)), greatest) << levels;
    EXPECT_EQ(priority_of(stream(-100)), greatest) << levels;
  }
}

TEST_F(CudaFakeDriver, WorkIsDoneAtOnceUnlessItIsHeld) {
  const CUstream on = stream(-2);
  const CUevent end = event();
  EXPECT_EQ(launch(function("first"), on), CUresult::success);
  EXPECT_EQ(call().cuEventRecord(end, on), CUresult::success);
  EXPECT_EQ(call().cuEventQuery(end), CUresult::success);
  ASSERT_EQ(fake.launches().size(), 1U);
  EXPECT_EQ(fake.launches()[0].kernel, "first");
  EXPECT_EQ(fake.launches()[0].priority, -2);
  EXPECT_EQ(fake.launches()[0].grid[0], 2U);
  EXPECT_EQ(fake.launches()[0].block[0], 32U);

  fake.set("hold=1");
  EXPECT_EQ(launch(function("second"), on), CUresult::success);
  EXPECT_EQ(call().cuEventRecord(end, on), CUresult::success);
  EXPECT_EQ(call().cuEventQuery(end), CUresult::not_ready);
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::not_ready);
  EXPECT_EQ(fake.complete(on, 1), 1U);
  EXPECT_EQ(fake.launches().size(), 2U);
  EXPECT_EQ(call().cuEventQuery(end), CUresult::not_ready);
  EXPECT_EQ(fake.complete(on), 1U);
  EXPECT_EQ(call().cuEventQuery(end), CUresult::success);
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::success);
}

TEST_F(CudaFakeDriver, AStreamWaitsForAnEventOfAnother) {
  const CUstream first = stream();
  const CUstream second = stream();
  const CUevent reached = event();
  fake.set("hold=1");
  EXPECT_EQ(launch(function("a"), first), CUresult::success);
  EXPECT_EQ(call().cuEventRecord(reached, first), CUresult::success);
  EXPECT_EQ(call().cuStreamWaitEvent(second, reached, 0), CUresult::success);
  EXPECT_EQ(launch(function("b"), second), CUresult::success);
  EXPECT_EQ(fake.complete(second), 0U);
  EXPECT_EQ(fake.complete(first), 2U);
  EXPECT_EQ(fake.complete(second), 2U);
  ASSERT_EQ(fake.launches().size(), 2U);
  EXPECT_EQ(fake.launches()[1].kernel, "b");
  fake.set("hold=0");
  EXPECT_EQ(call().cuCtxSynchronize(), CUresult::success);
}

TEST_F(CudaFakeDriver, WaitingEndsWhenAnotherThreadCompletes) {
  const CUstream on = stream();
  const CUevent end = event();
  fake.set("hold=1");
  EXPECT_EQ(call().cuEventRecord(end, on), CUresult::success);
  CUcontext context = nullptr;
  ASSERT_EQ(call().cuCtxGetCurrent(&context), CUresult::success);
  CUresult result = CUresult::unknown;
  std::thread waiting([&] {
    EXPECT_EQ(call().cuEventSynchronize(end), CUresult::invalid_context);  // each thread has its own
    EXPECT_EQ(call().cuCtxSetCurrent(context), CUresult::success);
    result = call().cuEventSynchronize(end);
  });
  fake.complete(on);
  waiting.join();
  EXPECT_EQ(result, CUresult::success);
}

TEST_F(CudaFakeDriver, KernelsWorkOnDeviceMemoryWithTheParametersOfTheirLaunch) {
  fake.add_kernel({"add",
                   {sizeof(CUdeviceptr), sizeof(std::uint32_t)},
                   [](void* /*context*/, const FakeLaunch& /*launch*/, void* const* parameters) {
                     auto* values = reinterpret_cast<std::uint32_t*>(*static_cast<CUdeviceptr*>(parameters[0]));
                     *values += *static_cast<std::uint32_t*>(parameters[1]);
                   },
                   nullptr});
  const CUstream on = stream();
  const CUdeviceptr device = memory(sizeof(std::uint32_t));
  const std::uint32_t in = 37;
  std::uint32_t out = 0;
  CUdeviceptr target = device;
  std::uint32_t added = kAdded;
  std::array<void*, 2> parameters = {&target, &added};
  fake.set("hold=1");
  EXPECT_EQ(call().cuMemcpyHtoDAsync(device, &in, sizeof in, on), CUresult::success);
  EXPECT_EQ(launch(function("add"), on, parameters.data()), CUresult::success);
  EXPECT_EQ(call().cuMemcpyDtoHAsync(&out, device, sizeof out, on), CUresult::success);
  added = 1000;  // not what was launched
  EXPECT_EQ(fake.complete(on), 3U);
  EXPECT_EQ(out, in + kAdded);
}

TEST_F(CudaFakeDriver, StreamsAndContextsSayTheirFlags) {
  unsigned flags = 99;
  EXPECT_EQ(call().cuStreamGetFlags(stream(), &flags), CUresult::success);
  EXPECT_EQ(flags, kStreamNonBlocking);
  CUstream blocking = nullptr;
  EXPECT_EQ(call().cuStreamCreateWithPriority(&blocking, kStreamDefault, 0), CUresult::success);
  EXPECT_EQ(call().cuStreamGetFlags(blocking, &flags), CUresult::success);
  EXPECT_EQ(flags, kStreamDefault);
  const CUfunction kernel = function("a");
  for (const std::uintptr_t handle :
       std::array<std::uintptr_t, 3>{0, 1, 2}) {  // the legacy default stream, and that of the thread
    auto* const legacy = reinterpret_cast<CUstream>(handle);
    EXPECT_EQ(call().cuStreamGetFlags(legacy, &flags), CUresult::invalid_handle);
    EXPECT_EQ(launch(kernel, legacy), CUresult::invalid_handle);
  }
  int active = 99;
  EXPECT_EQ(call().cuDevicePrimaryCtxGetState(0, &flags, &active), CUresult::success);
  EXPECT_EQ(flags, 0U);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(call().cuDevicePrimaryCtxSetFlags(0, kContextSchedBlockingSync), CUresult::success);
  EXPECT_EQ(call().cuDevicePrimaryCtxSetFlags(0, 3), CUresult::invalid_value);
  EXPECT_EQ(call().cuDevicePrimaryCtxSetFlags(1, 0), CUresult::invalid_device);
  EXPECT_EQ(call().cuDevicePrimaryCtxRelease(0), CUresult::success);
  EXPECT_EQ(call().cuDevicePrimaryCtxGetState(0, &flags, &active), CUresult::success);
  EXPECT_EQ(flags, kContextSchedBlockingSync);
  EXPECT_EQ(active, 0);
}

TEST_F(CudaFakeDriver, TwoBlocksOfAKernelFitOnAnSm) {
  int blocks = 0;
  const CUfunction kernel = function("a");
  EXPECT_EQ(call().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0), CUresult::success);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(call().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1025, 0), CUresult::invalid_value);
  EXPECT_EQ(call().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 128, 0), CUresult::invalid_handle);
}

TEST_F(CudaFakeDriver, MemoryRunsOut) {
  fake.set("memory=1000");
  const CUdeviceptr first = memory(600);
  CUdeviceptr second = 0;
  EXPECT_EQ(call().cuMemAlloc(&second, 401), CUresult::out_of_memory);
  EXPECT_EQ(call().cuMemAlloc(&second, 400), CUresult::success);
  std::size_t free = 1;
  std::size_t total = 0;
  EXPECT_EQ(call().cuMemGetInfo(&free, &total), CUresult::success);
  EXPECT_EQ(free, 0U);
  EXPECT_EQ(total, 1000U);
  EXPECT_EQ(call().cuMemFree(first), CUresult::success);
  EXPECT_EQ(call().cuMemFree(first), CUresult::invalid_value);
  EXPECT_EQ(call().cuMemsetD8Async(second, 7, 401, stream()), CUresult::invalid_value);
  EXPECT_EQ(call().cuMemsetD8Async(second, 7, 400, stream()), CUresult::success);
}

TEST_F(CudaFakeDriver, AFailureThatWasAskedForHappensOnce) {
  const CUstream on = stream();
  const CUfunction kernel = function("a");
  fake.set("fail=cuLaunchKernel:701");
  EXPECT_EQ(launch(kernel, on), CUresult::launch_out_of_resources);
  EXPECT_EQ(severity_of(CUresult::launch_out_of_resources), Severity::segment_failed);
  EXPECT_EQ(launch(kernel, on), CUresult::success);
  EXPECT_EQ(fake.launches().size(), 1U);
}

TEST_F(CudaFakeDriver, FailuresCanBeAskedForLater) {
  const CUstream on = stream();
  const CUfunction kernel = function("a");
  fake.set("fail=cuLaunchKernel:701:3");
  fake.set("fail=cuLaunchKernel:2:2");
  EXPECT_EQ(launch(kernel, on), CUresult::success);
  EXPECT_EQ(launch(kernel, on), CUresult::out_of_memory);
  EXPECT_EQ(launch(kernel, on), CUresult::launch_out_of_resources);
  EXPECT_EQ(launch(kernel, on), CUresult::success);
}

TEST_F(CudaFakeDriver, CallsAreCounted) {
  const CUstream on = stream();
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 0U);
  EXPECT_EQ(fake.calls("cuStreamCreateWithPriority"), 1U);
  EXPECT_EQ(launch(function("a"), on), CUresult::success);
  EXPECT_EQ(launch(nullptr, on), CUresult::invalid_handle);
  EXPECT_EQ(fake.calls("cuLaunchKernel"), 2U);
  EXPECT_EQ(call().cuStreamSynchronize(on), CUresult::success);
  EXPECT_EQ(fake.calls("cuStreamSynchronize"), 1U);
  EXPECT_THROW(fake.calls("cuLaunch"), std::invalid_argument);
}

TEST_F(CudaFakeDriver, SaysWhetherAThreadIsInIt) {
  static const FakeCuda::Question is_in_driver = FakeCuda::is_in_driver();
  static bool was_in_driver = false;
  fake.add_kernel({"asks", {}, [](void* /*context*/, const FakeLaunch& /*launch*/, void* const* /*parameters*/) {
                     was_in_driver = is_in_driver();
                   }});
  EXPECT_FALSE(is_in_driver());
  EXPECT_EQ(launch(function("asks"), stream()), CUresult::success);
  EXPECT_TRUE(was_in_driver);
  EXPECT_FALSE(is_in_driver());
}

TEST_F(CudaFakeDriver, AModuleHasTheKernelsThatWereAdded) {
  CUmodule module = nullptr;
  CUfunction made = nullptr;
  EXPECT_EQ(call().cuModuleLoadData(&module, "image"), CUresult::success);
  EXPECT_EQ(call().cuModuleGetFunction(&made, module, "c"), CUresult::not_found);
  EXPECT_EQ(call().cuModuleGetFunction(&made, module, "rtgpu_spend"), CUresult::success);
  fake.add_kernel({"c"});
  EXPECT_EQ(call().cuModuleGetFunction(&made, module, "c"), CUresult::success);
}

TEST_F(CudaFakeDriver, HeldWorkOfADestroyedStreamIsNotLost) {
  const CUstream on = stream();
  fake.set("hold=1");
  EXPECT_EQ(launch(function("a"), on), CUresult::success);
  EXPECT_EQ(launch(function("b"), on), CUresult::success);
  EXPECT_EQ(call().cuStreamDestroy(on), CUresult::success);
  EXPECT_EQ(launch(function("a"), on), CUresult::invalid_handle);
  EXPECT_EQ(fake.complete(on, 1), 1U);
  fake.set("hold=0");
  ASSERT_EQ(fake.launches().size(), 2U);
  EXPECT_EQ(fake.launches()[1].kernel, "b");
}

TEST_F(CudaFakeDriver, FewerLevelsAreGrantedThanTheRangeSays) {
  fake.set("granted_levels=2");
  int least = 99;
  int greatest = 99;
  EXPECT_EQ(call().cuCtxGetStreamPriorityRange(&least, &greatest), CUresult::success);
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  EXPECT_EQ(priority_of(stream(0)), 0);
  EXPECT_EQ(priority_of(stream(-1)), -1);
  EXPECT_EQ(priority_of(stream(-5)), -1);
}

TEST_F(CudaFakeDriver, TheDefaultStreamCanBeAllowed) {
  fake.set("default_stream=1");
  unsigned flags = 99;
  EXPECT_EQ(call().cuStreamGetFlags(nullptr, &flags), CUresult::success);
  EXPECT_EQ(flags, kStreamDefault);
  EXPECT_EQ(launch(function("a"), nullptr), CUresult::success);
  ASSERT_EQ(fake.launches().size(), 1U);
  EXPECT_EQ(fake.launches()[0].stream, nullptr);
  EXPECT_EQ(fake.things_left(), 2U);  // the primary context, a module
}

TEST_F(CudaFakeDriver, FaultsStay) {
  const CUstream on = stream();
  const CUevent end = event();
  fake.set("hold=1");
  fake.set("fault_at_launch=700");
  EXPECT_EQ(launch(function("wild"), on), CUresult::success);
  EXPECT_EQ(call().cuEventRecord(end, on), CUresult::success);
  EXPECT_EQ(call().cuEventQuery(end), CUresult::not_ready);
  EXPECT_EQ(fake.complete(on), 1U);
  EXPECT_EQ(fake.launches().size(), 0U);
  std::size_t bytes = 0;
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(call().cuEventQuery(end), CUresult::illegal_address);
    EXPECT_EQ(call().cuEventSynchronize(end), CUresult::illegal_address);
    EXPECT_EQ(call().cuStreamQuery(on), CUresult::illegal_address);
    EXPECT_EQ(call().cuMemGetInfo(&bytes, &bytes), CUresult::illegal_address);
    EXPECT_EQ(call().cuDeviceGetDevResource(0, nullptr, CUdevResourceType::sm), CUresult::illegal_address);
  }
  EXPECT_EQ(severity_of(call().cuStreamQuery(on)), Severity::device_lost);
}

TEST_F(CudaFakeDriver, SaysWhatIsLeft) {
  EXPECT_EQ(fake.things_left(), 1U);  // the primary context
  const CUstream on = stream();
  const CUevent end = event();
  const CUdeviceptr address = memory(8);
  EXPECT_EQ(fake.things_left(), 4U);
  EXPECT_EQ(call().cuMemFree(address), CUresult::success);
  EXPECT_EQ(call().cuEventDestroy(end), CUresult::success);
  EXPECT_EQ(call().cuStreamDestroy(on), CUresult::success);
  EXPECT_EQ(call().cuStreamDestroy(on), CUresult::invalid_handle);
  EXPECT_EQ(call().cuDevicePrimaryCtxRelease(0), CUresult::success);
  EXPECT_EQ(fake.things_left(), 0U);
  EXPECT_EQ(call().cuCtxSynchronize(), CUresult::invalid_context);
}

TEST_F(CudaFakeDriver, SettingsThatDoNotExistAreRefused) {
  for (const char* setting : {"", "levels", "levels=", "levels=x", "level=3", "fail=cuInit", "fail=cuInit:x",
                              "fail=cuInit:1:0", "clock=1", "clock="}) {
    EXPECT_THROW(fake.set(setting), std::invalid_argument) << setting;
  }
}

TEST_F(CudaFakeDriver, SettingsOfTheEnvironmentAreMadeAtEachReset) {
  setenv("RTGPU_FAKE_CUDA", "devices=4 levels=2", 1);
  const FakeCuda reset;
  unsetenv("RTGPU_FAKE_CUDA");
  const Result<Driver> loaded = Driver::load(FakeCuda::path());
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->device_count(), 4);
}

}  // namespace
}  // namespace rtgpu::cuda
