#include "runtime/device/cuda/stream_check.h"
#include "tests/runtime/cuda_fake_driver.h"

#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using CudaStreamCheck = CudaFakeDriver;

// The error's text; empty: there is none.
std::string stream_refusal(const Driver& driver, CUstream stream) {
  const Result<StreamPriority> checked = check_stream(driver, stream, 0);
  return checked ? "" : to_string(checked.errors().front());
}

TEST_F(CudaStreamCheck, TakesNonBlockingStreamsAndSaysTheirPriority) {
  const Result<StreamPriority> right = check_stream(*driver, stream(-3), -3);
  ASSERT_TRUE(right);
  EXPECT_TRUE(right->is_expected());
  EXPECT_EQ(to_string(*right), "the stream has priority -3");
  const Result<StreamPriority> other = check_stream(*driver, stream(-1), -3);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->found, -1);
  EXPECT_EQ(other->expected, -3);
  EXPECT_FALSE(other->is_expected());
  EXPECT_EQ(to_string(*other),
            "the stream has priority -1 instead of -3, that of its task: create it with "
            "cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -3)");
}

TEST_F(CudaStreamCheck, RefusesDefaultStreams) {
  fake.set("default_stream=1");
  const auto legacy = AllOf(StartsWith("found the legacy default stream, which waits for every blocking stream"),
                            HasSubstr("cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority)"));
  EXPECT_THAT(stream_refusal(*driver, nullptr), legacy);
  EXPECT_THAT(stream_refusal(*driver, reinterpret_cast<CUstream>(std::uintptr_t{1})), legacy);
  EXPECT_THAT(stream_refusal(*driver, reinterpret_cast<CUstream>(std::uintptr_t{2})),
              AllOf(StartsWith("found the default stream of the thread, which is another one in each thread"),
                    HasSubstr("cudaStreamNonBlocking")));
}

TEST_F(CudaStreamCheck, RefusesBlockingStreams) {
  CUstream blocking = nullptr;
  ASSERT_EQ(call().cuStreamCreateWithPriority(&blocking, kStreamDefault, 0), CUresult::success);
  EXPECT_THAT(stream_refusal(*driver, blocking),
              AllOf(StartsWith("found a blocking stream, whose work and that of the legacy default stream wait"),
                    HasSubstr("cudaStreamNonBlocking")));
}

TEST_F(CudaStreamCheck, SaysWhatTheDriverAnswered) {
  auto* const destroyed = stream();
  ASSERT_EQ(call().cuStreamDestroy(destroyed), CUresult::success);
  EXPECT_THAT(stream_refusal(*driver, destroyed), HasSubstr("CUDA_ERROR_INVALID_HANDLE (400)"));
  fake.set("fail=cuStreamGetPriority:709");
  EXPECT_THAT(stream_refusal(*driver, stream()),
              HasSubstr("(709): the context has been destroyed of cuStreamGetPriority"));
}

}  // namespace
}  // namespace rtgpu::cuda
