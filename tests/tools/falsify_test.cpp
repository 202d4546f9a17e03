// `rtgpu falsify`, and the replay of what it writes by `rtgpu simulate`.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A folder of its own for counterexamples, removed at the end.
class Falsify : public testing::Test {
 protected:
  Falsify() : folder_(std::filesystem::temp_directory_path() / ("rtgpu-falsify-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~Falsify() override { std::filesystem::remove_all(folder_); }

  ProcessResult falsify(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), {"falsify", "--output", folder_.string()});
    return run_rtgpu(arguments, {.input = input});
  }

  std::size_t files() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

TEST_F(Falsify, FindsWhatExceedsAPublishedBoundAndSimulateReplaysIt) {
  const ProcessResult run =
      falsify({RTGPU_CASES "/gcaps-held-misc.json", "--policy=gcaps", "--variant=published", "--format=json"});
  EXPECT_EQ(run.status, 1);
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["rtgpu_result"], 1);
  EXPECT_EQ(answer["command"], "falsify");
  EXPECT_EQ(answer["tasksets"], 1);
  EXPECT_EQ(answer["schedulable"], 1);
  EXPECT_EQ(answer["exceeded"], 1);
  EXPECT_EQ(answer["worst"]["task"], "low");
  EXPECT_EQ(answer["worst"]["bound_ns"], 15000000);
  EXPECT_EQ(answer["worst"]["observed_ns"], 20000000);
  const std::string file = answer["worst"]["counterexample"];
  EXPECT_THAT(run.err, HasSubstr(file));
  EXPECT_EQ(files(), 1U);

  const ProcessResult replayed = run_rtgpu({"simulate", file, "--format=json"});
  EXPECT_EQ(replayed.status, 0) << replayed.err;
  const json seen = json::parse(replayed.out);
  EXPECT_EQ(seen["counterexample"]["exceeded"], true);
  EXPECT_EQ(seen["counterexample"]["observed_ns"], 20000000);
  EXPECT_EQ(seen["results"][0]["policy"], "gcaps");
  const ProcessResult table = run_rtgpu({"simulate", file, "--format=table"});
  EXPECT_THAT(table.out, HasSubstr("counterexample: low takes 20, more than its bound of 15 (published analysis"));
  // Its taskset can be analysed as any other.
  const ProcessResult analysed = run_rtgpu({"analyze", file, "--variant=published", "--policy=gcaps", "--format=json"});
  EXPECT_EQ(json::parse(analysed.out)["results"][0]["tasks"][1]["bound_ns"], 15000000);
  const std::string chart = (folder() / "why.svg").string();
  EXPECT_EQ(run_rtgpu({"simulate", file, "--gantt", chart}).status, 0);
  EXPECT_TRUE(std::filesystem::exists(chart));
}

TEST_F(Falsify, SafeBoundsStand) {
  const ProcessResult run = falsify({RTGPU_CASES "/gcaps-case-study.json", "--runs=30", "--format=json"});
  EXPECT_EQ(run.status, 0) << run.out;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["exceeded"], 0);
  EXPECT_EQ(answer["results"].size(), 8U);
  EXPECT_EQ(answer["results"][0]["bounds"], 5);
  EXPECT_EQ(answer["results"][0]["runs"], 30);
  EXPECT_EQ(files(), 0U);
}

TEST_F(Falsify, TakesTasksetsOfAPreset) {
  const std::vector<std::string> arguments = {
      "--preset=gcaps-table3", "--count=3", "--set=utilisation_per_cpu=0.2", "--runs=5", "--format=json",
      "--policy=gcaps-wc,mpcp"};
  const ProcessResult run = falsify(arguments);
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(json::parse(run.out)["tasksets"], 3);
  EXPECT_EQ(falsify(arguments).out, run.out);  // the same seed
}

TEST_F(Falsify, TakesManyDocumentsAndGoesOnAfterABadOne) {
  const ProcessResult run = falsify({"-", "--policy=gcaps", "--runs=5", "--format=json"},
                                    schedulable_set() + "\n{}\n" + schedulable_set() + "\n");
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(json::parse(run.out)["tasksets"], 2);
  EXPECT_THAT(run.err, HasSubstr("rtgpu: error: -:"));
}

TEST_F(Falsify, TableOfAllAnalyses) {
  const ProcessResult run = falsify({RTGPU_CASES "/gcaps-held-misc.json", "--runs=5", "--format=table"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("1 taskset attacked\n"));
  EXPECT_THAT(run.out, HasSubstr("\n  gcaps-wc         file  safe            1            1       2          5"));
  EXPECT_THAT(run.out, testing::EndsWith("no bound was exceeded\n"));
}

struct RefusedFalsification {
  std::vector<std::string> arguments;
  std::string told;
};

TEST_F(Falsify, BadOptionsAreRefused) {
  const std::string file = RTGPU_CASES "/gcaps-held-misc.json";
  const std::vector<RefusedFalsification> all = {
      {{}, "FILE: found neither a file nor a preset"},
      {{file, "--preset=uunifast"}, "a file and a preset"},
      {{"--preset=uunifst"}, "Did you mean 'uunifast'?"},
      {{"--preset=uunifast", "--set=tasks=none"}, "--set"},
      {{file, "--runs=0"}, "--runs"},
      {{file, "--horizon=5"}, "--horizon"},
      {{file, "--policy=federated"}, "/platform/gpus/0/sms: found no number of SMs"},
      {{file, "--variant=published", "--policy=gcaps-wc"}, "There is a safe analysis of gcaps-wc."},
      {{file, "--format=xml"}, "--format"},
      {{"/nowhere/at/all.json"}, "No such file"},
  };
  for (const RefusedFalsification& refused : all) {
    const ProcessResult run = falsify(refused.arguments);
    EXPECT_EQ(run.status, 2) << refused.told;
    EXPECT_EQ(run.out, "") << refused.told;
    EXPECT_THAT(run.err, HasSubstr(refused.told));
  }
}

TEST_F(Falsify, TheFolderHasToExist) {
  const ProcessResult run = run_rtgpu({"falsify", RTGPU_CASES "/gcaps-held-misc.json", "--output=/nowhere/at/all"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("--output: found '/nowhere/at/all'; expected a folder that exists"));
}

TEST(Replay, ABrokenCounterexampleIsRefused) {
  const ProcessResult run = run_rtgpu({"simulate", "-"}, {.input = R"({"rtgpu_counterexample": 1})"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("/taskset"));
}

}  // namespace
}  // namespace rtgpu
