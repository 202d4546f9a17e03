#include "runtime/device/cuda/driver_error.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

// The values that the driver API defines up to CUDA 13.0, as ranges.
std::vector<CUresult> all_results() {
  std::vector<CUresult> results;
  const std::vector<std::pair<unsigned, unsigned>> ranges = {
      {0, 8},     {34, 34},   {36, 36},   {46, 46},   {100, 102}, {200, 202}, {205, 226}, {300, 304},
      {400, 402}, {500, 500}, {600, 600}, {700, 705}, {708, 721}, {800, 812}, {900, 916}, {999, 999}};
  for (const auto& [first, last] : ranges) {
    for (unsigned value = first; value <= last; ++value) results.push_back(static_cast<CUresult>(value));
  }
  return results;
}

// ECC, NVLink, contained, faults of kernels, timeout by the system, the driver's or the context's end, MPS's end,
// errors of another device, key rotation, and whatever the driver does not know.
const std::set<unsigned> kLostValues = {3,   4,   214, 220, 226, 700, 702, 709, 710, 714, 715,
                                        716, 717, 718, 719, 721, 806, 810, 911, 916, 999};
const std::set<unsigned> kRetryValues = {600, 802, 807, 909};

TEST(CudaDriverError, EveryResultHasItsSeverity) {
  EXPECT_EQ(severity_of(CUresult::success), Severity::none);
  for (const CUresult result : all_results()) {
    const auto value = static_cast<unsigned>(result);
    if (value == 0) continue;
    Severity expected = Severity::segment_failed;
    if (kRetryValues.count(value) != 0) expected = Severity::retry;
    if (kLostValues.count(value) != 0) expected = Severity::device_lost;
    EXPECT_EQ(severity_of(result), expected) << value;
  }
}

TEST(CudaDriverError, WhatIsNotKnownMeansTheDeviceIsLost) {
  for (const unsigned value : {9U, 203U, 706U, 722U, 917U, 1000U, 0xffffffffU}) {
    EXPECT_EQ(severity_of(static_cast<CUresult>(value)), Severity::device_lost) << value;
    EXPECT_EQ(describe(static_cast<CUresult>(value)),
              "CUDA error " + std::to_string(value) + ", which is not known here");
  }
}

TEST(CudaDriverError, DescriptionsHaveTheNameTheNumberAndAText) {
  EXPECT_EQ(describe(CUresult::success), "CUDA_SUCCESS (0): no error");
  EXPECT_EQ(describe(CUresult::illegal_address),
            "CUDA_ERROR_ILLEGAL_ADDRESS (700): a kernel used memory that is not there");
  EXPECT_EQ(describe(CUresult::device_assert), "CUDA_ERROR_ASSERT (710): an assertion in a kernel failed");
  std::set<std::string> texts;
  for (const CUresult result : all_results()) {
    const std::string text = describe(result);
    EXPECT_NE(text.find(" (" + std::to_string(static_cast<unsigned>(result)) + "): "), std::string::npos) << text;
    texts.insert(text.substr(text.find(": ")));
  }
  EXPECT_EQ(texts.size(), all_results().size()) << "two results have the same text";
}

}  // namespace
}  // namespace rtgpu::cuda
