// What the tests of the fake driver begin with.
#pragma once

#include "runtime/device/cuda/driver.h"
#include "tests/support/fake_driver/fake_cuda.h"

#include <cstddef>
#include <optional>

#include <gtest/gtest.h>

namespace rtgpu::cuda {

// A loaded driver whose device 0 is current.
class CudaFakeDriver : public testing::Test {
 protected:
  void SetUp() override {
    Result<Driver> loaded = Driver::load(FakeCuda::path());
    ASSERT_TRUE(loaded);
    driver.emplace(*loaded);
    CUcontext context = nullptr;
    ASSERT_EQ(call().cuDevicePrimaryCtxRetain(&context, 0), CUresult::success);
    ASSERT_EQ(call().cuCtxSetCurrent(context), CUresult::success);
    for (const char* name : {"a", "b", "first", "second", "wild"}) fake.add_kernel({name});
  }

  const DriverCalls& call() const { return driver->calls(); }
  CUstream stream(int priority = 0) const {
    CUstream made = nullptr;
    EXPECT_EQ(call().cuStreamCreateWithPriority(&made, kStreamNonBlocking, priority), CUresult::success);
    return made;
  }
  CUevent event() const {
    CUevent made = nullptr;
    EXPECT_EQ(call().cuEventCreate(&made, kEventDefault), CUresult::success);
    return made;
  }
  CUfunction function(const char* name) const {
    CUmodule module = nullptr;
    CUfunction made = nullptr;
    EXPECT_EQ(call().cuModuleLoadData(&module, "image"), CUresult::success);
    EXPECT_EQ(call().cuModuleGetFunction(&made, module, name), CUresult::success);
    return made;
  }
  CUdeviceptr memory(std::size_t bytes) const {
    CUdeviceptr address = 0;
    EXPECT_EQ(call().cuMemAlloc(&address, bytes), CUresult::success);
    return address;
  }
  CUresult launch(CUfunction kernel, CUstream on, void** parameters = nullptr) const {
    return call().cuLaunchKernel(kernel, 2, 1, 1, 32, 1, 1, 0, on, parameters, nullptr);
  }
  int priority_of(CUstream of) const {
    int priority = 99;
    EXPECT_EQ(call().cuStreamGetPriority(of, &priority), CUresult::success);
    return priority;
  }

  FakeCuda fake;
  std::optional<Driver> driver;
};

}  // namespace rtgpu::cuda
