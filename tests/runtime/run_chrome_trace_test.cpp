// Traces of runs on their way through Schedule and JSON and back.
#include "runtime/trace/run_chrome_trace.h"

#include "analysis/simulation/chrome_trace.h"
#include "analysis/simulation/schedule_check.h"
#include "analysis/simulation/simulator.h"
#include "runtime/gpu_status.h"
#include "runtime/trace/schedule_of_trace.h"
#include "taskset/json.h"
#include "tests/runtime/read_chrome_trace.h"
#include "tests/runtime/schedule_text.h"
#include "tests/runtime/trace_of_schedule.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::cpu;
using ::testing::ElementsAre;
using testing::first_difference;
using testing::make_taskset;
using testing::ms;
using testing::read_chrome_trace;
using testing::task;
using testing::trace_of;

constexpr std::array kPolicies{Policy::gcaps, Policy::gcaps_wc,  Policy::tsg_rr,
                               Policy::mpcp,  Policy::fmlp_plus, Policy::stream_priority};

// Every kind of draw.
Scenario varied_scenario(const Taskset& taskset, std::uint64_t seed) {
  Scenario scenario = synchronous_scenario(taskset.tasks.size());
  scenario.seed = seed;
  for (TaskScenario& each : scenario.tasks) {
    each.jitter_chance = 300;
    each.shorten_chance = 300;
    each.gap_chance = 100;
    each.longest_gap = ms(3);
  }
  return scenario;
}

// Nullopt: the policy does not cover the taskset.
std::optional<Schedule> simulated(const Taskset& taskset, Policy policy, WaitChoice wait, const Scenario& scenario,
                                  Duration horizon) {
  Result<Simulator> simulator = Simulator::of(taskset, policy, wait);
  if (!simulator) return std::nullopt;
  Schedule schedule;
  simulator->run(scenario, horizon, &schedule);
  return schedule;
}

// Small, with equal times and parts that take none, so that much falls on one moment.
Taskset crowded_taskset(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  testing::RandomOptions options;
  options.tasks = 5;
  options.gpu_percent = 80;
  options.best_effort_percent = 20;
  options.overheads = seed % 2 == 0;
  options.every_feature = seed % 3 == 0;
  options.best_case_below_worst = true;
  options.jitter = true;
  options.grain = ms(1);
  options.min_period_ms = 10;
  options.max_period_ms = 60;
  options.waits = testing::RandomOptions::Waits::mixed;
  Taskset taskset = random_taskset(random, options);
  for (Task& each : taskset.tasks) {
    if (testing::chance(random, 30)) each.lock_wait = LockWait::spin;
  }
  return taskset;
}

// Calls `check` with schedules of so many crowded tasksets under each policy.
void for_crowded_schedules(std::uint64_t tasksets, auto check) {
  std::uint64_t schedules = 0;
  for (std::uint64_t seed = 1; seed <= tasksets; ++seed) {
    const Taskset taskset = crowded_taskset(seed);
    Scenario scenario = varied_scenario(taskset, seed);
    scenario.below_best_case = true;
    for (const Policy policy : kPolicies) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::string(to_string(policy)));
      const auto schedule = simulated(taskset, policy, WaitChoice::file, scenario, ms(100));
      if (!schedule) continue;
      ++schedules;
      check(taskset, *schedule);
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(schedules, 2 * tasksets);
}

std::string exact_trace(const Taskset& taskset, const Schedule& schedule) {
  ChromeTraceExtras extras;
  extras.exact = true;
  std::ostringstream out;
  write_chrome_trace(out, schedule, taskset, "exact", extras);
  return out.str();
}

std::string run_trace(const Trace& trace, const Taskset& taskset, RunClock clock = RunClock::virtual_time) {
  std::ostringstream out;
  write_run_chrome_trace(out, trace, taskset, {"a run", clock});
  return out.str();
}

TEST(ScheduleOfTrace, TellsTheScheduleThatATraceIsMadeOf) {
  for_crowded_schedules(40, [](const Taskset& taskset, const Schedule& schedule) {
    EXPECT_EQ(first_difference(schedule, schedule_of(trace_of(schedule, true), taskset)), "");
  });
}

TEST(ScheduleOfTrace, InfersTheCoresAsTheyWere) {
  for_crowded_schedules(40, [](const Taskset& taskset, const Schedule& schedule) {
    EXPECT_EQ(first_difference(schedule, schedule_of(trace_of(schedule, false), taskset)), "");
  });
}

TEST(ChromeTrace, ExactOnesHoldTheSchedule) {
  for_crowded_schedules(8, [](const Taskset& taskset, const Schedule& schedule) {
    EXPECT_EQ(first_difference(schedule, read_chrome_trace(exact_trace(taskset, schedule))), "");
  });
}

TEST(ChromeTrace, ExamplesAreLegalAndEqualAfterTheWayThroughAFile) {
  int examples = 0;
  for (const auto& file : std::filesystem::directory_iterator(RTGPU_EXAMPLES)) {
    if (file.path().extension() != ".json") continue;
    ++examples;
    std::ifstream in(file.path());
    const Result<LoadedTaskset> loaded = read_taskset(std::string(std::istreambuf_iterator<char>(in), {}));
    ASSERT_TRUE(loaded) << file.path();
    for (const WaitChoice wait : {WaitChoice::file, WaitChoice::busy}) {
      for (const Policy policy : kPolicies) {
        SCOPED_TRACE(file.path().filename().string() + ", " + std::string(to_string(policy)));
        const Taskset& taskset = loaded->taskset;
        const auto schedule = simulated(taskset, policy, wait, varied_scenario(taskset, 5), ms(120));
        if (!schedule) continue;
        const Schedule read = read_chrome_trace(exact_trace(taskset, *schedule));
        EXPECT_EQ(first_difference(*schedule, read), "");
        for (const ScheduleViolation& each : check_schedule(taskset, policy, wait, read)) {
          ADD_FAILURE() << to_string(each, taskset);
        }
      }
    }
  }
  EXPECT_GE(examples, 5);
}

TEST(ChromeTrace, LateTimesAreReadBackExactly) {
  const Taskset taskset = make_taskset({task("a", Duration::seconds(900'000), {cpu(Duration::nanoseconds(1))})});
  const auto schedule =
      simulated(taskset, Policy::gcaps, WaitChoice::file, synchronous_scenario(1), Duration::seconds(900'000));
  ASSERT_TRUE(schedule);
  ASSERT_EQ(schedule->jobs.back().completion, Duration::seconds(900'000) + Duration::nanoseconds(1));
  EXPECT_EQ(first_difference(*schedule, read_chrome_trace(exact_trace(taskset, *schedule))), "");
}

TEST(ChromeTrace, ExtrasComeAfterTheRest) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(1))})});
  ChromeTraceExtras extras;
  extras.other_data = R"("dropped":3)";
  extras.instants = {{"a \"mark\"", 0, ms(2), R"("what":"that")"}, {"bare", 0, Duration::nanoseconds(-1500), ""}};
  Schedule empty;
  std::ostringstream out;
  write_chrome_trace(out, empty, taskset, "t", extras);
  const json trace = json::parse(out.str());
  EXPECT_EQ(trace["otherData"], json::parse(R"({"title":"t","dropped":3})"));
  const json& events = trace["traceEvents"];
  ASSERT_GE(events.size(), 2U);
  EXPECT_EQ(events[events.size() - 2], json::parse(R"({"name":"a \"mark\"","cat":"run","ph":"i","s":"t","pid":1,
      "tid":1,"ts":2000.000,"args":{"what":"that"}})"));
  EXPECT_EQ(events.back()["ts"], -1.5);
  EXPECT_EQ(events.back()["args"], json::object());
}

// --- Traces of runs

TraceEvent event(std::int64_t time, TraceKind kind, std::int64_t value = 0, std::uint32_t of = 0) {
  return {time, 0, 2, value, of, 1, kind};
}

Trace eventful_trace() {
  Trace trace;
  trace.events = {{0, 0, 2, 0, 0, 0, TraceKind::release},
                  event(1'000, TraceKind::slice),
                  event(1'001, TraceKind::preempt),
                  event(2'000, TraceKind::miss, 1'999),
                  event(2'500, TraceKind::overrun, 1),
                  event(3'000, TraceKind::error, static_cast<std::int64_t>(GpuStatus::device_lost)),
                  event(3'250, TraceKind::error, -1),
                  event(3'500, TraceKind::miss, 0, 99),  // of no task
                  event(4'000, TraceKind::complete, 1)};
  trace.dropped = 7;
  trace.end = Duration::nanoseconds(5'000);
  return trace;
}

TEST(RunChromeTrace, MarksWhatHappenedOutOfTheOrdinary) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(1)), testing::gpu(ms(0), ms(1))})});
  const json trace = json::parse(run_trace(eventful_trace(), taskset));
  std::vector<std::string> marks;
  for (const json& each : trace["traceEvents"]) {
    if (each.value("cat", "") != "run") continue;
    marks.push_back(each["name"].get<std::string>() + ' ' + each["ts"].dump() + ' ' + each["args"].dump());
  }
  EXPECT_THAT(marks, ElementsAre(R"(slice 1.0 {"job":2,"segment":1,"task":0})",
                                 R"(preempt 1.001 {"job":2,"segment":1,"task":0})",
                                 R"(miss 2.0 {"deadline_ns":1999,"job":2,"segment":1,"task":0})",
                                 R"(overrun 2.5 {"job":2,"segment":1,"task":0,"value":1})",
                                 R"(error 3.0 {"job":2,"segment":1,"status":"the device no longer answers","task":0})",
                                 R"(error 3.25 {"job":2,"segment":1,"status":"the job's own code failed","task":0})"));
}

TEST(RunChromeTrace, SaysWhatItsTimesAreAndWhatIsMissing) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(1)), testing::gpu(ms(0), ms(1))})});
  const json in_virtual_time = json::parse(run_trace(eventful_trace(), taskset))["otherData"];
  EXPECT_EQ(in_virtual_time["title"], "a run");
  EXPECT_EQ(in_virtual_time["clock"], "virtual");
  EXPECT_EQ(in_virtual_time["dropped"], 7);
  EXPECT_EQ(in_virtual_time["end_ns"], 5'000);
  const json real = json::parse(run_trace(eventful_trace(), taskset, RunClock::monotonic))["otherData"];
  EXPECT_EQ(real["clock"], "CLOCK_MONOTONIC, ns from start");
}

TEST(RunChromeTrace, HoldsTheScheduleOfTheTrace) {
  const Taskset taskset = crowded_taskset(2);
  for (const Policy policy : {Policy::gcaps, Policy::mpcp}) {
    const auto schedule = simulated(taskset, policy, WaitChoice::file, varied_scenario(taskset, 2), ms(100));
    ASSERT_TRUE(schedule);
    ASSERT_GT(schedule->jobs.size(), 5U);
    const Trace trace = trace_of(*schedule, true);
    EXPECT_EQ(first_difference(*schedule, read_chrome_trace(run_trace(trace, taskset))), "");
  }
}

TEST(RunChromeTrace, SurvivesWhateverIsMissing) {
  for_crowded_schedules(8, [](const Taskset& taskset, const Schedule& schedule) {
    Trace trace = trace_of(schedule, true);
    std::mt19937_64 random(trace.events.size());
    std::erase_if(trace.events, [&random](const TraceEvent&) { return testing::chance(random, 30); });
    const Schedule read = read_chrome_trace(run_trace(trace, taskset));
    const Schedule direct = schedule_of(trace, taskset);
    EXPECT_EQ(read.tasks.size(), direct.tasks.size());
    EXPECT_EQ(read.gpu.size(), direct.gpu.size());
    EXPECT_EQ(read.jobs.size(), direct.jobs.size());
  });
}

}  // namespace
}  // namespace rtgpu
