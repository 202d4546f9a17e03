#include "rtgpu/error.h"
#include "rtgpu/result.h"
#include "runtime/device/cuda/device_list.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/entry_points.h"
#include "tests/support/fake_driver/fake_cuda.h"

#include <cstddef>
#include <dlfcn.h>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Error load_error(const std::string& library) {
  const Result<Driver> driver = Driver::load(library);
  return driver ? Error{ErrorCode::value, {}, "no error", {}, {}} : driver.errors().front();
}

Error fake_error() {
  return load_error(FakeCuda::path());
}

TEST(CudaDriver, WithoutTheNvidiaDriverSaysSo) {
  if (void* library = dlopen("libcuda.so.1", RTLD_LAZY); library != nullptr) {
    dlclose(library);
    GTEST_SKIP() << "there is a libcuda.so.1";
  }
  const Error error = load_error("");
  EXPECT_EQ(error.code, ErrorCode::environment);
  EXPECT_THAT(to_string(error),
              AllOf(HasSubstr("found no CUDA driver (libcuda.so.1: "),
                    HasSubstr("expected the library of the NVIDIA driver"), HasSubstr("Install the NVIDIA driver")));
}

TEST(CudaDriver, MissingFile) {
  const Error error = load_error("/nowhere/libcuda.so.1");
  EXPECT_EQ(error.code, ErrorCode::environment);
  EXPECT_THAT(error.found, HasSubstr("/nowhere/libcuda.so.1"));
}

TEST(CudaDriver, FilesThatAreNoCudaDriver) {
  const Error text = load_error(std::string(RTGPU_TEST_DATA) + "/../runtime/cuda_driver_test.cpp");
  EXPECT_EQ(text.code, ErrorCode::environment);
  EXPECT_THAT(text.found, AllOf(HasSubstr("no CUDA driver"), HasSubstr("cuda_driver_test.cpp")));
  const Error other = load_error("libc.so.6");
  EXPECT_EQ(other.code, ErrorCode::environment);
  EXPECT_EQ(to_string(other),
            "found libc.so.6, which is not a CUDA driver; expected the library of the NVIDIA driver. "
            "It is called libcuda.so.1.");
}

TEST(CudaDriver, TooOld) {
  const Error without_entry_points = load_error(FakeCuda::path_of_cuda_11());
  EXPECT_EQ(without_entry_points.code, ErrorCode::environment);
  EXPECT_EQ(to_string(without_entry_points),
            "found a driver for CUDA 11.4; expected 12.4 or later. Install a newer NVIDIA driver.");
  FakeCuda fake;
  fake.set("version=12030");
  EXPECT_EQ(fake_error().code, ErrorCode::environment);
  EXPECT_EQ(fake_error().found, "a driver for CUDA 12.3");
  // Also where entry points are missing for that reason.
  fake.set("missing=cuLaunchKernel");
  EXPECT_EQ(fake_error().found, "a driver for CUDA 12.3");
}

TEST(CudaDriver, TheOldestThatWillDo) {
  FakeCuda fake;
  fake.set("version=12040");
  const Result<Driver> driver = Driver::load(FakeCuda::path());
  ASSERT_TRUE(driver);
  EXPECT_EQ(driver->version(), 12040);
  EXPECT_FALSE(driver->has_green_contexts());
}

TEST(CudaDriver, EveryMissingEntryPointIsNamed) {
  std::string all;
  for (const EntryPoint& entry : kEntryPoints) {
    FakeCuda fake;
    fake.set(std::string("missing=") + entry.name);
    if (entry.green) {
      const Result<Driver> driver = Driver::load(FakeCuda::path());
      ASSERT_TRUE(driver) << entry.name;
      EXPECT_FALSE(driver->has_green_contexts()) << entry.name;
      continue;
    }
    const Error error = fake_error();
    EXPECT_EQ(error.code, ErrorCode::environment) << entry.name;
    EXPECT_EQ(error.found, std::string("a driver without ") + entry.name);
    all += entry.name;
  }
  EXPECT_THAT(all, HasSubstr("cuLaunchKernel"));
  FakeCuda fake;
  fake.set("missing=cuMemFree");
  fake.set("missing=cuEventQuery");
  EXPECT_EQ(fake_error().found, "a driver without cuEventQuery, cuMemFree");
}

TEST(CudaDriver, AllEntryPointsAreThere) {
  const FakeCuda fake;
  const Result<Driver> driver = Driver::load(FakeCuda::path());
  ASSERT_TRUE(driver);
  std::size_t green = 0;
  for (const EntryPoint& entry : kEntryPoints) {
    EXPECT_NE(entry.get(driver->calls()), nullptr) << entry.name;
    green += entry.green ? 1 : 0;
  }
  // The table leaves none out: every member of the calls is a pointer.
  EXPECT_EQ(kEntryPoints.size() * sizeof(void*), sizeof(DriverCalls));
  EXPECT_EQ(green, 8U);
  EXPECT_EQ(driver->version(), 12080);
  EXPECT_EQ(driver->device_count(), 1);
}

TEST(CudaDriver, GreenContextsAreThereOrNoneOfTheirEntryPoints) {
  FakeCuda fake;
  fake.set("version=12050");
  const Result<Driver> with = Driver::load(FakeCuda::path());
  ASSERT_TRUE(with);
  EXPECT_TRUE(with->has_green_contexts());
  for (const char* setting : {"green=0", "missing=cuGreenCtxDestroy", "version=12040"}) {
    const FakeCuda reset;
    fake.set(setting);
    const Result<Driver> without = Driver::load(FakeCuda::path());
    ASSERT_TRUE(without);
    EXPECT_FALSE(without->has_green_contexts()) << setting;
    EXPECT_EQ(without->calls().cuDeviceGetDevResource, nullptr) << setting;
    EXPECT_EQ(without->calls().cuGreenCtxStreamCreate, nullptr) << setting;
    EXPECT_NE(without->calls().cuLaunchKernel, nullptr) << setting;
  }
}

TEST(CudaDriver, NoDevice) {
  FakeCuda fake;
  fake.set("devices=0");
  EXPECT_EQ(fake_error().code, ErrorCode::environment);
  EXPECT_THAT(to_string(fake_error()),
              AllOf(HasSubstr("found a CUDA driver without a device; expected an NVIDIA GPU. "),
                    HasSubstr("nvidia-smi"), HasSubstr("CUDA_VISIBLE_DEVICES")));
}

TEST(CudaDriver, InitialisationFails) {
  struct Case {
    const char* setting;
    const char* found;
    const char* advice;
  };
  for (const Case& c : {Case{"init=34", "CUDA_ERROR_STUB_LIBRARY (34)", "stubs"},
                        Case{"init=802", "CUDA_ERROR_SYSTEM_NOT_READY (802)", "services"},
                        Case{"init=803", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "restart the machine"},
                        Case{"init=999", "CUDA_ERROR_UNKNOWN (999)", "nvidia-smi"}}) {
    FakeCuda fake;
    fake.set(c.setting);
    const Error error = fake_error();
    EXPECT_EQ(error.code, ErrorCode::environment) << c.setting;
    EXPECT_THAT(error.found, AllOf(HasSubstr(c.found), HasSubstr("of cuInit"))) << c.setting;
    EXPECT_THAT(error.advice, HasSubstr(c.advice)) << c.setting;
  }
  FakeCuda fake;
  fake.set("fail=cuDeviceGetCount:304");
  EXPECT_THAT(fake_error().found, AllOf(HasSubstr("CUDA_ERROR_OPERATING_SYSTEM"), HasSubstr("cuDeviceGetCount")));
  fake.set("fail=cuDriverGetVersion:1");
  EXPECT_THAT(fake_error().found, HasSubstr("of cuDriverGetVersion"));
}

TEST(CudaDriver, ListsDevices) {
  FakeCuda fake;
  for (const char* setting : {"devices=3", "levels=3", "sms=132", "copy_engines=3", "memory=150000000000"}) {
    fake.set(setting);
  }
  const Result<Driver> driver = Driver::load(FakeCuda::path());
  ASSERT_TRUE(driver);
  const std::vector<DeviceInfo> devices = list_devices(*driver);
  ASSERT_EQ(devices.size(), 3U);
  for (std::size_t at = 0; at < devices.size(); ++at) {
    const DeviceInfo& device = devices[at];
    EXPECT_EQ(device.ordinal, static_cast<int>(at));
    EXPECT_EQ(device.name, "Fake GPU " + std::to_string(at));
    EXPECT_EQ(device.problem, "");
  }
  const DeviceInfo& last = devices.back();
  EXPECT_EQ(last.driver_version, 12080);
  EXPECT_EQ(last.sms, 132);
  EXPECT_EQ(last.memory, 150'000'000'000);
  EXPECT_EQ(last.copy_engines, 3);
  EXPECT_EQ(last.capability_major, 9);
  EXPECT_EQ(last.capability_minor, 0);
  EXPECT_EQ(last.least_priority, 0);
  EXPECT_EQ(last.greatest_priority, -2);
  EXPECT_EQ(last.stream_levels, 3);
  EXPECT_FALSE(last.display);
}

TEST(CudaDriver, LevelsFollowTheRange) {
  for (const int levels : {1, 2, 3, 6}) {
    FakeCuda fake;
    fake.set("levels=" + std::to_string(levels));
    const Result<Driver> driver = Driver::load(FakeCuda::path());
    ASSERT_TRUE(driver);
    EXPECT_EQ(list_devices(*driver).front().stream_levels, levels);
  }
}

TEST(CudaDriver, ListingLeavesTheThreadAndTheDevicesAsTheyWere) {
  FakeCuda fake;
  fake.set("devices=2");
  const Result<Driver> driver = Driver::load(FakeCuda::path());
  ASSERT_TRUE(driver);
  list_devices(*driver);
  EXPECT_EQ(fake.things_left(), 0U);
  CUcontext own = nullptr;
  ASSERT_EQ((*driver)->cuDevicePrimaryCtxRetain(&own, 1), CUresult::success);
  ASSERT_EQ((*driver)->cuCtxSetCurrent(own), CUresult::success);
  list_devices(*driver);
  CUcontext current = nullptr;
  ASSERT_EQ((*driver)->cuCtxGetCurrent(&current), CUresult::success);
  EXPECT_EQ(current, own);
  EXPECT_EQ(fake.things_left(), 1U);
}

TEST(CudaDriver, ADeviceThatDoesNotAnswerIsListedWithItsProblem) {
  FakeCuda fake;
  fake.set("devices=2");
  const Result<Driver> driver = Driver::load(FakeCuda::path());
  ASSERT_TRUE(driver);
  fake.set("fail=cuDevicePrimaryCtxRetain:46");
  const std::vector<DeviceInfo> devices = list_devices(*driver);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_THAT(devices[0].problem,
              AllOf(HasSubstr("CUDA_ERROR_DEVICE_UNAVAILABLE (46)"), HasSubstr("of cuDevicePrimaryCtxRetain")));
  EXPECT_EQ(devices[0].sms, 16);
  EXPECT_EQ(devices[1].problem, "");
  // A failure in between gives the context back all the same.
  fake.set("fail=cuCtxGetStreamPriorityRange:201");
  EXPECT_THAT(list_devices(*driver)[0].problem, HasSubstr("cuCtxGetStreamPriorityRange"));
  EXPECT_EQ(fake.things_left(), 0U);
  fake.set("fault=214");
  for (const DeviceInfo& device : list_devices(*driver)) EXPECT_THAT(device.problem, HasSubstr("ECC_UNCORRECTABLE"));
}

}  // namespace
}  // namespace rtgpu::cuda
