// `rtgpu simulate` end to end: known answers, formats, trials, traces and charts.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kCaseStudy = RTGPU_CASES "/gcaps-case-study.json";

json simulate(std::vector<std::string> arguments, int status = 0) {
  arguments.insert(arguments.begin(), {"simulate", "--format", "json"});
  const ProcessResult run = run_rtgpu(arguments);
  EXPECT_EQ(run.status, status) << run.err;
  return json::parse(run.out);
}

struct SimulatedAnswer {
  std::string policy;
  std::vector<std::int64_t> longest_us;
};

void PrintTo(const SimulatedAnswer& answer, std::ostream* out) {
  *out << answer.policy;
}

class SimulateCaseStudy : public testing::TestWithParam<SimulatedAnswer> {};

// histogram under gcaps: 12 ms of its own, two updates of 1 ms, and 0.5 ms in which dxtc's update holds its core.
TEST_P(SimulateCaseStudy, LongestResponsesOfTheSynchronousRelease) {
  const json answer = simulate({kCaseStudy, "--policy", GetParam().policy, "--horizon", "4s"});
  const json& tasks = answer["results"][0]["tasks"];
  ASSERT_EQ(tasks.size(), GetParam().longest_us.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i]["max_response_ns"], GetParam().longest_us[i] * 1000) << tasks[i]["task"];
    EXPECT_EQ(tasks[i]["misses"], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Simulate, SimulateCaseStudy,
                         testing::Values(SimulatedAnswer{"gcaps", {14500, 28000, 74000, 47500, 59000, 117000}},
                                         SimulatedAnswer{"tsg-rr", {48600, 65900, 72000, 84800, 85800, 123700}},
                                         SimulatedAnswer{"mpcp", {12500, 36500, 72000, 47000, 57500, 102500}}));

TEST(Simulate, CompleteJsonOfOneTask) {
  const json answer = simulate({kCaseStudy, "--policy=fmlp+", "--horizon=1s", "--seed=9"});
  json rest = answer;
  rest.erase("results");
  EXPECT_EQ(rest, json({{"rtgpu_result", 1},
                        {"command", "simulate"},
                        {"taskset", kCaseStudy},
                        {"horizon_ns", 1'000'000'000},
                        {"first_trial", 0},
                        {"trials", 1},
                        {"seed", 9},
                        {"releases", "periodic"},
                        {"execution", "worst"}}));
  const json& result = answer["results"][0];
  EXPECT_EQ(result["policy"], "fmlp+");
  EXPECT_EQ(result["wait"], "suspend");
  EXPECT_EQ(result["misses"], 0);
  EXPECT_EQ(result["tasks"][0], json::parse(R"({"task": "histogram", "jobs": 11, "misses": 0,
      "max_response_ns": 12000000, "mean_response_ns": 12000000, "trial": 0, "job": 0, "deadline_ns": 100000000,
      "best_effort": false, "incomplete": 0, "max_response_complete": true})"));
  EXPECT_TRUE(result["tasks"][5]["deadline_ns"].is_null());
}

TEST(Simulate, APublishedBoundIsExceeded) {
  // The published bound of low is 15 ms.
  const json answer = simulate({RTGPU_CASES "/gcaps-held-misc.json", "--policy=gcaps,gcaps-wc"});
  EXPECT_EQ(answer["results"][0]["tasks"][1]["max_response_ns"], 20'000'000);
  EXPECT_EQ(answer["results"][1]["policy"], "gcaps-wc");
}

TEST(Simulate, WaitModes) {
  EXPECT_EQ(simulate({kCaseStudy, "--policy=gcaps", "--wait=busy"})["results"][0]["wait"], "busy");
  const json answer = simulate({RTGPU_EXAMPLES "/mixed-wait-modes.json", "--policy=gcaps"});
  EXPECT_EQ(answer["results"][0]["wait"], "mixed");
}

TEST(Simulate, AllPoliciesThatCanBeSimulatedByDefault) {
  const ProcessResult run = run_rtgpu({"simulate", kCaseStudy});
  EXPECT_EQ(run.status, 0);
  std::vector<std::string> names;
  const json answer = json::parse(run.out);
  for (const json& result : answer["results"]) names.push_back(result["policy"]);
  EXPECT_EQ(names, (std::vector<std::string>{"gcaps", "gcaps-wc", "tsg-rr", "mpcp", "fmlp+", "stream-priority",
                                             "federated", "server"}));
  // It needs to know how many stream levels there are.
  EXPECT_EQ(answer["results"][5]["error"]["pointer"], "/platform/gpus/0/stream_priorities");
  EXPECT_THAT(run.err, HasSubstr("note: not simulated: " + kCaseStudy + ": /platform/gpus/0/stream_priorities"));
  EXPECT_EQ(answer["results"][6]["error"]["pointer"], "/platform/gpus/0/sms");
}

TEST(Simulate, WhereNoPolicyCanBeSimulatedThereIsNoAnswer) {
  const ProcessResult run = run_rtgpu({"simulate", kCaseStudy, "--policy=stream-priority"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("error: " + kCaseStudy + ": /platform/gpus/0/stream_priorities"));
}

TEST(Simulate, MissedDeadlinesAreANo) {
  const ProcessResult run =
      run_rtgpu({"simulate", "-", "--policy=gcaps", "--format=json"}, {.input = unschedulable_set()});
  EXPECT_EQ(run.status, 1);
  const json low = json::parse(run.out)["results"][0]["tasks"][1];
  // 11 jobs of high until 100 ms leave 134 ms of 200 for low: all 11 jobs of 5 complete, the n-th at 11 + 11 (n - 1).
  EXPECT_EQ(low["jobs"], 11);
  EXPECT_EQ(low["misses"], 11);
}

TEST(Simulate, JobsThatDoNotCompleteAreTold) {
  const std::string input = taskset_of(R"({"name": "high", "period": 10, "priority": 2, "segments": [{"cpu": 9}]},)"
                                       R"({"name": "low", "period": 10, "priority": 1, "segments": [{"cpu": 9}]})");
  const std::vector<std::string> arguments = {"simulate", "-", "--policy=gcaps", "--horizon=40ms"};
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--format=json");
  const ProcessResult run = run_rtgpu(as_json, {.input = input});
  EXPECT_EQ(run.status, 1);
  const json low = json::parse(run.out)["results"][0]["tasks"][1];
  EXPECT_EQ(low["jobs"], 3);
  EXPECT_EQ(low["incomplete"], 2);
  EXPECT_EQ(low["misses"], 5);
  std::vector<std::string> as_table = arguments;
  as_table.emplace_back("--format=table");
  EXPECT_THAT(run_rtgpu(as_table, {.input = input}).out, HasSubstr("2 jobs cut off by the end of the run"));
}

TEST(Simulate, ATrialCanBeMadeAgainAlone) {
  const std::vector<std::string> common = {kCaseStudy, "--policy=mpcp", "--releases=sporadic", "--execution=random",
                                           "--seed=5"};
  std::vector<std::string> many = common;
  many.emplace_back("--trials=30");
  const json all = simulate(many);
  EXPECT_EQ(all, simulate(many)) << "the same seed gives the same answer";
  const json& task = all["results"][0]["tasks"][0];
  std::vector<std::string> one = common;
  one.push_back("--trial=" + task["trial"].dump());
  const json again = simulate(one)["results"][0]["tasks"][0];
  EXPECT_EQ(again["max_response_ns"], task["max_response_ns"]);
  EXPECT_EQ(again["job"], task["job"]);
  EXPECT_EQ(again["trial"], task["trial"]);
  std::vector<std::string> other = common;
  other.back() = "--seed=6";
  other.emplace_back("--trials=30");
  EXPECT_NE(simulate(other)["results"], all["results"]);
}

// While high runs, low has 4 of every 10 ms: 400 ms by 1000, when its 80th job of 5 completes; the next runs from 1006
// to 1011, and was released at 800. After that they catch up.
TEST(Simulate, Table) {
  const ProcessResult run =
      run_rtgpu({"simulate", "-", "--policy=gcaps", "--horizon=1s", "--format=table"}, {.input = unschedulable_set()});
  EXPECT_EQ(run.out,
            "-: 2 real-time tasks, 2 cores\n"
            "trial 0 from seed 0, periodic releases until 1000 ms, worst-case execution times\n"
            "\n"
            "gcaps, suspend: 101 deadlines missed\n"
            "  task  cpu  priority  deadline  jobs  misses  longest  % of deadline     mean\n"
            "  high    0         2        10   101       0        6           60.0    6\n"
            "  low     0         1        10   101     101      211         2110.0  123.376\n"
            "\n"
            "times in ms\n"
            "deadlines missed under gcaps suspend\n");
}

TEST(Simulate, CsvAndNdjson) {
  const std::string input = schedulable_set() + "\n" + R"({"rtgpu": 1})" + "\n" + unschedulable_set() + "\n";
  const ProcessResult csv = run_rtgpu({"simulate", "-", "--policy=gcaps", "--format=csv"}, {.input = input});
  EXPECT_EQ(csv.status, 2);
  EXPECT_THAT(csv.out,
              testing::StartsWith("index,taskset,policy,wait,task,jobs,misses,max_response_ns,mean_response_ns,"
                                  "trial,deadline_ns,incomplete,reason\n"
                                  "0,-,gcaps,suspend,a,11,0,2000000,2000000,0,10000000,0,\n"
                                  "1,-,,,,,,,,,,,"));
  const ProcessResult lines = run_rtgpu({"simulate", "-", "--policy=gcaps"}, {.input = input});
  EXPECT_EQ(lines.status, 2);
  EXPECT_THAT(lines.out, testing::StartsWith(R"({"index":0,"results":[{"policy":"gcaps","wait":"suspend","misses":[0],)"
                                             R"("max_responses_ns":[2000000]}]})"));
  EXPECT_THAT(lines.out, HasSubstr(R"("index":1,"error":{)"));
  EXPECT_THAT(lines.out, HasSubstr(R"({"index":2,"results":[{"policy":"gcaps","wait":"suspend","misses":[0,11],)"));
}

// A name for a file that is removed at the end.
class OutputFile {
 public:
  explicit OutputFile(const std::string& suffix) : file_("", suffix) {}
  const std::string& path() const { return file_.path(); }
  std::string content() const {
    std::ifstream in(path());
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TemporaryFile file_;
};

TEST(Simulate, TraceAndChartAreOfTheWorstTrial) {
  const OutputFile trace(".json");
  const OutputFile chart(".svg");
  const ProcessResult run = run_rtgpu({"simulate", kCaseStudy, "--policy=gcaps", "--trials=20", "--releases=sporadic",
                                       "--trace", trace.path(), "--gantt", chart.path()});
  EXPECT_EQ(run.status, 0) << run.err;
  const json tasks = json::parse(run.out)["results"][0]["tasks"];
  // mmul_cpu comes nearest to its deadline.
  const std::string trial = tasks[2]["trial"].dump();
  EXPECT_THAT(run.err, HasSubstr("recorded trial " + trial + ", which has the longest response for its deadline: "));
  std::int64_t longest = 0;
  const json recorded = json::parse(trace.content());
  for (const json& event : recorded["traceEvents"]) {
    if (event["name"] == "completion" && event["tid"] == 3) {
      longest = std::max(longest, event["args"]["response_ns"].get<std::int64_t>());
    }
  }
  EXPECT_EQ(longest, tasks[2]["max_response_ns"]);
  EXPECT_THAT(recorded["otherData"]["title"], HasSubstr("gcaps, suspend, trial " + trial + " of seed 0"));
  EXPECT_THAT(chart.content(), testing::StartsWith("<?xml"));
  EXPECT_THAT(chart.content(), HasSubstr(">mmul_cpu<"));
}

TEST(Simulate, ARunTooLongToRecordIsRefused) {
  const OutputFile trace(".json");
  const std::string input =
      taskset_of(R"({"name": "a", "period": "100us", "priority": 1, "segments": [{"cpu": "1us"}]})");
  const ProcessResult run =
      run_rtgpu({"simulate", "-", "--policy=gcaps", "--horizon=60s", "--trace", trace.path()}, {.input = input});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("--trace: found a run of 1200002 events; expected at most 1000000. Give a shorter"));
  EXPECT_EQ(trace.content(), "");
}

TEST(Simulate, AFileThatCannotBeWrittenIsTheEnvironmentsFault) {
  const ProcessResult run =
      run_rtgpu({"simulate", kCaseStudy, "--policy=gcaps", "--gantt", "/nonexistent/folder/chart.svg"});
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("cannot write /nonexistent/folder/chart.svg: No such file"));
}

TEST(Simulate, OneTasksetForATrace) {
  const ProcessResult run = run_rtgpu({"simulate", "-", "--policy=gcaps", "--trace=/tmp/never-written.json"},
                                      {.input = schedulable_set() + "\n" + schedulable_set() + "\n"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("--trace: found -, which holds several tasksets; expected one taskset"));
}

TEST(Simulate, WithoutTasksThereIsNothingToRecordOrMiss) {
  const OutputFile trace(".json");
  const ProcessResult run =
      run_rtgpu({"simulate", "-", "--policy=gcaps", "--trace", trace.path()}, {.input = taskset_of("")});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("error: "));
}

struct RefusedSimulation {
  std::vector<std::string> arguments;
  std::vector<std::string> told;  // parts of standard error
};

void PrintTo(const RefusedSimulation& refused, std::ostream* out) {
  for (const std::string& argument : refused.arguments) *out << argument << ' ';
}

class RefusedSimulateOptions : public testing::TestWithParam<RefusedSimulation> {};

TEST_P(RefusedSimulateOptions, EndWithStatus2AndNoOutput) {
  std::vector<std::string> arguments = {"simulate", kCaseStudy};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const ProcessResult run = run_rtgpu(arguments);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::StartsWith("rtgpu: error: "));
  for (const std::string& part : GetParam().told) EXPECT_THAT(run.err, HasSubstr(part));
}

const std::vector<RefusedSimulation> kRefusedSimulations = {
    {{"--policy", "gcasp"}, {"--policy: found 'gcasp'", "Did you mean 'gcaps'?", "server, all"}},
    {{"--wait", "buzy"}, {"Did you mean 'busy'?"}},
    {{"--horizon", "10"}, {"--horizon: found '10'; expected a time above 0 with its unit", "10s or 500ms"}},
    {{"--horizon", "0s"}, {"--horizon"}},
    {{"--horizon", "1000001s"}, {"--horizon: found '1000001s'", "up to 1000000s"}},
    {{"--trials", "0"}, {"--trials: found '0'; expected a whole number from 1 to 1000000000"}},
    {{"--trials", "many"}, {"--trials: found 'many'"}},
    {{"--trials", "2", "--trial", "1"}, {"both --trials 2 and --trial 1", "one of them"}},
    {{"--trial", "-1"}, {"--trial: found '-1'"}},
    {{"--seed", "18446744073709551616"}, {"--seed", "from 0 to 18446744073709551615"}},
    {{"--releases", "sporadically"}, {"--releases: found 'sporadically'; expected one of periodic, sporadic"}},
    {{"--execution", "worts"}, {"--execution", "Did you mean 'worst'?"}},
    {{"--format", "svg"}, {"--format"}},
    {{"--trace", "/tmp/x.json"}, {"--trace: found 8 policies; expected one policy. Choose one"}},
    {{"--policy=gcaps,mpcp", "--gantt", "/tmp/x.svg"}, {"--gantt: found 2 policies"}},
    {{"--policy=gcaps", "--trace", "-"}, {"--trace", "the name of a file"}},
    {{"--policy=gcaps", "--trace", kCaseStudy}, {"--trace", "the taskset; expected another file"}},
    {{"--policy=gcaps", "--trace", "/tmp/x", "--gantt", "/tmp/x"}, {"--gantt: found the file of --trace"}},
    {{"--trials", "x", "--seed", "y", "--horizon", "z"}, {"--trials", "--seed", "--horizon", "3 errors"}},
};

INSTANTIATE_TEST_SUITE_P(Simulate, RefusedSimulateOptions, testing::ValuesIn(kRefusedSimulations));

TEST(Simulate, HelpNamesEveryOptionAndTheRule) {
  const ProcessResult run = run_rtgpu({"simulate", "--help"});
  EXPECT_EQ(run.status, 0);
  for (const char* part : {"FILE", "--policy", "--wait", "--horizon", "10 times the longest period", "--trials",
                           "--trial ", "--seed", "--releases", "--execution", "--trace", "--gantt", "--format",
                           "Examples:", "Exit status:", "no deadline was missed under at least one of the policies"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
}

}  // namespace
}  // namespace rtgpu
