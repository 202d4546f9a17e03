// Many documents in one input.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

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

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

ProcessResult analyze_stream(const std::string& input, std::vector<std::string> arguments = {}) {
  arguments.insert(arguments.begin(), {"analyze", "-"});
  return run_rtgpu(arguments, {.input = input});
}

TEST(AnalyzeStream, ALineForEachDocument) {
  const ProcessResult run = analyze_stream(schedulable_set() + "\n" + schedulable_set() + "\n", {"--policy=gcaps"});
  EXPECT_EQ(run.status, 0);
  const std::string rest = R"(,"results":[{"policy":"gcaps","wait":"suspend","variant":"safe","label":"upper bound",)"
                           R"("schedulable":true,"bounds_ns":[2000000]}]})";
  EXPECT_EQ(run.out, R"({"index":0)" + rest + "\n" + R"({"index":1)" + rest + "\n");
}

TEST(AnalyzeStream, OneSetThatIsNotSchedulableMakesTheAnswerNo) {
  const ProcessResult run =
      analyze_stream(schedulable_set() + "\n" + unschedulable_set() + "\n" + schedulable_set() + "\n");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(lines_of(run.out).size(), 3U);
}

TEST(AnalyzeStream, ABadLineIsAnsweredAndTheRestGoesOn) {
  const std::string bad = taskset_of(R"({"name": "a", "period": 0, "priority": 1, "segments": [{"cpu": 2}]})");
  const ProcessResult run = analyze_stream(schedulable_set() + "\n" + bad + "\n{\"rtgpu\"\n" + unschedulable_set());
  EXPECT_EQ(run.status, 2);
  const std::vector<json> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 4U);
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i]["index"], i);
  EXPECT_EQ(lines[1]["error"]["pointer"], "/tasks/0/period");
  EXPECT_EQ(lines[1]["error"]["source"], "-");
  EXPECT_EQ(lines[2]["error"]["code"], "syntax");
  EXPECT_EQ(lines[2]["error"]["line"], 3);
  EXPECT_EQ(lines[3]["results"][0]["schedulable"], false);
  EXPECT_THAT(run.err, HasSubstr("rtgpu: error: -:"));
  EXPECT_THAT(run.err, HasSubstr("/tasks/0/period"));
}

TEST(AnalyzeStream, BadFirstAndLastLines) {
  const ProcessResult run = analyze_stream("{}\n" + schedulable_set() + "\n[1]\n", {"--policy=gcaps"});
  EXPECT_EQ(run.status, 2);
  const std::vector<json> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].contains("error"));
  EXPECT_TRUE(lines[1].contains("results"));
  EXPECT_TRUE(lines[2].contains("error"));
}

TEST(AnalyzeStream, FullJsonALine) {
  const ProcessResult run = analyze_stream(schedulable_set() + "\n{}\n", {"--format=json"});
  EXPECT_EQ(run.status, 2);
  const std::vector<json> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["index"], 0);
  EXPECT_EQ(lines[0]["rtgpu_result"], 1);
  EXPECT_EQ(lines[0]["results"][0]["tasks"][0]["bound_ns"], 2000000);
  EXPECT_EQ(lines[1]["index"], 1);
  EXPECT_TRUE(lines[1]["error"].contains("message"));
}

TEST(AnalyzeStream, CsvHasOneHeaderAndARowForABadDocument) {
  const ProcessResult run = analyze_stream("{}\n" + schedulable_set() + "\n", {"--format=csv", "--policy=gcaps"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.out, testing::StartsWith("index,taskset,"));
  EXPECT_THAT(run.out, HasSubstr("\n0,-,,,,,,,,,,,,,,,,,"));
  EXPECT_THAT(run.out, HasSubstr("\n1,-,gcaps,suspend,safe,upper bound,a,true,2000000,10000000,"));
  EXPECT_EQ(run.out.find("index,taskset,", 1), std::string::npos);
}

TEST(AnalyzeStream, TableSaysWhichDocument) {
  const ProcessResult run = analyze_stream(schedulable_set() + "\n" + unschedulable_set() + "\n", {"--format=table"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, testing::StartsWith("-, document 0: 1 real-time task, 2 cores\n"));
  EXPECT_THAT(run.out, HasSubstr("\n\n-, document 1: 2 real-time tasks, 2 cores\n"));
}

TEST(AnalyzeStream, TheNameOfAFileMayMakeItNdjson) {
  const TemporaryFile file(schedulable_set() + "\n", ".ndjson");
  const ProcessResult run = run_rtgpu({"analyze", file.path()});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, testing::StartsWith(R"({"index":0,"results":[)"));
}

TEST(AnalyzeStream, NoDocuments) {
  const TemporaryFile file("", ".ndjson");
  const ProcessResult run = run_rtgpu({"analyze", file.path()});
  EXPECT_EQ(run.status, 2);
}

TEST(AnalyzeStream, MoreThanAnyBufferHolds) {
  std::string input;
  const std::string line = schedulable_set() + "\n";
  constexpr std::size_t kDocuments = 5000;
  for (std::size_t i = 0; i < kDocuments; ++i) input += line;
  const ProcessResult run = analyze_stream(input);
  EXPECT_EQ(run.status, 0);
  const std::vector<json> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), kDocuments);
  EXPECT_EQ(lines.back()["index"], kDocuments - 1);
}

}  // namespace
}  // namespace rtgpu
