// What the user sees of work that goes wrong. Each in a process of its own.
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::HasSubstr;

struct Ended {
  std::string output;
  int status = -1;
};

Ended provoked(const std::string& fault) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  FILE* process = popen(("'" + program + "' --provoke " + fault + " 2>&1").c_str(), "r");
  if (process == nullptr) return {};
  Ended ended;
  std::array<char, 256> text{};
  while (fgets(text.data(), text.size(), process) != nullptr) ended.output += text.data();
  ended.status = pclose(process);
  return ended;
}

TEST(GpuFaults, AWriteAstrayLosesTheDeviceAndTheReportSaysWhy) {
  const Ended ended = provoked("illegal-address");
  EXPECT_EQ(ended.status, 0) << "the program goes on to its end";
  EXPECT_THAT(ended.output, HasSubstr("faulty:\nok\nok\nthe device no longer answers\n"));
  EXPECT_THAT(ended.output, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
}

TEST(GpuFaults, WorkBeyondItsWatchdogEndsTheRunSinceItCannotBeDropped) {
  const Ended ended = provoked("watchdog");
  EXPECT_EQ(ended.status, 0) << "the program goes on to its end";
  EXPECT_THAT(ended.output, HasSubstr("faulty:\nok\nok\nthe "));
  EXPECT_THAT(ended.output, HasSubstr("the device no longer answers"));
}

}  // namespace
}  // namespace rtgpu
