// Options of `analyze` that are refused, and those that combine.
#include "analysis/analysis.h"
#include "tests/tools/documents.h"
#include "tests/tools/process.h"
#include "tools/analyze_request.h"

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

struct RefusedAnalysis {
  std::vector<std::string> arguments;
  std::vector<std::string> told;  // parts of standard error
};

void PrintTo(const RefusedAnalysis& refused, std::ostream* out) {
  for (const std::string& argument : refused.arguments) *out << argument << ' ';
}

class RefusedOptions : public testing::TestWithParam<RefusedAnalysis> {};

TEST_P(RefusedOptions, EndWithStatus2AndNoOutput) {
  std::vector<std::string> arguments = {"analyze", RTGPU_CASES "/gcaps-case-study.json"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const ProcessResult run = run_rtgpu(arguments);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::StartsWith("rtgpu: error: "));
  for (const std::string& part : GetParam().told) EXPECT_THAT(run.err, HasSubstr(part));
}

const std::vector<RefusedAnalysis> kRefusedAnalyses = {
    {{"--variant", "save"}, {"--variant: found 'save'", "Did you mean 'safe'?"}},
    {{"--policy", "gcasp"}, {"--policy: found 'gcasp'", "Did you mean 'gcaps'?", "tsg-rr"}},
    {{"--policy", "gcaps,gcaps-wc", "--variant", "published"}, {"There is a safe analysis of gcaps-wc."}},
    {{"--policy", ""}, {"--policy"}},
    {{"--wait", "buzy"}, {"--wait: found 'buzy'; expected one of suspend, busy, file. Did you mean 'busy'?"}},
    {{"--jitter", "deadlines"}, {"--jitter", "Did you mean 'deadline'?"}},
    {{"--gpu-priorities", "serach"}, {"--gpu-priorities", "Did you mean 'search'?"}},
    {{"--policy", "tsg-rr", "--gpu-priorities", "search"}, {"--gpu-priorities", "tsg-rr"}},
    {{"--format", "xml"}, {"--format: found 'xml'; expected one of table, json, ndjson, csv"}},
    {{"--wait", "buzy", "--format", "xml"}, {"--wait", "--format", "2 errors"}},
    {{"--polcy", "gcaps"}, {"analyze: unknown option '--polcy'; did you mean '--policy'?", "see rtgpu analyze --help"}},
    {{"--fromat=json"}, {"unknown option '--fromat'; did you mean '--format'?"}},
    {{"-x"}, {"unknown option '-x'"}},
    {{"second.json"}, {"unexpected argument 'second.json'"}},
    {{"--policy"}, {"--policy"}},
};

INSTANTIATE_TEST_SUITE_P(Analyze, RefusedOptions, testing::ValuesIn(kRefusedAnalyses));

TEST(AnalyzeOptions, TheFileIsNeeded) {
  const ProcessResult run = run_rtgpu({"analyze"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("FILE"));
}

std::vector<std::string> policies_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"analyze", RTGPU_CASES "/gcaps-case-study.json", "--format=json"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<std::string> names;
  const json answer = json::parse(run_rtgpu(all).out);
  for (const json& result : answer["results"]) names.push_back(result["policy"]);
  return names;
}

TEST(AnalyzeOptions, PoliciesInTheOrderTheyAreNamed) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(policies_of({"--policy", "tsg-rr", "--policy", "gcaps"}), (Names{"tsg-rr", "gcaps"}));
  EXPECT_EQ(policies_of({"--policy=tsg-rr,gcaps,tsg-rr"}), (Names{"tsg-rr", "gcaps"}));
  EXPECT_EQ(policies_of({"--policy=tsg-rr", "--policy=all"}),
            (Names{"tsg-rr", "gcaps", "gcaps-wc", "mpcp", "fmlp+", "stream-priority", "federated", "server"}));
  EXPECT_EQ(policies_of({"--policy=all", "--variant=published"}),
            (Names{"gcaps", "tsg-rr", "mpcp", "fmlp+", "federated", "server"}));
  EXPECT_EQ(policies_of({"--policy=all"}), policies_of({}));
}

TEST(AnalyzeOptions, TheFileMayComeLast) {
  const ProcessResult run = run_rtgpu({"analyze", "--policy", "gcaps", RTGPU_CASES "/gcaps-case-study.json"});
  EXPECT_EQ(run.status, 0) << run.err;
}

TEST(AnalyzeOptions, AFileMayHaveTheNameOfACommandOrBeginWithADash) {
  const ProcessResult named = run_rtgpu({"analyze", "plan"});
  EXPECT_THAT(named.err, HasSubstr("plan"));
  EXPECT_THAT(named.err, testing::Not(HasSubstr("not there yet")));
  const ProcessResult dashed = run_rtgpu({"analyze", "--", "--policy"});
  EXPECT_EQ(dashed.status, 2);
  EXPECT_THAT(dashed.err, HasSubstr("error: --policy"));
}

TEST(AnalyzeOptions, SearchWhereThereIsOneAndANoteElsewhere) {
  const ProcessResult run =
      run_rtgpu({"analyze", RTGPU_CASES "/gcaps-example2.json", "--gpu-priorities=search", "--format=json"});
  EXPECT_THAT(run.err, HasSubstr("rtgpu: note: "));
  EXPECT_THAT(run.err, HasSubstr("tsg-rr"));
  EXPECT_EQ(run.status, 0);
  const json results = json::parse(run.out)["results"];
  EXPECT_EQ(results[0]["policy"], "gcaps");
  EXPECT_EQ(results[0]["gpu_priority_search"], "none");
  EXPECT_EQ(results[1]["policy"], "gcaps-wc");
  EXPECT_EQ(results[1]["gpu_priorities"], "search");
  EXPECT_EQ(results[1]["gpu_priority_order"], json({"task1", "task2", "task4", "task3"}));
  EXPECT_EQ(results[1]["schedulable"], true);
}

// tsg-rr needs to know the time slice; gcaps does not.
std::string set_without_time_slice() {
  return taskset_of(
      R"({"name": "g", "period": 10, "priority": 1, "segments": [{"cpu": 1}, {"gpu": {"exec": 2}}, {"cpu": 1}]})");
}

TEST(AnalyzeOptions, AnAnalysisThatDoesNotCoverTheSetIsToldBesideTheOthers) {
  const ProcessResult run = run_rtgpu({"analyze", "-", "--format=json"}, {.input = set_without_time_slice()});
  EXPECT_EQ(run.status, 0);
  const json refused = json::parse(run.out)["results"][2];
  EXPECT_EQ(refused["policy"], "tsg-rr");
  EXPECT_EQ(refused["schedulable"], false);
  EXPECT_EQ(refused["error"]["code"], "unsupported");
  EXPECT_EQ(refused["error"]["pointer"], "/platform/gpus/0/overheads/time_slice");
  EXPECT_THAT(run.err, HasSubstr("rtgpu: note: not analysed: -: /platform/gpus/0/overheads/time_slice"));
}

TEST(AnalyzeOptions, WhereNoAnalysisCoversTheSetThereIsNoAnswer) {
  const ProcessResult run = run_rtgpu({"analyze", "-", "--policy=tsg-rr"}, {.input = set_without_time_slice()});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("rtgpu: error: -: /platform/gpus/0/overheads/time_slice"));
}

TEST(AnalyzeOptions, ARefusalInAStreamIsAnErrorLine) {
  const std::string input = set_without_time_slice() + "\n" + schedulable_set() + "\n";
  const ProcessResult run = run_rtgpu({"analyze", "-", "--policy=tsg-rr"}, {.input = input});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.out, testing::StartsWith(R"({"index":0,"error":{"code":"unsupported")"));
}

TEST(AnalyzeOptions, BeyondTheDeadline) {
  // Bound of the low task: 6 + 3 = 9, above its deadline and below its period.
  const std::string input =
      taskset_of(R"({"name": "high", "period": 10, "priority": 2, "segments": [{"cpu": 6}]},)"
                 R"({"name": "low", "period": 10, "deadline": 8, "priority": 1, "segments": [{"cpu": 3}]})");
  const ProcessResult run =
      run_rtgpu({"analyze", "-", "--policy=gcaps", "--beyond-deadline", "--format=json"}, {.input = input});
  EXPECT_EQ(run.status, 1);
  const json low = json::parse(run.out)["results"][0]["tasks"][1];
  EXPECT_EQ(low["bound_ns"], 9000000);
  EXPECT_EQ(low["schedulable"], false);
  EXPECT_TRUE(low.contains("reason"));
  const ProcessResult table =
      run_rtgpu({"analyze", "-", "--policy=gcaps", "--beyond-deadline", "--format=table"}, {.input = input});
  EXPECT_THAT(table.out, HasSubstr("     9     -1  "));
}

TEST(AnalyzeOptions, TheDefaultVariantIsSafe) {
  const ProcessResult run = run_rtgpu({"analyze", RTGPU_CASES "/gcaps-held-misc.json", "--format=json"});
  for (const json& result : json::parse(run.out)["results"]) EXPECT_EQ(result["variant"], "safe");
}

TEST(AnalyzeOptions, StreamLevelsArePartOfTheOutput) {
  const std::string input = R"({"rtgpu": 1, "platform": {"cpus": 1, "gpus": [{"stream_priorities": 2}]}, "tasks": [)"
                            R"({"name": "a", "period": 100, "priority": 4, "segments": [{"gpu": {"exec": 1}}]},)"
                            R"({"name": "b", "period": 100, "priority": 3, "segments": [{"gpu": {"exec": 1}}]},)"
                            R"({"name": "c", "period": 100, "priority": 2, "segments": [{"cpu": 1}]},)"
                            R"({"name": "d", "period": 100, "priority": 1, "segments": [{"gpu": {"exec": 1}}]}]})";
  const ProcessResult run = run_rtgpu({"analyze", "-", "--policy=stream-priority", "--format=json"}, {.input = input});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["results"][0]["stream_levels"], json({{"a", 0}, {"b", 0}, {"d", 1}}));
  const ProcessResult table =
      run_rtgpu({"analyze", "-", "--policy=stream-priority", "--format=table"}, {.input = input});
  EXPECT_THAT(table.out, HasSubstr("\n  stream levels, highest first: a, b | d\n"));
}

TEST(AnalyzeOptions, SmsArePartOfTheOutput) {
  const std::string input =
      R"({"rtgpu": 1, "platform": {"cpus": 1, "gpus": [{"sms": 8}]}, "tasks": [)"
      R"({"name": "a", "period": 6, "priority": 3, "segments": [{"gpu": {"exec": {"by_sms": {"1": 9, "3": 5}}}}]},)"
      R"({"name": "b", "period": 100, "priority": 2, "segments": [{"cpu": 1}]},)"
      R"({"name": "c", "period": 100, "priority": 1, "sms": 2, "segments": [{"gpu": {"work": 9, "span": 1}}]}]})";
  const ProcessResult run = run_rtgpu({"analyze", "-", "--policy=federated", "--format=json"}, {.input = input});
  EXPECT_EQ(run.status, 0) << run.err;
  const json result = json::parse(run.out)["results"][0];
  EXPECT_EQ(result["sms"], json({{"a", 3}, {"c", 2}}));
  EXPECT_EQ(result["sm_search"], "found");
  EXPECT_EQ(result["sm_search_method"], "heuristic");
  const ProcessResult table = run_rtgpu({"analyze", "-", "--policy=federated", "--format=table"}, {.input = input});
  EXPECT_THAT(table.out, HasSubstr("\n  SMs (found by the heuristic): a 3, c 2; 3 of 8 free\n"));
  const ProcessResult seen = run_rtgpu({"simulate", "-", "--policy=federated", "--format=json"}, {.input = input});
  EXPECT_EQ(json::parse(seen.out)["results"][0]["sms"], result["sms"]);
}

}  // namespace
}  // namespace rtgpu
