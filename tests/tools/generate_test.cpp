// `rtgpu generate`: NDJSON that the other commands read.
#include "tests/tools/process.h"

#include <algorithm>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Generate, ALineForEachTasksetWithItsOrigin) {
  const ProcessResult run = run_rtgpu({"generate", "--preset", "gcaps-table3", "--count", "20", "--seed", "4", "--set",
                                       "cpus=2", "--set", "utilisation_per_cpu=0.3"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.err, "");
  const auto lines = text_lines(run.out);
  ASSERT_EQ(lines.size(), 20U);
  for (std::size_t index = 0; index < lines.size(); ++index) {
    const json taskset = json::parse(lines[index]);
    const json& origin = taskset["origin"];
    EXPECT_EQ(origin["generator"], "gcaps-table3");
    EXPECT_EQ(origin["seed"], 4);
    EXPECT_EQ(origin["index"], index);
    EXPECT_EQ(origin["parameters"], json({"cpus=2", "utilisation_per_cpu=0.3"}));
    EXPECT_EQ(origin["requested_utilisation"], json({0.3, 0.3}));
    EXPECT_EQ(origin["achieved_utilisation"].size(), 2U);
    EXPECT_EQ(taskset["platform"]["cpus"], 2);
  }
}

TEST(Generate, OneCanBeMadeAgainAlone) {
  const std::vector<std::string> common = {"generate", "--preset=uunifast-discard", "--seed=9"};
  std::vector<std::string> all = common;
  all.emplace_back("--count=12");
  std::vector<std::string> one = common;
  one.emplace_back("--first=11");
  const auto lines = text_lines(run_rtgpu(all).out);
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(run_rtgpu(one).out, lines[11] + "\n");
}

TEST(Generate, TheOtherCommandsReadIt) {
  for (const char* preset : {"gcaps-table3", "uunifast", "uunifast-discard", "randfixedsum"}) {
    SCOPED_TRACE(preset);
    const ProcessResult sets = run_rtgpu({"generate", "--preset", preset, "--count", "5", "--set", "period_ms=10:100"});
    const ProcessResult bounds = run_rtgpu({"analyze", "-", "--policy=gcaps"}, {.input = sets.out});
    EXPECT_THAT(bounds.status, testing::AnyOf(0, 1)) << bounds.err;
    EXPECT_EQ(text_lines(bounds.out).size(), 5U);
    const ProcessResult responses = run_rtgpu({"simulate", "-", "--policy=gcaps"}, {.input = sets.out});
    EXPECT_THAT(responses.status, testing::AnyOf(0, 1)) << responses.err;
    EXPECT_EQ(text_lines(responses.out).size(), 5U);
  }
}

struct RefusedGeneration {
  std::vector<std::string> arguments;
  std::vector<std::string> told;  // parts of standard error
};

void PrintTo(const RefusedGeneration& refused, std::ostream* out) {
  for (const std::string& argument : refused.arguments) *out << argument << ' ';
}

class RefusedGenerateOptions : public testing::TestWithParam<RefusedGeneration> {};

TEST_P(RefusedGenerateOptions, EndWithStatus2AndNoOutput) {
  std::vector<std::string> arguments = {"generate"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const ProcessResult run = run_rtgpu(arguments);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::StartsWith("rtgpu: error: "));
  for (const std::string& part : GetParam().told) EXPECT_THAT(run.err, HasSubstr(part));
}

const std::vector<RefusedGeneration> kRefusedGenerations = {
    {{}, {"--preset"}},
    {{"--preset", "gcaps"},
     {"--preset: found 'gcaps'; expected one of gcaps-table3, uunifast, uunifast-discard, randfixedsum"}},
    {{"--preset", "unifast"}, {"Did you mean 'uunifast'?"}},
    {{"--preset=uunifast", "--count", "0"}, {"--count: found '0'; expected a whole number from 1"}},
    {{"--preset=uunifast", "--first", "-1"}, {"--first: found '-1'"}},
    {{"--preset=uunifast", "--seed", "x"}, {"--seed: found 'x'"}},
    {{"--preset=uunifast", "--set", "cpus"}, {"--set: found 'cpus'; expected key=value"}},
    {{"--preset=uunifast", "--set", "taks=4"}, {"--set: found the unknown key 'taks'", "Did you mean 'tasks'?"}},
    {{"--preset=uunifast", "--set", "task_utilisation=1"}, {"the unknown key 'task_utilisation'"}},
    {{"--preset=uunifast", "--set", "tasks=0", "--set", "lock=x", "--count=y"}, {"--count", "tasks=0", "3 errors"}},
    {{"--preset=randfixedsum", "--set", "task_utilisation=0.2:1"}, {"expected at least 3.2 (tasks x the least task"}},
    {{"--preset=uunifast-discard", "--set", "tasks=1"}, {"--set: found a utilisation of at least 2"}},
    {{"--preset=uunifast-discard", "--set", "tasks=4", "--set", "utilisation_per_cpu=0.99"}, {"no split among 10000"}},
};

INSTANTIATE_TEST_SUITE_P(Generate, RefusedGenerateOptions, testing::ValuesIn(kRefusedGenerations));

TEST(Generate, HelpListsTheKeysWithTheirDefaults) {
  const ProcessResult run = run_rtgpu({"generate", "--help"});
  EXPECT_EQ(run.status, 0);
  for (const char* part :
       {"--preset", "--count", "--first", "--seed", "--set", "Keys of gcaps-table3", "  utilisation_per_cpu  0.4:0.6",
        "  task_utilisation ", "  time_slice           1024us", "Examples:", "Exit status:"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
}

}  // namespace
}  // namespace rtgpu
