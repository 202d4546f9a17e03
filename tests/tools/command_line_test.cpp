// Help, version, and commands that do not exist.
#include "tests/tools/process.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CommandLine, Version) {
  const ProcessResult run = run_rtgpu({"--version"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "rtgpu " RTGPU_VERSION "\n");
  EXPECT_EQ(run.err, "");
}

TEST(CommandLine, HelpListsWhatIsThere) {
  const ProcessResult run = run_rtgpu({"--help"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, HasSubstr("\n  analyze "));
  EXPECT_THAT(run.out, HasSubstr("\nnot there yet: calibrate, profile, "
                                 "doctor, report\n"));
  EXPECT_THAT(run.out, HasSubstr("Examples:"));
  EXPECT_THAT(run.out, HasSubstr("Exit status:"));
  EXPECT_THAT(run.out, HasSubstr("\n  simulate "));
  EXPECT_THAT(run.out, HasSubstr("\n  generate "));
  EXPECT_THAT(run.out, HasSubstr("\n  falsify "));
  EXPECT_THAT(run.out, HasSubstr("\n  sweep "));
  EXPECT_THAT(run.out, HasSubstr("\n  plan "));
  EXPECT_THAT(run.out, Not(HasSubstr("\n  doctor")));
}

TEST(CommandLine, HelpOfAnalyzeNamesEveryOption) {
  const ProcessResult run = run_rtgpu({"analyze", "--help"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  for (const char* part : {"FILE", "--policy", "--wait", "--variant", "--jitter", "--gpu-priorities", "--explain",
                           "--beyond-deadline", "--format", "Examples:", "Exit status:", "not a guarantee"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
}

TEST(CommandLine, WithoutArgumentsHelpIsAnError) {
  const ProcessResult run = run_rtgpu({});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(run.err, run_rtgpu({"--help"}).out);
}

class NotThereYet : public testing::TestWithParam<const char*> {};

TEST_P(NotThereYet, SaysSo) {
  for (const char* argument : {"case.json", "--help"}) {
    const ProcessResult run = run_rtgpu({GetParam(), argument});
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_THAT(run.err, HasSubstr("rtgpu: error: the command '" + std::string(GetParam()) + "' is not there yet"));
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, NotThereYet, testing::Values("calibrate", "profile", "doctor", "report"));

TEST(CommandLine, MisspeltCommand) {
  const ProcessResult run = run_rtgpu({"analyse", "case.json"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("unknown command 'analyse'; did you mean 'analyze'?"));
}

TEST(CommandLine, SomethingElseHasNoSuggestion) {
  const ProcessResult run = run_rtgpu({"brew-coffee"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("unknown command 'brew-coffee'\n"));
}

TEST(CommandLine, MisspeltOption) {
  const ProcessResult run = run_rtgpu({"--verson"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("unknown option '--verson'; did you mean '--version'?"));
}

}  // namespace
}  // namespace rtgpu
