// `rtgpu run` end to end: in virtual time against the simulation, formats, answers, traces; in real time that it ends.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kFirstTaskset = RTGPU_EXAMPLES "/first-taskset.json";

json answer_of(std::vector<std::string> arguments, const std::string& input = {}) {
  arguments.emplace_back("--format=json");
  const ProcessResult run = run_rtgpu(arguments, {.input = input});
  EXPECT_LE(run.status, 1) << run.err;
  return json::parse(run.out);
}

class RunUnderPolicy : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

// What both say of each task.
json common_part(const json& answer) {
  json tasks = json::array();
  for (const json& task : answer["results"][0]["tasks"]) {
    json part;
    for (const char* key : {"task", "jobs", "misses", "max_response_ns", "mean_response_ns", "job", "deadline_ns"}) {
      part[key] = task.at(key);
    }
    tasks.push_back(part);
  }
  return tasks;
}

TEST_P(RunUnderPolicy, VirtualTimeShowsWhatTheSimulationShows) {
  const auto& [policy, file] = GetParam();
  const std::vector<std::vector<std::string>> variants = {
      {}, {"--releases=sporadic", "--execution=random", "--seed=7", "--trial=3"}, {"--wait=busy", "--trial=1"}};
  for (const std::vector<std::string>& variant : variants) {
    std::vector<std::string> run = {"run", file, "--virtual-time", "--policy", policy, "--duration=1s"};
    std::vector<std::string> simulate = {"simulate", file, "--policy", policy, "--horizon=1s"};
    run.insert(run.end(), variant.begin(), variant.end());
    simulate.insert(simulate.end(), variant.begin(), variant.end());
    const json ran = answer_of(run);
    const json simulated = answer_of(simulate);
    EXPECT_EQ(common_part(ran), common_part(simulated)) << testing::PrintToString(variant);
    EXPECT_EQ(ran["results"][0]["policy"], policy);
    EXPECT_EQ(ran["results"][0]["wait"], simulated["results"][0]["wait"]);
    EXPECT_EQ(ran["yes"], simulated["results"][0]["misses"] == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Run, RunUnderPolicy,
                         testing::Combine(testing::Values("gcaps", "gcaps-wc", "tsg-rr", "mpcp", "fmlp+",
                                                          "stream-priority"),
                                          testing::Values(kFirstTaskset)));

INSTANTIATE_TEST_SUITE_P(RunMixed, RunUnderPolicy,
                         testing::Combine(testing::Values("gcaps", "mpcp"),
                                          testing::Values(RTGPU_EXAMPLES "/mixed-wait-modes.json",
                                                          RTGPU_EXAMPLES "/gcaps-case-study.json")));

TEST(Run, BoundsAreThoseOfTheAnalysis) {
  const json ran = answer_of({"run", kFirstTaskset, "--virtual-time", "--policy=gcaps", "--check-bounds"});
  const json analysed = answer_of({"analyze", kFirstTaskset, "--policy=gcaps"});
  const json& tasks = ran["results"][0]["tasks"];
  ASSERT_EQ(tasks.size(), 3U);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const json& bound = analysed["results"][0]["tasks"][i]["bound_ns"];
    EXPECT_EQ(tasks[i]["bound_ns"], bound);
    const double share = tasks[i]["max_response_ns"].get<double>() / bound.get<double>();
    EXPECT_DOUBLE_EQ(tasks[i]["observed_over_bound"].get<double>(), share);
    EXPECT_LE(share, 1.0);
  }
  EXPECT_EQ(ran["yes"], true);
}

TEST(Run, CompleteJson) {
  json answer = answer_of({"run", "-", "--virtual-time", "--duration=15ms"}, schedulable_set());
  const json results = answer["results"];
  answer.erase("results");
  EXPECT_EQ(answer, json::parse(R"({"rtgpu_result": 1, "command": "run", "taskset": "-", "duration_ns": 15000000,
      "length_ns": 12000000, "virtual_time": true, "interrupted": false, "trial": 0, "seed": 0,
      "releases": "periodic", "execution": "worst", "check_bounds": false, "yes": true, "realtime": []})"));
  ASSERT_EQ(results.size(), 1U);
  json result = results[0];
  const json task = result["tasks"][0];
  result.erase("tasks");
  EXPECT_EQ(result, json::parse(R"({"policy": "mpcp", "wait": "suspend", "device": "host", "device_name": "gpu0",
      "misses": 0, "bounds_exceeded": [], "device_lost": false, "overheads": {
        "grant": {"count": 0, "p50_ns": null, "p99_ns": null, "p999_ns": null, "max_ns": null},
        "completion": {"count": 0, "p50_ns": null, "p99_ns": null, "p999_ns": null, "max_ns": null}}})"));
  EXPECT_EQ(task, json::parse(R"({"task": "a", "jobs": 2, "misses": 0, "min_response_ns": 2000000,
      "mean_response_ns": 2000000, "p999_response_ns": 2000000, "max_response_ns": 2000000, "job": 0,
      "deadline_ns": 10000000, "best_effort": false, "bound_ns": 2000000, "declared_bound_ns": 2000000,
      "observed_over_bound": 1.0,
      "release_jitter": {"count": 2, "p50_ns": 0, "p99_ns": 0, "p999_ns": 0, "max_ns": 0},
      "grant": {"count": 0, "p50_ns": null, "p99_ns": null, "p999_ns": null, "max_ns": null},
      "completion": {"count": 0, "p50_ns": null, "p99_ns": null, "p999_ns": null, "max_ns": null},
      "skipped": 0, "aborted": 0, "budget_overruns": 0, "gpu_failures": 0, "faults": 0, "thread_died": false,
      "declared_bound_ns": 2000000})"));
}

TEST(Run, StreamLevelsAreTold) {
  const json answer = answer_of({"run", kFirstTaskset, "--virtual-time", "--policy=stream-priority"});
  std::vector<int> levels;
  for (const json& task : answer["results"][0]["tasks"]) levels.push_back(task["stream_level"]);
  EXPECT_TRUE(std::is_sorted(levels.begin(), levels.end())) << testing::PrintToString(levels);
  EXPECT_LT(levels.front(), levels.back());
}

// high executes until 6, and from 10 to 16 and 20 to 26; jobs of low, 5 long, complete at 17, 28 and 33. Only its first
// job has no earlier one in its way, and begins at 6.
TEST(Run, TableAndTheAnswerNo) {
  const ProcessResult run =
      run_rtgpu({"run", "-", "--virtual-time", "--duration=20ms", "--format=table", "--check-bounds"},
                {.input = unschedulable_set()});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out,
            "-: 2 real-time tasks, 2 cores\n"
            "mpcp, suspend, on host\n"
            "33 ms of virtual time, trial 0 from seed 0, periodic releases, worst-case execution times\n"
            "\n"
            "  task  jobs  misses  deadline  min  mean  99.9 %  max  bound  max/bound  late 99.9 %  late max\n"
            "  high     3       0        10    6     6       6    6      6      1.000            0         0\n"
            "  low      3       3        10   13    16      18   18      -      -                6         6\n"
            "times in ms; late: from a release to the start of its job, where no earlier one was in the way\n"
            "low: no bound: the recurrence passes the deadline, 10ms\n"
            "\n"
            "3 deadlines missed, no bound of low under mpcp suspend\n");
}

TEST(Run, ADeadlineMissedIsANo) {
  const ProcessResult run = run_rtgpu({"run", kFirstTaskset, "--virtual-time", "--policy=tsg-rr", "--format=table"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr(" missed under tsg-rr suspend\n"));
  EXPECT_THAT(run.out, Not(HasSubstr("seen, not proved")));
  const ProcessResult other = run_rtgpu({"run", kFirstTaskset, "--virtual-time", "--policy=gcaps", "--format=table"});
  EXPECT_EQ(other.status, 0);
  EXPECT_THAT(other.out,
              testing::EndsWith("\nno deadline missed, no bound exceeded under gcaps suspend (seen, not proved)\n"));
}

TEST(Run, SharedCoresHaveNoBounds) {
  const json answer = answer_of({"run", "-", "--virtual-time", "--share-cores"}, schedulable_set());
  EXPECT_TRUE(answer["results"][0]["tasks"][0]["bound_ns"].is_null());
  EXPECT_EQ(answer["notes"],
            json({"no bound is claimed: with --share-cores tasks do not run as the analysis assumes"}));
}

TEST(Run, Csv) {
  const ProcessResult run =
      run_rtgpu({"run", "-", "--virtual-time", "--duration=20ms", "--format=csv"}, {.input = unschedulable_set()});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out,
            "taskset,policy,wait,task,jobs,misses,min_response_ns,mean_response_ns,p999_response_ns,max_response_ns,"
            "deadline_ns,bound_ns,observed_over_bound,p999_release_jitter_ns,max_release_jitter_ns,p999_grant_ns,"
            "max_grant_ns,p999_completion_ns,max_completion_ns,skipped,aborted,gpu_failures,faults\n"
            "-,mpcp,suspend,high,3,0,6000000,6000000,6000000,6000000,10000000,6000000,1.000,0,0,,,,,0,0,0,0\n"
            "-,mpcp,suspend,low,3,3,13000000,16000000,18000000,18000000,10000000,,,6000000,6000000,,,,,0,0,0,0\n");
}

TEST(Run, TraceHoldsTheLongestResponse) {
  const TemporaryFile trace("");
  const json answer = answer_of(
      {"run", kFirstTaskset, "--virtual-time", "--policy=gcaps", "--duration=200ms", "--trace", trace.path()});
  std::ifstream in(trace.path());
  const json recorded = json::parse(in);
  std::int64_t longest = 0;
  for (const json& event : recorded["traceEvents"]) {
    if (event["name"] == "completion") longest = std::max(longest, event["args"]["response_ns"].get<std::int64_t>());
  }
  EXPECT_EQ(longest, answer["results"][0]["tasks"][2]["max_response_ns"]);
}

// A job at time 0, and another one much later.
const std::string kPatientSet =
    taskset_of(R"({"name": "a", "period": "100s", "priority": 1, "segments": [{"cpu": "10us"}, {"gpu": {"misc": 0,
                   "exec": "10us"}}]})");

TEST(RunInRealTime, WithoutPrivileges) {
  const ProcessResult run =
      run_rtgpu({"run", "-", "--scheduler=normal", "--duration=1ms", "--format=json"}, {.input = kPatientSet});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "rtgpu: running - under mpcp on host for 1ms\n");
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["virtual_time"], false);
  const json& task = answer["results"][0]["tasks"][0];
  EXPECT_EQ(task["jobs"], 1);
  EXPECT_GE(task["max_response_ns"], 20'000);
  EXPECT_EQ(task["completion"]["count"], 1);
  std::vector<std::string> things;
  for (const json& item : answer["realtime"]) {
    things.push_back(item["what"]);
    EXPECT_TRUE(item["ok"]) << item;
  }
  EXPECT_THAT(things, testing::Contains("CPU of a"));
  EXPECT_THAT(things, Not(testing::Contains("memory")));
}

TEST(RunInRealTime, AnInterruptEndsItWithASummary) {
  const ProcessResult run = run_rtgpu({"run", "-", "--scheduler=normal", "--duration=600s", "--format=json"},
                                      {.input = kPatientSet, .interrupt_after = "rtgpu: running"});
  EXPECT_EQ(run.status, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["interrupted"], true);
  EXPECT_LT(answer["length_ns"], 600'000'000'000);
}

}  // namespace
}  // namespace rtgpu
