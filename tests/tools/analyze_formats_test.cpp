// The text of each output format, whole.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

ProcessResult analyze_case(const std::string& file, std::vector<std::string> arguments,
                           OutputTo output = OutputTo::pipe) {
  arguments.insert(arguments.begin(), {"analyze", file, "--variant=published"});
  return run_rtgpu(arguments, {.input = "", .directory = RTGPU_CASES, .output = output});
}

constexpr const char* kGcapsTable = R"(gcaps-case-study.json: 5 real-time tasks, 1 best-effort, 6 cores

gcaps, suspend, published (not a guarantee): schedulable
  task        cpu  priority  period  deadline  bound  slack
  histogram     1        70     100       100     16     84
  mmul_gpu_1    2        69     150       150     32    118
  mmul_cpu      2        68     200       200     75    125
  projection    1        67     300       300     59    241
  dxtc          1        66     400       400     79    321

times in ms
schedulable under gcaps suspend (published, not a guarantee)
)";

TEST(AnalyzeTable, Schedulable) {
  const ProcessResult run = analyze_case("gcaps-case-study.json", {"--policy=gcaps", "--format=table"});
  EXPECT_EQ(run.out, kGcapsTable);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.status, 0);
}

TEST(AnalyzeTable, IsTheDefaultOnATerminal) {
  ProcessResult run = analyze_case("gcaps-case-study.json", {"--policy=gcaps"}, OutputTo::terminal);
  std::erase(run.out, '\r');
  EXPECT_EQ(run.out, kGcapsTable);
}

TEST(AnalyzeTable, DecimalPointsAreAlignedAndAMissingBoundHasItsReason) {
  const ProcessResult run = analyze_case("gcaps-case-study.json", {"--policy=tsg-rr", "--wait=busy", "--format=table"});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, R"(gcaps-case-study.json: 5 real-time tasks, 1 best-effort, 6 cores

tsg-rr, busy, published (not a guarantee): not schedulable
  task        cpu  priority  period  deadline  bound  slack
  histogram     1        70     100       100   60     40
  mmul_gpu_1    2        69     150       150   73.6   76.4
  mmul_cpu      2        68     200       200  144     56
  projection    1        67     300       300  280.2   19.8
  dxtc          1        66     400       400    -      -    the recurrence passes the deadline, 400ms

times in ms
not schedulable under tsg-rr busy (published, not a guarantee)
)");
}

TEST(AnalyzeTable, SeveralPoliciesAndTheAnswer) {
  const ProcessResult yes =
      analyze_case("gcaps-case-study.json", {"--policy=gcaps,tsg-rr", "--wait=busy", "--format=table"});
  EXPECT_EQ(yes.status, 0);
  EXPECT_THAT(yes.out, HasSubstr("\ntsg-rr, busy, published (not a guarantee): not schedulable\n"));
  EXPECT_THAT(yes.out, testing::EndsWith("\nschedulable under gcaps busy (published, not a guarantee)\n"));
}

TEST(AnalyzeTable, NotSchedulableUnderAny) {
  const ProcessResult no = run_rtgpu({"analyze", "-", "--format=table"}, {.input = unschedulable_set()});
  EXPECT_EQ(no.status, 1);
  EXPECT_THAT(no.out, StartsWith("-: 2 real-time tasks, 2 cores\n"));
}

TEST(AnalyzeTable, ShowsTheGpuPrioritiesThatWereFound) {
  const ProcessResult run =
      analyze_case("gcaps-example2.json", {"--policy=gcaps", "--gpu-priorities=search", "--format=table"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("gcaps, suspend, published (not a guarantee), jitter from deadlines: schedulable\n"));
  EXPECT_THAT(run.out,
              HasSubstr("\n  GPU priorities, highest first (found by the search): task1, task2, task4, task3\n"));
}

TEST(AnalyzeTable, Explain) {
  const ProcessResult run = analyze_case("gcaps-case-study.json", {"--policy=gcaps", "--explain", "--format=table"});
  EXPECT_THAT(run.out, HasSubstr("  mmul_cpu      2        68     200       200     75    125\n"
                                 "      own 68: mmul_cpu 1 x 68\n"
                                 "      cpu_preemption 6: mmul_gpu_1 1 x 6\n"
                                 "      cpu_blocking 1: 1 x 1\n"
                                 "  projection "));
}

TEST(AnalyzeTable, NamesAreShownSafelyAndAligned) {
  const std::string input =
      taskset_of(R"({"name": "größe", "period": 10, "priority": 2, "segments": [{"cpu": 1}]},)"
                 R"({"name": "a\u001b[2J", "period": 10, "priority": 1, "cpu": 1, "segments": [{"cpu": 1}]})");
  const ProcessResult run = run_rtgpu({"analyze", "-", "--policy=gcaps", "--format=table"}, {.input = input});
  if (run.status == 2) GTEST_SKIP() << "such names are refused: " << run.err;
  EXPECT_THAT(run.out, HasSubstr("\n  größe         0         2"));
  EXPECT_THAT(run.out, HasSubstr("\n  a\\u001b[2J    1         1"));
}

constexpr const char* kCsvHeader =
    "index,taskset,policy,wait,variant,label,task,schedulable,bound_ns,deadline_ns,own_ns,cpu_preemption_ns,"
    "cpu_blocking_ns,gpu_preemption_ns,gpu_blocking_ns,gpu_interleaving_ns,copy_ns,overhead_ns,reason\n";

TEST(AnalyzeCsv, ARowForEachTask) {
  const ProcessResult run = analyze_case("gcaps-case-study.json", {"--policy=gcaps", "--format=csv"});
  EXPECT_EQ(run.status, 0);
  const std::string common = "0,gcaps-case-study.json,gcaps,suspend,published,not a guarantee,";
  EXPECT_THAT(run.out, StartsWith(kCsvHeader + common +
                                  "histogram,true,16000000,100000000,12000000,0,2000000,0,0,0,0,2000000,\n" + common +
                                  "mmul_gpu_1,true,32000000,150000000,"));
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 6);
}

TEST(AnalyzeCsv, WithoutABoundThereAreNoTerms) {
  const ProcessResult run = analyze_case("gcaps-case-study.json", {"--policy=tsg-rr", "--wait=busy", "--format=csv"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, HasSubstr("0,gcaps-case-study.json,tsg-rr,busy,published,not a guarantee,dxtc,false,,400000000,"
                                 ",,,,,,,,\"the recurrence passes the deadline, 400ms\"\n"));
}

TEST(AnalyzeCsv, FieldsAreQuoted) {
  const std::string input = taskset_of(R"({"name": "a,\"b\"", "period": 10, "priority": 1, "segments": [{"cpu": 2}]})");
  const ProcessResult run = run_rtgpu({"analyze", "-", "--policy=gcaps", "--format=csv"}, {.input = input});
  EXPECT_THAT(run.out, HasSubstr("upper bound,\"a,\"\"b\"\"\",true,"));
}

TEST(AnalyzeNdjson, OneLineWithoutSpaces) {
  const ProcessResult run =
      analyze_case("gcaps-case-study.json", {"--policy=gcaps,tsg-rr", "--wait=busy", "--format=ndjson"});
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out,
            R"({"index":0,"results":[{"policy":"gcaps","wait":"busy","variant":"published","label":"not a guarantee",)"
            R"("schedulable":true,"bounds_ns":[16000000,32000000,111000000,59000000,79000000]},)"
            R"({"policy":"tsg-rr","wait":"busy","variant":"published","label":"not a guarantee",)"
            R"("schedulable":false,"bounds_ns":[60000000,73600000,144000000,280200000,null]}]})"
            "\n");
}

TEST(AnalyzeJson, IsTheDefaultElsewhere) {
  const ProcessResult run = analyze_case("gcaps-case-study.json", {});
  EXPECT_EQ(nlohmann::json::parse(run.out)["results"].size(), 6U);
}

TEST(AnalyzeNotes, AssignedPrioritiesAreToldInEveryFormat) {
  const std::string input = taskset_of(R"({"name": "slow", "period": 20, "segments": [{"cpu": 2}]},)"
                                       R"({"name": "quick", "period": 10, "segments": [{"cpu": 2}]})");
  const std::string note = "priorities assigned deadline-monotonically, highest first: quick, slow";
  const auto run = [&](const char* format) {
    return run_rtgpu({"analyze", "-", "--policy=gcaps", format}, {.input = input});
  };
  EXPECT_EQ(nlohmann::json::parse(run("--format=json").out)["notes"], nlohmann::json({note}));
  EXPECT_EQ(nlohmann::json::parse(run("--format=ndjson").out)["notes"], nlohmann::json({note}));
  EXPECT_THAT(run("--format=table").out, StartsWith("-: 2 real-time tasks, 2 cores\n" + note + "\n"));
  EXPECT_EQ(run("--format=csv").err, "rtgpu: note: " + note + "\n");
}

}  // namespace
}  // namespace rtgpu
