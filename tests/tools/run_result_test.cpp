// What a result says that a run in virtual time cannot show: exceeded bounds, troubles, refusals.
#include "tools/format/run_result.h"

#include "tools/format/run.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TaskReport seen_task(std::string name, Duration longest, std::optional<Duration> bound) {
  TaskReport task;
  task.name = std::move(name);
  task.deadline = Duration::milliseconds(10);
  task.bound = bound;
  task.seen.jobs = 1;
  task.seen.response.add(longest);
  return task;
}

RunResult result_of(std::vector<TaskReport> tasks) {
  RunResult result;
  result.source = "case.json";
  result.device = "host";
  result.report.tasks = std::move(tasks);
  return result;
}

std::string table_of(const RunResult& result) {
  std::string text;
  append_table(text, result);
  return text;
}

TEST(ObservedOverBound, IsRoundedUpSoThatMoreThanOneIsExceeded) {
  const Duration bound = Duration::milliseconds(3);
  EXPECT_EQ(observed_over_bound(bound, Duration::milliseconds(1)), "0.334");
  EXPECT_EQ(observed_over_bound(bound, bound), "1.000");
  EXPECT_EQ(observed_over_bound(bound, bound + Duration::nanoseconds(1)), "1.001");
  EXPECT_EQ(observed_over_bound(bound, Duration::milliseconds(30)), "10.000");
  EXPECT_EQ(observed_over_bound(kMaxTime, kMaxTime), "1.000");
  EXPECT_EQ(observed_over_bound({}, Duration::milliseconds(1)), "");
  EXPECT_EQ(observed_over_bound(Duration(), Duration()), "");
}

TEST(RunResult, AnExceededBoundIsANoIfBoundsAreChecked) {
  RunResult result = result_of({seen_task("fine", Duration::milliseconds(2), Duration::milliseconds(2)),
                                seen_task("late", Duration::milliseconds(3), Duration::milliseconds(2))});
  EXPECT_TRUE(result.is_yes());
  EXPECT_THAT(result.exceeded(), ElementsAre("late"));
  EXPECT_THAT(table_of(result), HasSubstr("\nno deadline missed, bound exceeded of late under mpcp suspend\n"));
  result.check_bounds = true;
  EXPECT_FALSE(result.is_yes());
}

TEST(RunResult, TimesAreRoundedAndBoundsUp) {
  const RunResult result =
      result_of({seen_task("a", Duration::nanoseconds(1'000'400), Duration::nanoseconds(2'000'400))});
  EXPECT_THAT(table_of(result),
              HasSubstr("\n  a        1       0        10    1     1       1    1  2.001      0.501  "));
}

TEST(RunResult, WhoHasNoBoundIsANoIfBoundsAreChecked) {
  RunResult result = result_of({seen_task("a", Duration::milliseconds(2), {}),
                                seen_task("b", Duration::milliseconds(2), Duration::milliseconds(2))});
  EXPECT_TRUE(result.is_yes());
  result.check_bounds = true;
  EXPECT_FALSE(result.is_yes());
  EXPECT_THAT(result.without_bound(), ElementsAre("a"));
  EXPECT_THAT(table_of(result), HasSubstr("\nno deadline missed, no bound of a under mpcp suspend\n"));
  result.report.tasks[0].best_effort = true;
  EXPECT_TRUE(result.is_yes());
  EXPECT_THAT(result.without_bound(), IsEmpty());
}

TEST(RunResult, TroublesAreANoAndTold) {
  RunResult result = result_of({seen_task("camera", Duration::milliseconds(2), {})});
  TaskStatistics& seen = result.report.tasks[0].seen;
  seen.gpu_failures = 1;
  seen.skipped = 2;
  seen.faults = 1;
  seen.last_fault = "bad\nframe";
  EXPECT_FALSE(result.is_yes());
  const std::string text = table_of(result);
  EXPECT_THAT(text, HasSubstr("camera: 2 releases skipped\n"));
  EXPECT_THAT(text, HasSubstr("camera: 1 failure of GPU segments or copies\n"));
  EXPECT_THAT(text, HasSubstr("camera: 1 job ended by an exception, the last one: bad\\nframe\n"));
  EXPECT_THAT(text, HasSubstr("no deadline missed, but not all jobs ended well under mpcp suspend\n"));
  std::string as_json;
  append_json(as_json, result);
  const auto task = nlohmann::json::parse(as_json)["results"][0]["tasks"][0];
  EXPECT_EQ(task["gpu_failures"], 1);
  EXPECT_EQ(task["last_fault"], "bad\nframe");
}

TEST(RunResult, OverheadsAreThoseOfAllTasks) {
  RunReport report;
  report.tasks.resize(2);
  report.tasks[0].seen.grant_latency.add(Duration::microseconds(5));
  report.tasks[1].seen.grant_latency.add(Duration::microseconds(7));
  report.tasks[1].seen.completion_latency.add(Duration::microseconds(9));
  const RunOverheads all = overheads_of(report);
  EXPECT_EQ(all.grant.count(), 2);
  EXPECT_EQ(all.grant.max(), Duration::microseconds(7));
  EXPECT_EQ(all.completion.max(), Duration::microseconds(9));
}

TEST(NotGranted, ThingsWithOneReasonAreToldTogether) {
  const auto priority = [](const char* what, const char* asked) {
    return RealtimeItem{what, asked, "SCHED_OTHER", false, "not permitted", "Ask root."};
  };
  RealtimeReport report;
  report.items = {priority("priority of a", "SCHED_FIFO 80"),
                  {"memory", "locked", "locked", true, {}, {}},
                  priority("priority of b", "SCHED_FIFO 79"),
                  {"preemption", "PREEMPT_RT", "PREEMPT", true, "delays", "Install it."},
                  priority("priority of c", "SCHED_FIFO 78")};
  const std::vector<RealtimeItem> told = not_granted(report);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(to_string(told[0]),
            "not granted: priority of a and 2 others: SCHED_OTHER, asked for SCHED_FIFO 80: not permitted");
  EXPECT_EQ(to_string(told[1]), "granted in part: preemption: PREEMPT, asked for PREEMPT_RT: delays");
}

TEST(RunResult, RefusalsAreInTheTable) {
  RunResult result = result_of({});
  result.report.realtime.items = {{"memory", "locked", "not locked", false, "no limit", "Raise it."}};
  EXPECT_THAT(table_of(result),
              HasSubstr("\nnot granted: memory: not locked, asked for locked: no limit\n  Raise it.\n"));
}

}  // namespace
}  // namespace rtgpu
