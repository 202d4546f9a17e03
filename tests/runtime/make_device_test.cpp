#include "runtime/device/make_device.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

DeviceProperties small() {
  DeviceProperties properties;
  properties.sms = 2;
  properties.memory = 4096;
  return properties;
}

Error error_of(std::string_view name) {
  const Result<std::unique_ptr<Device>> device = make_device(name, small());
  return device ? Error{} : device.errors().front();
}

TEST(MakeDevice, HostLetsTimePass) {
  const Result<std::unique_ptr<Device>> device = make_device("host", small());
  ASSERT_TRUE(device);
  const DeviceProperties& properties = device.value()->properties();
  EXPECT_FALSE(properties.computes);
  EXPECT_TRUE(properties.virtual_time);
  EXPECT_EQ(properties.sms, 2);
  EXPECT_EQ(properties.name, "host");
}

TEST(MakeDevice, HostComputeComputes) {
  DeviceProperties asked = small();
  asked.name = "emulated";
  asked.virtual_time = true;
  const Result<std::unique_ptr<Device>> device = make_device("host:compute", asked);
  ASSERT_TRUE(device);
  const DeviceProperties& properties = device.value()->properties();
  EXPECT_TRUE(properties.computes);
  EXPECT_FALSE(properties.virtual_time);
  EXPECT_EQ(properties.memory, 4096);
  EXPECT_EQ(properties.name, "emulated");
}

// Of the fake driver, and of none, in cuda_device_test.cpp.
TEST(MakeDevice, CudaIsTheDriversDeviceOfThatNumber) {
  CudaOptions without_driver;
  without_driver.library = "no-such-library.so";
  for (const std::string_view name : {"cuda", "cuda:0", "cuda:13"}) {
    const Result<std::unique_ptr<Device>> device = make_device(name, small(), without_driver);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.errors().front().code, ErrorCode::environment) << name;
    EXPECT_EQ(device.errors().front().expected, "the library of the NVIDIA driver") << name;
  }
}

TEST(MakeDevice, OtherNamesAreErrorsWithASuggestion) {
  EXPECT_EQ(to_string(error_of("hots")),
            "found device \"hots\"; expected host, host:compute, cuda or cuda:N. Did you mean host?");
  EXPECT_EQ(error_of("host:comptue").advice, "Did you mean host:compute?");
  for (const std::string_view name : {"", "tpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda0", "host:", "Host:0"}) {
    EXPECT_EQ(error_of(name).code, ErrorCode::value) << name;
    EXPECT_EQ(error_of(name).expected, "host, host:compute, cuda or cuda:N") << name;
  }
  EXPECT_EQ(error_of("tpu").advice, "");
}

}  // namespace
}  // namespace rtgpu
