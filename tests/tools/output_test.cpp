// Standard output that cannot be written.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

const std::vector<std::vector<std::string>> kWriting = {
    {"--version"},
    {"--help"},
    {"analyze", "--help"},
    {"analyze", RTGPU_CASES "/gcaps-case-study.json", "--policy=gcaps", "--format=json"},
    {"analyze", RTGPU_CASES "/gcaps-case-study.json", "--policy=gcaps", "--format=table"},
    {"analyze", RTGPU_CASES "/gcaps-case-study.json", "--policy=gcaps", "--format=csv"},
    {"analyze", RTGPU_CASES "/gcaps-case-study.json", "--policy=gcaps", "--format=ndjson"},
};

class Writing : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Writing, AFullDeviceIsAnErrorOfTheEnvironment) {
  const ProcessResult run = run_rtgpu(GetParam(), {.output = OutputTo::full_device});
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.err, "rtgpu: error: cannot write to standard output: No space left on device\n");
}

TEST_P(Writing, AReaderThatIsGoneEndsItQuietly) {
  const ProcessResult run = run_rtgpu(GetParam(), {.output = OutputTo::nobody});
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.err, "");
}

TEST_P(Writing, ClosedOutputIsAnErrorOfTheEnvironment) {
  const ProcessResult run = run_rtgpu(GetParam(), {.output = OutputTo::closed});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, testing::HasSubstr("cannot write to standard output"));
}

INSTANTIATE_TEST_SUITE_P(Output, Writing, testing::ValuesIn(kWriting));

TEST(WritingAStream, AFullDeviceStopsAStream) {
  std::string input;
  for (int i = 0; i < 2000; ++i) input += schedulable_set() + "\n";
  const ProcessResult run = run_rtgpu({"analyze", "-"}, {.input = input, .output = OutputTo::full_device});
  EXPECT_EQ(run.status, 3);
}

}  // namespace
}  // namespace rtgpu
