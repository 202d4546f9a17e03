// Inputs that cannot be read: status 2, nothing on standard output, and the place on standard error.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::HasSubstr;

struct BadInput {
  std::string name;
  std::string text;
  std::vector<std::string> told;  // parts of standard error
};

void PrintTo(const BadInput& input, std::ostream* out) {
  *out << input.name;
}

// One task, with that value for its period and these members besides.
std::string task_with(const std::string& period, const std::string& members = "") {
  return taskset_of(R"({"name": "a", "period": )" + period + R"(, "priority": 1, "segments": [{"cpu": 2}])" + members +
                    "}");
}

std::string two_tasks(const std::string& name, int priority) {
  return taskset_of(R"({"name": "a", "period": 10, "priority": 1, "segments": [{"cpu": 1}]},{"name": ")" + name +
                    R"(", "period": 10, "priority": )" + std::to_string(priority) + R"(, "segments": [{"cpu": 1}]})");
}

class BadInputs : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputs, StatusAndPlace) {
  const TemporaryFile file(GetParam().text);
  const ProcessResult run = run_rtgpu({"analyze", file.path()});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::StartsWith("rtgpu: error: " + file.path() + ":"));
  for (const std::string& part : GetParam().told) EXPECT_THAT(run.err, HasSubstr(part));
}

TEST_P(BadInputs, LikewiseFromStandardInput) {
  const ProcessResult run = run_rtgpu({"analyze", "-"}, {.input = GetParam().text});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::StartsWith("rtgpu: error: -:"));
}

const std::vector<BadInput> kBadInputs = {
    {"Empty", "", {}},
    {"OnlySpace", " \n\n", {}},
    {"Truncated", "{\"rtgpu\": 1,\n \"tasks\": [", {":2:"}},
    {"NotJson", "period = 10\n", {":1:"}},
    {"Nan", task_with("NaN"), {":1:"}},
    {"Infinity", task_with("-Infinity"), {":1:"}},
    {"NotUtf8", task_with("10", ", \"wait\": \"\xff\""), {":1:"}},
    {"DeepNesting", std::string(100'000, '['), {}},
    {"DeepObjects", "{\"rtgpu\": 1, \"x\": " + std::string(1000, '[') + std::string(1000, ']') + "}", {}},
    {"WrongType", task_with("true"), {"/tasks/0/period"}},
    {"WrongTypeOfTasks", R"({"rtgpu": 1, "platform": {"cpus": 1}, "tasks": 5})", {"/tasks"}},
    {"NotAnObject", "[1, 2]", {}},
    {"Negative", task_with("-5"), {"/tasks/0/period", "-5"}},
    {"BeyondEveryNumber", task_with("1e400"), {"/tasks/0/period", "1e400"}},
    {"TooLong", task_with("\"1000001s\""), {"/tasks/0/period", "1000001s"}},
    {"Zero", task_with("0"), {"/tasks/0/period"}},
    {"DuplicateKey", task_with("10", R"(, "period": 20)"), {"/tasks/0/period"}},
    {"UnknownKey", task_with("10", R"(, "dedline": 5)"), {"/tasks/0/dedline", "deadline"}},
    {"DeadlineAbovePeriod", task_with("10", R"(, "deadline": 11)"), {"/tasks/0/deadline"}},
    {"NoSuchCore", task_with("10", R"(, "cpu": 2)"), {"/tasks/0/cpu"}},
    {"DuplicateName", two_tasks("a", 2), {"/tasks/1/name"}},
    {"EqualPriorities", two_tasks("b", 1), {"/tasks/1/priority"}},
    {"NoVersion", R"({"platform": {"cpus": 1}, "tasks": []})", {"rtgpu"}},
    {"OtherVersion", R"({"rtgpu": 2, "platform": {"cpus": 1}, "tasks": []})", {"/rtgpu"}},
    {"TheRestOfABadTask",
     R"({"rtgpu": 1, "platform": {"cpus": 1}, "tasks": [
          {"name": "a", "perid": 5, "cpu": 3, "segments": [{"cpu": 1}]}, {"name": "a", "period": "5 ms", "segments": []}]})",
     {"/tasks/0/period", "/tasks/0/perid", "/tasks/0/cpu", "/tasks/1/name", "/tasks/1/period", "/tasks/1/segments",
      "6 errors"}},
    {"SeveralAtOnce", task_with("0", R"(, "cpu": 9, "wait": "buzy")"), {"/tasks/0/cpu", "/tasks/0/wait", "3 errors"}},
};

INSTANTIATE_TEST_SUITE_P(Analyze, BadInputs, testing::ValuesIn(kBadInputs),
                         [](const auto& input) { return input.param.name; });

TEST(BadInput, MissingFile) {
  const ProcessResult run = run_rtgpu({"analyze", "/nonexistent/case.json"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::StartsWith("rtgpu: error: /nonexistent/case.json: "));
}

TEST(BadInput, Directory) {
  const std::string directory = std::filesystem::temp_directory_path().string();
  const ProcessResult run = run_rtgpu({"analyze", directory});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("directory"));
}

TEST(BadInput, EscapesInTheTextDoNotReachTheTerminal) {
  const ProcessResult run = run_rtgpu({"analyze", "-"}, {.input = task_with("10", R"(, "\u001b[31mred": 1)")});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
}

TEST(GoodInput, ByteOrderMarkAndCarriageReturns) {
  const std::string text =
      "\xef\xbb\xbf{\"rtgpu\": 1,\r\n\"platform\": {\"cpus\": 1},\r\n\"tasks\": [{\"name\": \"a\","
      "\r\n\"period\": 10, \"priority\": 1, \"segments\": [{\"cpu\": 2}]}]}\r\n";
  const ProcessResult run = run_rtgpu({"analyze", "-", "--policy=gcaps", "--format=ndjson"}, {.input = text});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\"bounds_ns\":[2000000]"));
}

TEST(GoodInput, NdjsonWithByteOrderMarkAndCarriageReturns) {
  const std::string text = "\xef\xbb\xbf" + schedulable_set() + "\r\n" + schedulable_set() + "\r\n";
  const ProcessResult run = run_rtgpu({"analyze", "-", "--policy=gcaps"}, {.input = text});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 2);
}

}  // namespace
}  // namespace rtgpu
