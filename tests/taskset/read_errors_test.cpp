#include "taskset/json.h"
#include "tests/taskset/documents.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::HasSubstr;

// One wrong document with the one error that it must give.
struct Wrong {
  std::string text;
  ErrorCode code;
  std::string pointer;
  std::string at;  // the error is where this stands in the text, or where its '|' is
  std::string found;
  std::string expected;
  std::string advice = {};
};

// The column of wrong.at, from 1.
std::size_t column(const Wrong& wrong) {
  std::string at = wrong.at;
  const std::size_t mark = at.find('|');
  if (mark == std::string::npos) return wrong.text.find(at) + 1;
  return wrong.text.find(at.erase(mark, 1)) + mark + 1;
}

class ReadError : public ::testing::TestWithParam<Wrong> {};

TEST_P(ReadError, SaysWhatIsWrongAndWhere) {
  const Wrong& wrong = GetParam();
  SCOPED_TRACE(wrong.text);
  const auto loaded = read_taskset(wrong.text, "case.json");
  ASSERT_FALSE(loaded);
  for (const Error& error : loaded.errors()) SCOPED_TRACE(to_string(error));
  ASSERT_EQ(loaded.errors().size(), 1U) << to_string(loaded.errors().at(1));
  const Error& error = loaded.errors().front();
  EXPECT_EQ(to_string(error.code), to_string(wrong.code));
  EXPECT_EQ(error.place.source, "case.json");
  EXPECT_EQ(error.place.pointer, wrong.pointer);
  EXPECT_EQ(error.place.line, 1U);
  EXPECT_EQ(error.place.column, column(wrong)) << to_string(error);
  EXPECT_THAT(error.found, HasSubstr(wrong.found));
  EXPECT_THAT(error.expected, HasSubstr(wrong.expected));
  EXPECT_THAT(error.advice, HasSubstr(wrong.advice));
}

Wrong task(const std::string& key, const std::string& value, ErrorCode code, std::string expected,
           std::string advice = "") {
  const std::string found = value == "[]" ? "an empty array" : value;
  return {with_task("\"" + key + "\": " + value + ", "),
          code,
          "/tasks/0/" + key,
          "\"" + key + "\": |" + value,
          found,
          std::move(expected),
          std::move(advice)};
}

Wrong top(const std::string& key, const std::string& value, ErrorCode code, std::string expected,
          std::string advice = "") {
  return {with_task("", "\"" + key + "\": " + value + ", "),
          code,
          "/" + key,
          "\"" + key + "\": |" + value,
          value,
          std::move(expected),
          std::move(advice)};
}

// An error in a segment at a key below it.
Wrong segment(const std::string& text, ErrorCode code, const std::string& key, const std::string& at, std::string found,
              std::string expected, std::string advice = "") {
  return {with_segment(text), code, "/tasks/0/segments/0" + key, at, std::move(found), std::move(expected),
          std::move(advice)};
}

Wrong gpu(const std::string& members, ErrorCode code, const std::string& key, const std::string& at, std::string found,
          std::string expected) {
  return {with_gpu(members), code, "/platform/gpus/0" + key, at, std::move(found), std::move(expected)};
}

Wrong text(std::string document, ErrorCode code, std::string pointer, std::string at, std::string found,
           std::string expected) {
  return {std::move(document), code, std::move(pointer), std::move(at), std::move(found), std::move(expected)};
}

std::string document(const std::string& platform, const std::string& tasks) {
  return "{\"rtgpu\": 1, \"platform\": " + platform + ", \"tasks\": " + tasks + "}";
}

const std::string kTask = R"({"name": "a", "period": 1, "segments": [{"cpu": 0}]})";

Wrong origin(const std::string& members, ErrorCode code, const std::string& key, const std::string& at,
             std::string found, std::string expected) {
  return {R"({"rtgpu": 1, "origin": {)" + members + R"(}, "platform": {"cpus": 1}, "tasks": [)" + kTask + "]}",
          code,
          "/origin" + key,
          at,
          std::move(found),
          std::move(expected)};
}

INSTANTIATE_TEST_SUITE_P(
    Top, ReadError,
    ::testing::Values(
        text("[1]", ErrorCode::type, "", "[", "an array", "an object"),
        text("3", ErrorCode::type, "", "3", "3", "an object"),
        Wrong{with_task("", R"("perfect": 7, )"), ErrorCode::unknown_key, "/perfect", "7", "unknown key \"perfect\"",
              "one of the keys rtgpu, time_unit, platform, ties, tasks, origin"},
        top("time_unit", "\"m\"", ErrorCode::value, "\"ns\" or \"us\" or \"ms\" or \"s\""),
        top("time_unit", "true", ErrorCode::type, "\"ms\""),
        origin(R"("generator": "")", ErrorCode::value, "/generator", "\"\"", "\"\"", "name of a generator"),
        origin(R"("generator": 3)", ErrorCode::type, "/generator", "3", "3", "text in double quotes"),
        origin(R"("seed": 1)", ErrorCode::missing, "/generator", "\"origin\": |{", "nothing", "name of a generator"),
        origin(R"("generator": "g", "seed": -1)", ErrorCode::value, "/seed", "-1", "-1", "18446744073709551615"),
        origin(R"("generator": "g", "seed": 18446744073709551616)", ErrorCode::value, "/seed", "18446744073709551616",
               "18446744073709551616", "18446744073709551615"),
        origin(R"("generator": "g", "seed": "1")", ErrorCode::type, "/seed", "\"1\"", "\"1\"", "whole number"),
        origin(R"("generator": "g", "index": -3)", ErrorCode::value, "/index", "-3", "-3", "whole number from 0"),
        origin(R"("generator": "g", "requested_utilisation": [0, -2])", ErrorCode::value, "/requested_utilisation/1",
               "-2", "-2", "from 0 to 1000000"),
        origin(R"("generator": "g", "parameters": 5)", ErrorCode::type, "/parameters", "5", "5", "array of texts"),
        origin(R"("generator": "g", "sead": 5)", ErrorCode::unknown_key, "/sead", "5", "\"sead\"", "\"seed\""),
        top("origin", "3", ErrorCode::type, "an object that says what made the taskset"),
        top("ties", "\"byorder\"", ErrorCode::value, "\"by-order\"", "Did you mean \"by-order\"?"),
        text(R"({"rtgpu": 2, "platform": {"cpus": 1}, "tasks": [)" + kTask + "]}", ErrorCode::value, "/rtgpu", "2", "2",
             "1"),
        text(R"({"rtgpu": "1", "platform": {"cpus": 1}, "tasks": [)" + kTask + "]}", ErrorCode::type, "/rtgpu", "\"1\"",
             "\"1\"", "1"),
        text(R"({"platform": {"cpus": 1}, "tasks": [)" + kTask + "]}", ErrorCode::missing, "/rtgpu", "{", "nothing",
             "1"),
        text(R"({"rtgpu": 1, "tasks": [)" + kTask + "]}", ErrorCode::missing, "/platform", "{", "nothing", "cpus"),
        text(R"({"rtgpu": 1, "platform": {"cpus": 1}})", ErrorCode::missing, "/tasks", "{", "nothing", "tasks"),
        text(document(R"({"cpus": 1})", "[]"), ErrorCode::value, "/tasks", "[]", "an empty array", "at least one task"),
        text(document(R"({"cpus": 1})", "{}"), ErrorCode::type, "/tasks", "{}", "an empty object", "array"),
        text(document(R"({"cpus": 1})", "[5]"), ErrorCode::type, "/tasks/0", "5", "5", "describes a task")));

INSTANTIATE_TEST_SUITE_P(
    Platform, ReadError,
    ::testing::Values(
        text(document("[]", "[" + kTask + "]"), ErrorCode::type, "/platform", "[]", "an empty array", "object"),
        text(document("{ }", "[" + kTask + "]"), ErrorCode::missing, "/platform/cpus", "{ }", "nothing", "cores"),
        text(document(R"({"cpus": 0})", "[" + kTask + "]"), ErrorCode::value, "/platform/cpus", "0", "0",
             "from 1 to 100000"),
        text(document(R"({"cpus": 100001})", "[" + kTask + "]"), ErrorCode::value, "/platform/cpus", "100001", "100001",
             "from 1 to 100000"),
        text(document(R"({"cpus": 1.5})", "[" + kTask + "]"), ErrorCode::value, "/platform/cpus", "1.5", "1.5",
             "whole number"),
        text(document(R"({"cpus": 1, "gpus": []})", "[" + kTask + "]"), ErrorCode::value, "/platform/gpus", "[]",
             "an empty array", "at least one GPU"),
        text(document(R"({"cpus": 1, "gpus": [{}, {"name": "gpu0"}]})", "[" + kTask + "]"), ErrorCode::conflict,
             "/platform/gpus/1/name", "\"gpu0\"", "/platform/gpus/0", "name of its own"),
        gpu(R"("smss": 4)", ErrorCode::unknown_key, "/smss", "4", "\"smss\"", "\"sms\""),
        gpu(R"("sms": 0)", ErrorCode::value, "/sms", "0", "0", "from 1"),
        gpu(R"("copy_engines": -1)", ErrorCode::value, "/copy_engines", "-1", "-1", "from 1"),
        gpu(R"("stream_priorities": 0)", ErrorCode::value, "/stream_priorities", "0", "0", "from 1"),
        gpu(R"("server_cpu": -1)", ErrorCode::value, "/server_cpu", "-1", "-1", "from 0"),
        gpu(R"("memory": -1)", ErrorCode::value, "/memory", "-1", "-1", "from 0"),
        gpu(R"("name": "")", ErrorCode::value, "/name", "\"\"", "\"\"", "not empty"),
        gpu(R"("overheads": 3)", ErrorCode::type, "/overheads", "3", "3", "object"),
        gpu(R"("overheads": {"lock": -3})", ErrorCode::value, "/overheads/lock", "-3", "-3", "negative"),
        gpu(R"("overheads": {"look": 3})", ErrorCode::unknown_key, "/overheads/look", "3", "\"look\"", "\"lock\"")));

INSTANTIATE_TEST_SUITE_P(
    Task, ReadError,
    ::testing::Values(
        Wrong{with_task("\"perid\": 7, "), ErrorCode::unknown_key, "/tasks/0/perid", "7", "unknown key \"perid\"",
              "\"period\"", "Did you mean \"period\"?"},
        text(document(R"({"cpus": 1})", R"([{"name": "a", "period": 0, "segments": [{"cpu": 1}]}])"), ErrorCode::value,
             "/tasks/0/period", "0,", "0", "a time above 0"),
        text(document(R"({"cpus": 1})", R"([{"name": "a", "period": "0.5ns", "segments": [{"cpu": 1}]}])"),
             ErrorCode::value, "/tasks/0/period", "\"0.5ns\"", "0", "a time above 0"),
        text(document(R"({"cpus": 1})", R"([{"name": "", "period": 3, "segments": [{"cpu": 1}]}])"), ErrorCode::value,
             "/tasks/0/name", "\"\"", "\"\"", "not empty"),
        text(document(R"({"cpus": 1})", R"([{"period": 3, "segments": [{"cpu": 1}]}])"), ErrorCode::missing,
             "/tasks/0/name", "{\"period", "nothing", "name"),
        text(document(R"({"cpus": 1})", R"([{"name": "a", "segments": [{"cpu": 1}]}])"), ErrorCode::missing,
             "/tasks/0/period", "{\"name", "nothing", "time between releases"),
        text(document(R"({"cpus": 1})", R"([{"name": "a", "period": 3}])"), ErrorCode::missing, "/tasks/0/segments",
             "{\"name", "nothing", "at least one segment"),
        text(document(R"({"cpus": 1})", R"([{"name": "a", "period": 3, "segments": []}])"), ErrorCode::value,
             "/tasks/0/segments", "[]", "an empty array", "at least one segment"),
        text(document(R"({"cpus": 1})", "[" + kTask + R"(, {"name":  "a", "period": 2, "segments": [{"cpu": 0}]}])"),
             ErrorCode::conflict, "/tasks/1/name", "\"a\", \"period\": 2", "\"a\"", "name of its own"),
        task("deadline", "101", ErrorCode::conflict, "at most the period, 100ms"),
        task("deadline", "0", ErrorCode::value, "a time above 0"),
        task("deadline", "-5", ErrorCode::value, "not negative"), task("deadline", "\"5\"", ErrorCode::value, "unit"),
        task("deadline", "\"5 lightyears\"", ErrorCode::value, "unit"),
        task("deadline", "null", ErrorCode::type, "a time"), task("jitter", "-0.1", ErrorCode::value, "not negative"),
        task("jitter", "1000000001", ErrorCode::limit, "at most 1000000s"),
        task("jitter", "1e300", ErrorCode::limit, "at most 1000000s"),
        task("jitter", "\"1000001s\"", ErrorCode::limit, "at most 1000000s"),
        task("priority", "1.5", ErrorCode::value, "whole number"),
        task("priority", "2000000001", ErrorCode::value, "to 2000000000"),
        task("priority", "99999999999999999999", ErrorCode::value, "to 2000000000"),
        task("gpu_priority", "\"high\"", ErrorCode::type, "whole number"),
        task("cpu", "2", ErrorCode::value, "from 0 to 1", "platform.cpus is 2"),
        task("cpu", "-1", ErrorCode::value, "from 0"),
        task("wait", "\"bussy\"", ErrorCode::value, "\"suspend\" or \"busy\"", "Did you mean \"busy\"?"),
        task("lock_wait", "\"busy\"", ErrorCode::value, "\"suspend\" or \"spin\""),
        task("best_effort", "\"yes\"", ErrorCode::type, "true or false"), task("sms", "0", ErrorCode::value, "from 1"),
        task("sms", "2.5", ErrorCode::value, "whole number"), task("memory", "-1", ErrorCode::value, "from 0"),
        task("memory", "\"256MB\"", ErrorCode::value, "256MiB", "KiB, MiB or GiB"),
        task("memory", "\"9999999TiB\"", ErrorCode::value, "bytes"),
        task("memory", "\"-1KiB\"", ErrorCode::value, "bytes"), task("memory", "[]", ErrorCode::type, "bytes"),
        Wrong{with_task(R"("best_effort": true, "deadline": 50, )"), ErrorCode::conflict, "/tasks/0/deadline", "50",
              "50", "no deadline", "best_effort"},
        Wrong{with_task(R"("jitter": 1, "jitter": 22, )"), ErrorCode::duplicate_key, "/tasks/0/jitter", "22",
              "\"jitter\"", "each key once"}));

INSTANTIATE_TEST_SUITE_P(
    Segment, ReadError,
    ::testing::Values(
        segment("7", ErrorCode::type, "", "7", "7", "one of the keys cpu, gpu, copy"),
        segment("{}", ErrorCode::missing, "", "{}", "an empty object", "cpu, gpu, copy"),
        segment(R"({"cpu": 1, "copy": {"time": 1}})", ErrorCode::conflict, "", "{\"cpu\": 1,", "2", "cpu, gpu, copy"),
        segment(R"({"cpus": 7})", ErrorCode::unknown_key, "/cpus", "7", "\"cpus\"", "\"cpu\"", "Did you mean"),
        segment(R"({"cpu": -7})", ErrorCode::value, "/cpu", "-7", "-7", "not negative"),
        segment(R"({"cpu": []})", ErrorCode::type, "/cpu", "[]", "an empty array", "a time"),
        segment(R"({"cpu": {"min": 3, "max": 2}})", ErrorCode::conflict, "/cpu", "{\"min", "min 3ms, max 2ms",
                "min not above max"),
        segment(R"({"cpu": {"max": 2}})", ErrorCode::missing, "/cpu/min", "{\"max", "nothing", "best case"),
        segment(R"({"cpu": {"min": 2}})", ErrorCode::missing, "/cpu/max", "{\"min", "nothing", "worst case"),
        segment(R"({"gpu": {}})", ErrorCode::missing, "/gpu/exec", "{}", "nothing", "exec, or work and span"),
        segment(R"({"gpu": 4})", ErrorCode::type, "/gpu", "4", "4", "object"),
        segment(R"({"gpu": {"exec": true}})", ErrorCode::type, "/gpu/exec", "true", "true", "by_sms"),
        segment(R"({"gpu": {"work": 3}})", ErrorCode::missing, "/gpu/span", "{\"work", "nothing", "critical path"),
        segment(R"({"gpu": {"exec": 3, "span": 3}})", ErrorCode::missing, "/gpu/work", "{\"exec", "nothing", "SM-time"),
        segment(R"({"gpu": {"exec": 3, "interleave": 3}})", ErrorCode::missing, "/gpu/work", "{\"exec", "nothing",
                "SM-time"),
        segment(R"({"gpu": {"work": 3, "span": 4}})", ErrorCode::conflict, "/gpu/span", "4", "4ms", "all work"),
        segment(R"({"gpu": {"work": 3, "span": 1, "interleave": 0.5}})", ErrorCode::value, "/gpu/interleave", "0.5",
                "0.5", "from 1 to 1000"),
        segment(R"({"gpu": {"work": 3, "span": 1, "interleave": 1001}})", ErrorCode::value, "/gpu/interleave", "1001",
                "1001", "from 1 to 1000"),
        segment(R"({"gpu": {"exec": 9, "slices": 0}})", ErrorCode::value, "/gpu/slices", "\"slices\": |0", "0",
                "from 1 to 1000000"),
        segment(R"({"gpu": {"exec": 9, "slices": 1000001}})", ErrorCode::value, "/gpu/slices", "1000001", "1000001",
                "from 1 to 1000000"),
        segment(R"({"gpu": {"exec": 9, "block": 0}})", ErrorCode::value, "/gpu/block", "\"block\": |0", "0", "above 0"),
        segment(R"({"gpu": {"exec": {"by_sms": {}}}})", ErrorCode::value, "/gpu/exec/by_sms", "{}", "an empty object",
                "at least one"),
        segment(R"({"gpu": {"exec": {"by_sms": {"02": 7}}}})", ErrorCode::value, "/gpu/exec/by_sms/02", "7", "\"02\"",
                "number of SMs"),
        segment(R"({"gpu": {"exec": {"by_sms": {"-2": 7}}}})", ErrorCode::value, "/gpu/exec/by_sms/-2", "7", "\"-2\"",
                "number of SMs"),
        segment(R"({"gpu": {"exec": {"by_sms": {"a/~b": 7}}}})", ErrorCode::value, "/gpu/exec/by_sms/a~1~0b", "7",
                "\"a/~b\"", "number of SMs"),
        segment(R"({"gpu": {"exec": {"by_sms": {"4": 7, "2": 6}}}})", ErrorCode::conflict, "/gpu/exec/by_sms/4", "7",
                "7ms", "no longer execution than on 2 SMs"),
        segment(R"({"gpu": {"exec": {"by_sms": {"4": 7}, "max": 8}}})", ErrorCode::unknown_key, "/gpu/exec/max", "8",
                "\"max\"", "by_sms"),
        segment(R"({"copy": {"to": "host"}})", ErrorCode::missing, "/copy/time", "{\"to", "nothing",
                "time of the copy"),
        segment(R"({"copy": 8})", ErrorCode::type, "/copy", "8", "8", "object"),
        segment(R"({"copy": {"time": 1, "to": "hots"}})", ErrorCode::value, "/copy/to", "\"hots\"", "\"hots\"",
                "\"device\" or \"host\"", "Did you mean \"host\"?")));

std::vector<std::string> places(const Errors& errors) {
  std::vector<std::string> all;
  for (const Error& error : errors) {
    all.push_back(std::to_string(error.place.line) + ":" + std::to_string(error.place.column) + " " +
                  error.place.pointer + " " + std::string(to_string(error.code)));
  }
  return all;
}

TEST(ReadErrors, AllAtOnceInTheOrderOfTheText) {
  const auto loaded = read_taskset(
      "{\"rtgpu\": 1,\n"
      " \"platform\": {\"cpus\": 2, \"gpus\": [{\"sm\": 3}]},\n"
      " \"tasks\": [\n"
      "  {\"name\": \"a\", \"period\": 0, \"segments\": [{\"cpu\": 1}]},\n"
      "  {\"name\": \"b\", \"perid\": 5, \"segments\": [{\"gpu\": {\"exec\": -1}}, {\"cpu\": \"x\"}]},\n"
      "  {\"name\": \"c\", \"period\": 5, \"cpu\": 9,\n"
      "   \"segments\": [{\"cpu\": {\"min\": 2, \"max\": 1}}]}]}\n");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(places(loaded.errors()),
              ::testing::ElementsAre("2:42 /platform/gpus/0/sm unknown_key", "4:27 /tasks/0/period value",
                                     "5:3 /tasks/1/period missing", "5:26 /tasks/1/perid unknown_key",
                                     "5:59 /tasks/1/segments/0/gpu/exec value", "5:73 /tasks/1/segments/1/cpu value",
                                     "6:37 /tasks/2/cpu value", "7:25 /tasks/2/segments/0/cpu conflict"));
}

TEST(ReadErrors, LinesCountFromThePlaceOfTheDocumentInItsFile) {
  TasksetReader reader;
  const auto loaded = reader.read("{\r\n \"rtgpu\": 7}", "f.ndjson", 41);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(places(loaded.errors()), ::testing::Contains("42:11 /rtgpu value"));
  EXPECT_EQ(loaded.errors().front().place.source, "f.ndjson");
}

TEST(ReadErrors, AByteOrderMarkHasNoColumn) {
  const auto loaded = read_taskset("\xEF\xBB\xBF[]");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(places(loaded.errors()), ::testing::ElementsAre("1:1  type"));
}

std::string two_tasks(const std::string& first, const std::string& second, const std::string& rest = "") {
  return document(R"({"cpus": 2})", R"([{"name": "a", "period": 9, )" + first +
                                        R"("segments": [{"gpu": {"exec": 1}}]}, )" + R"({"name": "b", "period": 9, )" +
                                        second + R"("segments": [{"gpu": {"exec": 1}}]}])" + rest);
}

TEST(ReadErrors, EqualPriorities) {
  const auto loaded = read_taskset(two_tasks(R"("priority": 5, )", R"("cpu": 1, "priority": 5, )"));
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.errors().size(), 1U) << "the GPU priorities are the same tie";
  const Error& error = loaded.errors().front();
  EXPECT_EQ(error.code, ErrorCode::conflict);
  EXPECT_EQ(error.place.pointer, "/tasks/1/priority");
  EXPECT_THAT(error.found, HasSubstr("5, also the priority of \"a\" (/tasks/0)"));
  EXPECT_THAT(error.advice, HasSubstr("by-order"));
}

TEST(ReadErrors, EqualPrioritiesAreAllowedByOrderAndAcrossClasses) {
  EXPECT_TRUE(read_taskset(two_tasks(R"("priority": 5, )", R"("priority": 5, )", R"(, "ties": "by-order")")));
  EXPECT_TRUE(read_taskset(two_tasks(R"("priority": 5, )", R"("priority": 5, "best_effort": true, )")));
  EXPECT_FALSE(
      read_taskset(two_tasks(R"("priority": 5, "best_effort": true, )", R"("priority": 5, "best_effort": true, )")));
}

TEST(ReadErrors, EqualGpuPriorities) {
  const auto loaded =
      read_taskset(two_tasks(R"("priority": 5, "gpu_priority": 7, )", R"("priority": 6, "gpu_priority": 7, )"));
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.errors().size(), 1U);
  EXPECT_EQ(loaded.errors().front().place.pointer, "/tasks/1/gpu_priority");
  EXPECT_TRUE(read_taskset(two_tasks(R"("priority": 5, "gpu_priority": 7, )",
                                     R"("priority": 6, "gpu_priority": 7, "best_effort": true, )")));
}

TEST(ReadErrors, AnUnknownTimeUnitIsNotFollowedByNonsense) {
  const auto loaded = read_taskset(with_task("\"deadline\": \"900ms\", ", "\"time_unit\": \"h\", "));
  ASSERT_FALSE(loaded);
  EXPECT_THAT(places(loaded.errors()), ::testing::ElementsAre("1:52 /time_unit value"));
}

TEST(ReadErrors, OneMistakeIsOneError) {
  // The period cannot be read: nothing is said about the deadline, which is compared with it.
  const auto loaded = read_taskset(
      document(R"({"cpus": 1})", R"([{"name": "a", "period": "x", "deadline": 5, "segments": [{"cpu": 1}]}])"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.errors().size(), 1U);
}

TEST(ReadErrors, AreCutAtAHundred) {
  std::string tasks;
  for (int i = 0; i < 5000; ++i) tasks += (i == 0 ? "{\"x\": 1}" : ", {\"x\": 1}");
  const auto loaded = read_taskset(document(R"({"cpus": 1})", "[" + tasks + "]"));
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.errors().size(), 101U);
  EXPECT_THAT(to_string(loaded.errors().back()), HasSubstr("19900 more errors"));
  EXPECT_EQ(loaded.errors()[99].place.pointer, "/tasks/24/x");
}

TEST(ReadErrors, TooManyTasksAndSegments) {
  std::string zeros = "0";
  for (std::size_t i = 0; i < kMaxTasks; ++i) zeros += ",0";
  const auto tasks = read_taskset(document(R"({"cpus": 1})", "[" + zeros + "]"));
  ASSERT_FALSE(tasks);
  ASSERT_EQ(tasks.errors().size(), 1U);
  EXPECT_EQ(tasks.errors().front().code, ErrorCode::limit);
  EXPECT_THAT(to_string(tasks.errors().front()), HasSubstr("found 100001 tasks; expected at most 100000 tasks"));
  zeros.resize(2 * kMaxSegments + 1);
  const auto segments = read_taskset(with_segment(zeros));
  ASSERT_FALSE(segments);
  ASSERT_EQ(segments.errors().size(), 1U);
  EXPECT_THAT(to_string(segments.errors().front()), HasSubstr("found 10001 segments; expected at most 10000"));
}

TEST(ReadErrors, DuplicateKeysOfALargeObject) {
  std::string members;
  for (int i = 0; i < 50; ++i) members += "\"k" + std::to_string(i) + "\": 0, ";
  const auto loaded = read_taskset(with_task(members + "\"k7\": 1, "));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(std::count_if(loaded.errors().begin(), loaded.errors().end(),
                          [](const Error& e) { return e.code == ErrorCode::duplicate_key; }),
            1);
}

}  // namespace
}  // namespace rtgpu
