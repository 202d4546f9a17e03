// Known answers of the published analyses, through the program.
#include "tests/tools/process.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using Bound = std::optional<std::int64_t>;

constexpr std::int64_t kMicrosecond = 1000;

struct KnownAnswer {
  std::string file;
  std::vector<std::string> arguments;
  int status;
  std::vector<Bound> bounds_us;
};

void PrintTo(const KnownAnswer& answer, std::ostream* out) {
  *out << answer.file;
  for (const std::string& argument : answer.arguments) *out << ' ' << argument;
}

json analyze_as_json(const std::string& file, std::vector<std::string> arguments, int status) {
  arguments.insert(arguments.begin(), {"analyze", RTGPU_CASES "/" + file, "--format", "json"});
  if (std::ranges::count(arguments, "--variant=safe") == 0) arguments.emplace_back("--variant=published");
  const ProcessResult run = run_rtgpu(arguments);
  EXPECT_EQ(run.status, status) << run.err;
  EXPECT_EQ(run.err, "");
  return json::parse(run.out);
}

std::int64_t sum_of_terms(const json& task) {
  std::int64_t sum = 0;
  for (const auto& [name, value] : task["terms"].items()) sum += value.get<std::int64_t>();
  return sum;
}

class KnownAnswers : public testing::TestWithParam<KnownAnswer> {};

TEST_P(KnownAnswers, BoundsAreExactAndTheSumOfTheirTerms) {
  const KnownAnswer& known = GetParam();
  const json answer = analyze_as_json(known.file, known.arguments, known.status);
  ASSERT_EQ(answer["results"].size(), 1U);
  const json& result = answer["results"][0];
  EXPECT_EQ(result["schedulable"], known.status == 0);
  EXPECT_EQ(result["label"], "not a guarantee");
  ASSERT_EQ(result["tasks"].size(), known.bounds_us.size());
  for (std::size_t i = 0; i < known.bounds_us.size(); ++i) {
    const json& task = result["tasks"][i];
    SCOPED_TRACE(task["task"].get<std::string>());
    EXPECT_EQ(task["schedulable"], known.bounds_us[i].has_value());
    if (known.bounds_us[i]) {
      EXPECT_EQ(task["bound_ns"], *known.bounds_us[i] * kMicrosecond);
      EXPECT_EQ(sum_of_terms(task), task["bound_ns"]);
      EXPECT_FALSE(task.contains("reason"));
    } else {
      EXPECT_TRUE(task["bound_ns"].is_null());
      EXPECT_TRUE(task["terms"].is_null());
      EXPECT_NE(task["reason"].get<std::string>(), "");
    }
  }
}

const std::vector<KnownAnswer> kKnownAnswers = {
    {"gcaps-case-study.json", {"--policy=gcaps", "--wait=suspend"}, 0, {16000, 32000, 75000, 59000, 79000}},
    {"gcaps-case-study.json", {"--policy=gcaps", "--wait=file"}, 0, {16000, 32000, 75000, 59000, 79000}},
    {"gcaps-case-study.json", {"--policy=gcaps", "--wait=busy"}, 0, {16000, 32000, 111000, 59000, 79000}},
    {"gcaps-case-study.json",
     {"--policy=tsg-rr", "--wait=suspend", "--jitter=deadline"},
     0,
     {60000, 73600, 76000, 98200, 127800}},
    {"gcaps-case-study.json", {"--policy=tsg-rr", "--wait=suspend"}, 0, {60000, 73600, 72000, 98200, 112300}},
    {"gcaps-case-study.json", {"--policy=tsg-rr", "--wait=busy"}, 1, {60000, 73600, 144000, 280200, std::nullopt}},
    {"gcaps-example2.json",
     {"--policy=gcaps", "--wait=suspend", "--gpu-priorities=search"},
     0,
     {19000, 66000, 157000, 127000}},
    {"gcaps-example2.json",
     {"--policy=gcaps", "--wait=busy", "--gpu-priorities=search"},
     0,
     {19000, 59000, 157000, 108000}},
};

INSTANTIATE_TEST_SUITE_P(Published, KnownAnswers, testing::ValuesIn(kKnownAnswers));

TEST(Analyze, Example2HasNoBoundForTask4WithoutTheSearch) {
  for (const char* wait : {"--wait=suspend", "--wait=busy"}) {
    SCOPED_TRACE(wait);
    const json answer = analyze_as_json("gcaps-example2.json", {"--policy=gcaps", wait}, 1);
    const json& task4 = answer["results"][0]["tasks"][3];
    EXPECT_EQ(task4["task"], "task4");
    EXPECT_TRUE(task4["bound_ns"].is_null());
    EXPECT_EQ(answer["results"][0]["gpu_priorities"], "file");
  }
}

TEST(Analyze, TheSearchFindsTheOrderOfExample2) {
  const json answer = analyze_as_json("gcaps-example2.json", {"--policy=gcaps", "--gpu-priorities=search"}, 0);
  const json& result = answer["results"][0];
  EXPECT_EQ(result["gpu_priorities"], "search");
  EXPECT_EQ(result["gpu_priority_search"], "found");
  EXPECT_EQ(result["jitter"], "deadline");
  EXPECT_EQ(result["gpu_priority_order"], json({"task1", "task2", "task4", "task3"}));
}

TEST(Analyze, CompleteJsonOfOneTask) {
  const json answer = analyze_as_json("gcaps-case-study.json", {"--policy=gcaps"}, 0);
  EXPECT_EQ(answer["rtgpu_result"], 1);
  EXPECT_EQ(answer["command"], "analyze");
  EXPECT_EQ(answer["taskset"], RTGPU_CASES "/gcaps-case-study.json");
  EXPECT_FALSE(answer.contains("notes"));
  json result = answer["results"][0];
  EXPECT_EQ(result["tasks"][0], json::parse(R"({
      "task": "histogram", "schedulable": true, "outcome": "bound", "bound_ns": 16000000, "deadline_ns": 100000000,
      "terms": {"own_ns": 12000000, "overhead_ns": 2000000, "cpu_blocking_ns": 2000000, "cpu_preemption_ns": 0,
                "gpu_preemption_ns": 0, "gpu_blocking_ns": 0, "gpu_interleaving_ns": 0, "copy_ns": 0}})"));
  result.erase("tasks");
  EXPECT_EQ(result, json::parse(R"({
      "policy": "gcaps", "wait": "suspend", "variant": "published", "label": "not a guarantee", "schedulable": true,
      "jitter": "response", "gpu_priorities": "file", "gpu_priority_search": "not_needed",
      "gpu_priority_order": ["histogram", "mmul_gpu_1", "mmul_cpu", "projection", "dxtc"]})"));
}

TEST(Analyze, SafeBoundsOfTheCasesThatExceedThePublishedOnes) {
  const auto bounds = [](const std::string& file, const std::string& policy) {
    std::vector<double> found;
    const json answer = analyze_as_json(file, {"--policy=" + policy, "--variant=safe"}, 0);
    for (const json& task : answer["results"][0]["tasks"]) {
      found.push_back(task["bound_ns"].get<double>() / 1e6);
    }
    return found;
  };
  EXPECT_EQ(bounds("gcaps-held-misc.json", "gcaps"), (std::vector<double>{11, 20}));
  EXPECT_EQ(bounds("gcaps-held-misc.json", "gcaps-wc"), (std::vector<double>{11, 15}));
  for (const double bound : bounds("tsg-rr-switch.json", "tsg-rr")) {
    EXPECT_GT(bound, 23.9 - 1e-9);
    EXPECT_LE(bound, 24);
  }
}

TEST(Analyze, ContributionsAddUpToTheTerms) {
  json results =
      analyze_as_json("gcaps-case-study.json",
                      {"--explain", "--wait=suspend", "--policy=gcaps,tsg-rr,mpcp,fmlp+,server"}, 0)["results"];
  ASSERT_EQ(results.size(), 5U);
  const json safe = analyze_as_json(
      "gcaps-case-study.json", {"--explain", "--policy=gcaps,gcaps-wc,tsg-rr,mpcp,fmlp+,server", "--variant=safe"}, 0);
  for (const json& result : safe["results"]) results.push_back(result);
  ASSERT_EQ(results.size(), 11U);
  for (const json& result : results) {
    for (const json& task : result["tasks"]) {
      SCOPED_TRACE(result["policy"].get<std::string>() + " " + task["task"].get<std::string>());
      std::map<std::string, std::int64_t> sums;
      for (const json& part : task["contributions"]) {
        sums[part["term"].get<std::string>() + "_ns"] += part["amount_ns"].get<std::int64_t>();
      }
      for (const auto& [term, value] : task["terms"].items()) EXPECT_EQ(sums[term], value) << term;
    }
  }
}

TEST(Analyze, ExplainNamesWhoPreempts) {
  const json answer = analyze_as_json("gcaps-case-study.json", {"--explain", "--policy=gcaps"}, 0);
  const json& mmul_cpu = answer["results"][0]["tasks"][2];
  // C + Gm + 2 epsilon of the GPU task on its core.
  EXPECT_THAT(mmul_cpu["contributions"],
              testing::Contains(
                  json::parse(R"({"term": "cpu_preemption", "task": "mmul_gpu_1", "jobs": 1, "amount_ns": 6000000})")));
}

}  // namespace
}  // namespace rtgpu
