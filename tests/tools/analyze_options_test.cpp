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

struct Refused {
  std::vector<std::string> arguments;
  std::vector<std::string> told;  // parts of standard error
};

void PrintTo(const Refused& refused, std::ostream* out) {
  for (const std::string& argument : refused.arguments) *out << argument << ' ';
}

class RefusedOptions : public testing::TestWithParam<Refused> {};

TEST_P(RefusedOptions, EndWithStatus2AndNoOutput) {
  std::vector<std::string> arguments = {"analyze", RTGPU_CASES "/gcaps-case-study.json"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const ProcessResult run = run_rtgpu(arguments);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::StartsWith("rtgpu: error: "));
  for (const std::string& part : GetParam().told) EXPECT_THAT(run.err, HasSubstr(part));
}

const std::vector<Refused> kRefused = {
    {{"--variant", "safe"}, {"safe", "not there yet"}},
    {{"--variant", "save"}, {"--variant: found 'save'", "Did you mean 'safe'?"}},
    {{"--policy", "gcasp"}, {"--policy: found 'gcasp'", "Did you mean 'gcaps'?", "tsg-rr"}},
    {{"--policy", "mpcp"}, {"mpcp", "not there yet"}},
    {{"--policy", "gcaps,mpcp"}, {"mpcp", "not there yet"}},
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

INSTANTIATE_TEST_SUITE_P(Analyze, RefusedOptions, testing::ValuesIn(kRefused));

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
  EXPECT_EQ(policies_of({"--policy=tsg-rr", "--policy=all"}), (Names{"tsg-rr", "gcaps"}));
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
  EXPECT_EQ(json::parse(run.out)["results"][0]["gpu_priorities"], "search");
}

// tsg-rr needs to know the time slice; gcaps does not.
std::string set_without_time_slice() {
  return taskset_of(
      R"({"name": "g", "period": 10, "priority": 1, "segments": [{"cpu": 1}, {"gpu": {"exec": 2}}, {"cpu": 1}]})");
}

TEST(AnalyzeOptions, AnAnalysisThatDoesNotCoverTheSetIsToldBesideTheOthers) {
  const ProcessResult run = run_rtgpu({"analyze", "-", "--format=json"}, {.input = set_without_time_slice()});
  EXPECT_EQ(run.status, 0);
  const json refused = json::parse(run.out)["results"][1];
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

TEST(AnalyzeOptions, TheDefaultVariantIsSafeAsSoonAsThereIsOne) {
  bool any_safe = false;
  for (const AnalysisEntry& entry : analyses()) any_safe = any_safe || entry.variant == Variant::safe;
  EXPECT_EQ(default_variant(), any_safe ? Variant::safe : Variant::published);
}

}  // namespace
}  // namespace rtgpu
