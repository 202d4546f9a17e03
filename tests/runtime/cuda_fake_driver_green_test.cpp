// Green contexts of the fake driver.
#include "tests/runtime/cuda_fake_driver.h"

#include <array>

#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

using CudaFakeDriverGreen = CudaFakeDriver;

TEST_F(CudaFakeDriverGreen, GreenContextsHaveWholeUnitsOfSms) {
  fake.set("sms=20");
  fake.set("sm_alignment=8");
  CUdevResource all;
  ASSERT_EQ(call().cuDeviceGetDevResource(0, &all, CUdevResourceType::sm), CUresult::success);
  EXPECT_EQ(all.sm.smCount, 20U);
  std::array<CUdevResource, 3> groups{};
  auto count = static_cast<unsigned>(groups.size());
  CUdevResource rest;
  ASSERT_EQ(call().cuDevSmResourceSplitByCount(groups.data(), &count, &all, &rest, 0, 5), CUresult::success);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(groups[1].sm.smCount, 8U);
  EXPECT_EQ(rest.sm.smCount, 4U);
  CUdevResourceDesc description = nullptr;
  CUgreenCtx green = nullptr;
  CUstream on = nullptr;
  ASSERT_EQ(call().cuDevResourceGenerateDesc(&description, groups.data(), 1), CUresult::success);
  ASSERT_EQ(call().cuGreenCtxCreate(&green, description, 0, kGreenCtxDefaultStream), CUresult::success);
  ASSERT_EQ(call().cuGreenCtxStreamCreate(&on, green, kStreamNonBlocking, -1), CUresult::success);
  EXPECT_EQ(priority_of(on), -1);
  CUdevResource granted;
  ASSERT_EQ(call().cuGreenCtxGetDevResource(green, &granted, CUdevResourceType::sm), CUresult::success);
  EXPECT_EQ(granted.sm.smCount, 8U);
  count = 1;
  EXPECT_EQ(call().cuDevSmResourceSplitByCount(groups.data(), &count, &all, &rest, 0, 21),
            CUresult::invalid_resource_configuration);
}

TEST_F(CudaFakeDriverGreen, GreenContextsAreOfOneSplitAndOutliveTheirStreams) {
  CUdevResource all;
  ASSERT_EQ(call().cuDeviceGetDevResource(0, &all, CUdevResourceType::sm), CUresult::success);
  std::array<CUdevResource, 2> groups{};
  unsigned count = 1;
  for (CUdevResource& group : groups) {
    ASSERT_EQ(call().cuDevSmResourceSplitByCount(&group, &count, &all, nullptr, 0, 2), CUresult::success);
  }
  CUdevResourceDesc description = nullptr;
  EXPECT_EQ(call().cuDevResourceGenerateDesc(&description, groups.data(), 2), CUresult::invalid_resource_configuration);
  EXPECT_EQ(call().cuDevSmResourceSplitByCount(nullptr, &count, groups.data(), nullptr, 0, 2),
            CUresult::invalid_resource_configuration);
  CUgreenCtx green = nullptr;
  CUstream on = nullptr;
  ASSERT_EQ(call().cuDevResourceGenerateDesc(&description, groups.data(), 1), CUresult::success);
  ASSERT_EQ(call().cuGreenCtxCreate(&green, description, 0, kGreenCtxDefaultStream), CUresult::success);
  ASSERT_EQ(call().cuGreenCtxStreamCreate(&on, green, kStreamNonBlocking, 0), CUresult::success);
  ASSERT_EQ(call().cuGreenCtxDestroy(green), CUresult::success);
  EXPECT_EQ(call().cuStreamDestroy(on), CUresult::context_is_destroyed);
  EXPECT_EQ(fake.things_left(), 2U);  // the stream, for good, and the primary context
}

TEST_F(CudaFakeDriverGreen, SplitsAreRefusedRoundedOrLoseSms) {
  CUdevResource all;
  CUdevResource group;
  CUdevResource rest;
  unsigned count = 1;
  ASSERT_EQ(call().cuDeviceGetDevResource(0, &all, CUdevResourceType::sm), CUresult::success);
  fake.set("sm_minimum=6");
  ASSERT_EQ(call().cuDevSmResourceSplitByCount(&group, &count, &all, &rest, 0, 3), CUresult::success);
  EXPECT_EQ(group.sm.smCount, 6U);
  EXPECT_EQ(rest.sm.smCount, 10U);
  fake.set("sm_remainder_lost=1");
  ASSERT_EQ(call().cuDevSmResourceSplitByCount(&group, &count, &all, &rest, 0, 3), CUresult::success);
  EXPECT_EQ(rest.sm.smCount, 8U);
  ASSERT_EQ(call().cuDevSmResourceSplitByCount(&group, &count, &all, &rest, 0, 16), CUresult::success);
  EXPECT_EQ(rest.sm.smCount, 0U);
  fake.set("split=801");
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(call().cuDevSmResourceSplitByCount(&group, &count, &all, &rest, 0, 3), CUresult::not_supported);
  }
}

}  // namespace
}  // namespace rtgpu::cuda
