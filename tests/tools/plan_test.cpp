#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kExample2 = RTGPU_CASES "/gcaps-example2.json";

class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / ("rtgpu-plan-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Plan, ProposalsAsTheyAreWrittenPassTheAnalysis) {
  const TemporaryFolder folder;
  const ProcessResult run = run_rtgpu({"plan", kExample2, "--policy=gcaps", "--output=" + folder.path()});
  EXPECT_EQ(run.status, 0) << run.err;
  const json plan = json::parse(run.out);
  EXPECT_EQ(plan["rtgpu_result"], 1);
  EXPECT_EQ(plan["command"], "plan");
  EXPECT_EQ(plan["schedulable"], false);
  EXPECT_EQ(plan["policies"][0]["failing"], json({"task4"}));
  ASSERT_GE(plan["proposals"].size(), 2U);
  for (const json& proposal : plan["proposals"]) {
    const std::string file = proposal["file"];
    const ProcessResult verdict = run_rtgpu({"analyze", file, "--policy", proposal["policy"]});
    EXPECT_EQ(verdict.status, 0) << file << verdict.out;
  }
  const json cores = plan["proposals"][0];
  EXPECT_EQ(cores["changes"], json({"cores"}));
  EXPECT_EQ(cores["tasks"][0]["task"], "task4");
  EXPECT_EQ(cores["tasks"][0]["cpu"]["to"], 1);
}

TEST(Plan, HowTasksWaitIsWrittenDown) {
  const TemporaryFolder folder;
  const ProcessResult run = run_rtgpu(
      {"plan", kExample2, "--policy=gcaps-wc", "--wait=busy", "--allow=gpu-priorities", "--output=" + folder.path()});
  EXPECT_EQ(run.status, 0) << run.err;
  const json proposal = json::parse(run.out)["proposals"].at(0);
  EXPECT_EQ(proposal["wait"], "busy");
  EXPECT_EQ(proposal["changed_tasks"], 2);
  const ProcessResult verdict = run_rtgpu({"analyze", proposal["file"], "--policy=gcaps-wc", "--format=json"});
  EXPECT_EQ(verdict.status, 0);
  EXPECT_EQ(json::parse(verdict.out)["results"][0]["wait"], "busy");
}

TEST(Plan, MarginsOfASetThatIsSchedulable) {
  const std::string alone = taskset_of(R"({"name": "a", "period": 4, "priority": 1, "segments": [{"cpu": 1}]})");
  const ProcessResult run = run_rtgpu({"plan", "-", "--policy=gcaps"}, {.input = alone});
  EXPECT_EQ(run.status, 0) << run.err;
  const json plan = json::parse(run.out);
  EXPECT_EQ(plan["schedulable"], true);
  EXPECT_EQ(plan["proposals"], json::array());
  const json factors = plan["margins"][0]["factors"];
  ASSERT_EQ(factors.size(), 2U);
  EXPECT_EQ(factors[0]["grows"], "all");
  EXPECT_EQ(factors[1]["task"], "a");
  EXPECT_EQ(factors[1]["factor_millionths"], 4'000'000);
  EXPECT_EQ(factors[1]["fails_first"], "a");

  const ProcessResult table = run_rtgpu({"plan", "-", "--policy=gcaps", "--format=table"}, {.input = alone});
  EXPECT_THAT(table.out, HasSubstr("  of a          4.000000  a\n"));
}

TEST(Plan, NothingThatHelpsIsTheAnswerNo) {
  const std::string late = taskset_of(R"({"name": "a", "period": 4, "priority": 1, "segments": [{"cpu": 5}]})");
  const ProcessResult run = run_rtgpu({"plan", "-", "--format=table"}, {.input = late});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("no change was found that makes it schedulable\n"));
}

TEST(Plan, OnlyWhatIsAllowedChanges) {
  const ProcessResult run =
      run_rtgpu({"plan", "-", "--policy=gcaps", "--allow=policy"}, {.input = unschedulable_set()});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(json::parse(run.out)["proposals"], json::array());
  const ProcessResult cores = run_rtgpu({"plan", "-", "--policy=gcaps", "--allow=cores,policy", "--format=table"},
                                        {.input = unschedulable_set()});
  EXPECT_EQ(cores.status, 0);
  EXPECT_THAT(cores.out, HasSubstr("cpu 0 -> 1"));
  EXPECT_THAT(cores.out, Not(HasSubstr("tsg-rr")));
}

TEST(Plan, ALineForEachDocument) {
  const ProcessResult run =
      run_rtgpu({"plan", "-", "--policy=gcaps"}, {.input = schedulable_set() + "\n{}\n" + unschedulable_set() + "\n"});
  EXPECT_EQ(run.status, 2);
  std::vector<json> lines;
  for (std::size_t at = 0; at < run.out.size(); at = run.out.find('\n', at) + 1) {
    lines.push_back(json::parse(run.out.substr(at, run.out.find('\n', at) - at)));
  }
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["margins"][0]["factors_millionths"], json({5'000'000, 5'000'000}));
  EXPECT_EQ(lines[1]["index"], 1);
  EXPECT_TRUE(lines[1].contains("error"));
  EXPECT_EQ(lines[2]["proposals"][0]["changes"], json({"cores"}));
}

struct RefusedPlan {
  std::vector<std::string> arguments;
  std::string told;  // part of standard error
};

void PrintTo(const RefusedPlan& refused, std::ostream* out) {
  *out << refused.told;
}

class RefusedPlans : public testing::TestWithParam<RefusedPlan> {};

TEST_P(RefusedPlans, EndWithStatus2AndNoOutput) {
  std::vector<std::string> arguments = {"plan", "-"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const ProcessResult run = run_rtgpu(arguments, {.input = "{"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("rtgpu: error: "));
  EXPECT_THAT(run.err, HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    Plan, RefusedPlans,
    testing::Values(RefusedPlan{{}, "-:1:"}, RefusedPlan{{"--policy=gcap"}, "Did you mean 'gcaps'?"},
                    RefusedPlan{{"--allow=core"}, "--allow: found 'core'; expected one of policy, gpu-priorities"},
                    RefusedPlan{{"--limit=0"}, "--limit: found '0'; expected a whole number from 1 to 100"},
                    RefusedPlan{{"--output=/nowhere"}, "--output: found '/nowhere'; expected a folder that exists"},
                    RefusedPlan{{"--format=csv"}, "--format: found 'csv'; expected one of table, json, ndjson"},
                    RefusedPlan{{"--variant=safe"}, "unknown option '--variant'"}));

TEST(Plan, HelpNamesWhatMayChange) {
  const ProcessResult run = run_rtgpu({"plan", "--help"});
  EXPECT_EQ(run.status, 0);
  for (const char* part : {"--policy", "--wait", "--allow", "--limit", "--output", "Examples:", "Exit status:"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
}

}  // namespace
}  // namespace rtgpu
