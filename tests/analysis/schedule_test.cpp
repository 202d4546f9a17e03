// What is made of a recorded schedule: activities of tasks, Chrome traces and charts.
#include "analysis/simulation/activity.h"
#include "analysis/simulation/chrome_trace.h"
#include "analysis/simulation/gantt.h"
#include "analysis/simulation/gantt_window.h"
#include "analysis/simulation/simulator.h"
#include "analysis/simulation/svg.h"
#include "tests/support/build.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using ::testing::Not;
using testing::task;

Schedule schedule_of(const Taskset& taskset, Policy policy, Duration horizon, WaitChoice wait = WaitChoice::file) {
  Result<Simulator> simulator = Simulator::of(taskset, policy, wait);
  if (!simulator) throw std::runtime_error(to_string(simulator.errors().front()));
  Schedule schedule;
  simulator->run(synchronous_scenario(taskset.tasks.size()), horizon, &schedule);
  return schedule;
}

// "cpu 0-1" in ms.
std::string line_of(const ActivityInterval& each) {
  std::string text(to_string(each.activity));
  if (each.holds_core) text += '*';
  if (each.boosted) text += '^';
  return text + ' ' + to_milliseconds(each.begin) + '-' + to_milliseconds(each.end);
}

std::vector<std::string> lines_of(const Taskset& taskset, const Schedule& schedule, TaskIndex task) {
  std::vector<std::string> lines;
  const auto all = activities(schedule, taskset.tasks.size());
  for (const ActivityInterval& each : all[task]) lines.push_back(line_of(each));
  return lines;
}

// high: cpu 1, misc 1, exec 4 on core 0. low: cpu 8 there. far: exec 6 on core 1.
Taskset waiting_tasks() {
  return make_taskset({task("high", ms(100), {cpu(ms(1)), gpu(ms(1), ms(4)), cpu(ms(1))}),
                       task("low", ms(100), {cpu(ms(8))}), task("far", ms(100), {gpu(ms(0), ms(6))}, 1)});
}

TEST(Activities, TellWhatATaskWaitsFor) {
  const Taskset taskset = waiting_tasks();
  const Schedule schedule = schedule_of(taskset, Policy::gcaps_wc, ms(50));
  EXPECT_THAT(lines_of(taskset, schedule, 0), ElementsAre("cpu* 0-1", "misc* 1-2", "on the GPU 2-6", "cpu* 6-7"));
  EXPECT_THAT(lines_of(taskset, schedule, 1), ElementsAre("preempted 0-2", "cpu* 2-6", "preempted 6-7", "cpu* 7-11"));
  EXPECT_THAT(lines_of(taskset, schedule, 2),
              ElementsAre("on the GPU 0-2", "waits for the GPU 2-6", "on the GPU 6-10"));
}

TEST(Activities, TellWhoHoldsACoreWhileItWaits) {
  const Taskset taskset = waiting_tasks();
  const Schedule schedule = schedule_of(taskset, Policy::gcaps_wc, ms(50), WaitChoice::busy);
  EXPECT_THAT(lines_of(taskset, schedule, 0), ElementsAre("cpu* 0-1", "misc* 1-2", "on the GPU* 2-6", "cpu* 6-7"));
  EXPECT_THAT(lines_of(taskset, schedule, 1), ElementsAre("preempted 0-7", "cpu* 7-15"));
}

TEST(Activities, LocksCallsAndBoosts) {
  Taskset taskset = waiting_tasks();
  taskset.platform.gpus[0].overheads.lock = ms(1);
  const Schedule schedule = schedule_of(taskset, Policy::mpcp, ms(50));
  // far takes the lock at 0 in 1 ms, and has the GPU from 1 to 7; high asks at 1.
  EXPECT_THAT(lines_of(taskset, schedule, 0),
              ElementsAre("cpu* 0-1", "waits for the lock 1-7", "enter or leave call*^ 7-8", "misc*^ 8-9",
                          "on the GPU 9-13", "cpu* 13-14"));
}

TEST(Activities, CopiesAndContextSwitches) {
  Taskset taskset = make_taskset({task("a", ms(100), {gpu(ms(0), ms(2)), CopySegment{{ms(3), ms(3)}, {}}}, 0),
                                  task("b", ms(100), {gpu(ms(0), ms(2)), CopySegment{{ms(3), ms(3)}, {}}}, 1)});
  taskset.platform.gpus[0].overheads.time_slice = ms(1);
  taskset.platform.gpus[0].overheads.context_switch = ms(1);
  const Schedule schedule = schedule_of(taskset, Policy::tsg_rr, ms(50));
  const auto b = lines_of(taskset, schedule, 1);
  EXPECT_THAT(b, ::testing::Contains("context switch 1-2"));
  EXPECT_THAT(b, ::testing::Contains("on the GPU 2-3"));
  EXPECT_EQ(lines_of(taskset, schedule, 0).back(), "copies 5-8");
  EXPECT_THAT(b, ::testing::Contains("waits for the copy engine 7-8"));
  EXPECT_EQ(b.back(), "copies 8-11");
}

TEST(Activities, CoverEveryJobWithoutGapsOrOverlap) {
  const Taskset taskset = load_case("gcaps-case-study.json");
  for (const Policy policy : {Policy::gcaps, Policy::tsg_rr, Policy::mpcp}) {
    SCOPED_TRACE(to_string(policy));
    const Schedule schedule = schedule_of(taskset, policy, Duration::seconds(2));
    EXPECT_TRUE(std::ranges::is_sorted(schedule.tasks, std::ranges::less{}, &TaskInterval::begin));
    EXPECT_TRUE(std::ranges::is_sorted(schedule.cores, std::ranges::less{}, &CoreInterval::begin));
    const auto all = activities(schedule, taskset.tasks.size());
    for (const JobRecord& job : schedule.jobs) {
      Duration reached = job.release;
      for (const ActivityInterval& each : all[job.task]) {
        if (each.job != job.job) continue;
        ASSERT_EQ(each.begin, reached);
        reached = each.end;
      }
      ASSERT_EQ(reached, job.completion);
    }
  }
}

// --- Chrome traces

json trace_of(const Taskset& taskset, const Schedule& schedule) {
  std::ostringstream out;
  write_chrome_trace(out, schedule, taskset, "a \"title\"");
  return json::parse(out.str());
}

std::string lane_name(const json& trace, const json& event) {
  for (const json& each : trace["traceEvents"]) {
    if (each["name"] == "thread_name" && each["pid"] == event["pid"] && each["tid"] == event["tid"]) {
      return each["args"]["name"];
    }
  }
  return "?";
}

TEST(ChromeTrace, HasALaneForEachTaskCoreAndDevice) {
  const Taskset taskset = waiting_tasks();
  const json trace = trace_of(taskset, schedule_of(taskset, Policy::gcaps_wc, ms(50)));
  EXPECT_EQ(trace["otherData"]["title"], "a \"title\"");
  std::map<std::string, std::vector<std::string>> lanes;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    lanes[lane_name(trace, event)].push_back(event["name"].get<std::string>() + ' ' + event["ts"].dump() + '+' +
                                             event["dur"].dump());
  }
  EXPECT_THAT(lanes["high"],
              ElementsAre("cpu 0.0+1000.0", "misc 1000.0+1000.0", "on the GPU 2000.0+4000.0", "cpu 6000.0+1000.0"));
  EXPECT_THAT(lanes["core 0"], ElementsAre("high 0.0+1000.0", "high 1000.0+1000.0", "high 6000.0+1000.0",
                                           "low 2000.0+4000.0", "low 7000.0+4000.0"));
  EXPECT_THAT(lanes["gpu0"], ElementsAre("far 0.0+2000.0", "high 2000.0+4000.0", "far 6000.0+4000.0"));
  EXPECT_EQ(lanes.size(), 5U);  // core 1 is never busy
}

TEST(ChromeTrace, MarksReleasesDeadlinesCompletionsAndMisses) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(6))}), task("b", ms(20), {cpu(ms(6))})});
  taskset.tasks[1].deadline = ms(10);
  const json trace = trace_of(taskset, schedule_of(taskset, Policy::gcaps, ms(15)));
  std::vector<std::tuple<std::string, std::string, double>> marks;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "i") marks.emplace_back(lane_name(trace, event), event["name"], event["ts"]);
  }
  using Mark = std::tuple<std::string, std::string, double>;
  EXPECT_THAT(marks, ::testing::UnorderedElementsAre(
                         Mark{"a", "release", 0}, Mark{"a", "deadline", 10000}, Mark{"a", "completion", 6000},
                         Mark{"a", "release", 10000}, Mark{"a", "deadline", 20000}, Mark{"a", "completion", 16000},
                         Mark{"b", "release", 0}, Mark{"b", "deadline", 10000}, Mark{"b", "deadline missed", 10000},
                         Mark{"b", "completion", 18000}));
}

TEST(ChromeTrace, TimesAreExactToTheNanosecond) {
  const Taskset taskset = make_taskset({task("a", Duration::seconds(900'000), {cpu(Duration::nanoseconds(1))})});
  std::ostringstream out;
  write_chrome_trace(out, schedule_of(taskset, Policy::gcaps, Duration::seconds(900'000)), taskset, "");
  EXPECT_THAT(out.str(), HasSubstr(R"("ts":900000000000.000,"dur":0.001,)"));
  EXPECT_THAT(out.str(), HasSubstr(R"("ts":900000000000.001,)"));
}

TEST(ChromeTrace, BoostsAndBusyWaitingAreArguments) {
  const Taskset taskset = waiting_tasks();
  const json trace = trace_of(taskset, schedule_of(taskset, Policy::mpcp, ms(50), WaitChoice::busy));
  bool boosted = false;
  bool holds = false;
  for (const json& event : trace["traceEvents"]) {
    boosted = boosted || (event["name"] == "misc" && event["args"].contains("boosted"));
    holds = holds || (event["name"] == "on the GPU" && event["args"].contains("holds_core"));
  }
  EXPECT_TRUE(boosted);
  EXPECT_TRUE(holds);
}

// --- charts

// Fails unless every element is closed in turn and no character is left unescaped.
void expect_well_formed(const std::string& xml) {
  std::stack<std::string> open;
  std::size_t place = xml.find("?>");
  ASSERT_NE(place, std::string::npos);
  while ((place = xml.find('<', place)) != std::string::npos) {
    const std::size_t end = xml.find('>', place);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = xml.substr(place + 1, end - place - 1);
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ('/' + open.top(), tag);
      open.pop();
    } else if (tag.back() != '/') {
      open.push(name);
    }
    place = end;
  }
  EXPECT_TRUE(open.empty());
}

std::string chart_of(const Taskset& taskset, Policy policy, Duration horizon, TaskIndex task = kNoTask,
                     std::int64_t job = 0) {
  return gantt_chart(schedule_of(taskset, policy, horizon), taskset, {.title = "t", .task = task, .job = job});
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Gantt, HoldsEveryTaskAndIsWellFormed) {
  const Taskset taskset = load_case("gcaps-case-study.json");
  for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp, Policy::fmlp_plus}) {
    SCOPED_TRACE(to_string(policy));
    const std::string chart = chart_of(taskset, policy, ms(400), 4, 0);
    expect_well_formed(chart);
    for (const Task& task : taskset.tasks) EXPECT_THAT(chart, HasSubstr(">" + task.name + "<"));
    EXPECT_THAT(chart, HasSubstr("core 1, priority 70"));
    EXPECT_THAT(chart, HasSubstr("core 4, best-effort"));
    EXPECT_THAT(chart, HasSubstr(">gpu0<"));
    EXPECT_THAT(chart, Not(HasSubstr("script")));
    EXPECT_THAT(chart, HasSubstr("time (ms)"));
  }
}

TEST(Gantt, DrawsWhatHappened) {
  const std::string chart = chart_of(waiting_tasks(), Policy::gcaps_wc, ms(50), 1, 0);
  EXPECT_THAT(chart, HasSubstr("<title>low, job 0: preempted: waits for its core, 0 to 2 ms</title>"));
  EXPECT_THAT(chart, HasSubstr("<title>high, job 0: on the GPU, 2 to 6 ms</title>"));
  EXPECT_THAT(chart, HasSubstr("response 11 ms"));
  // The run ends at 11 ms: high has the GPU from 2/11 to 6/11 of 1190 pixels, which begin at 186.
  EXPECT_THAT(chart, HasSubstr(R"(class="gpu" x="402.36" y="92" width="432.73" height="18")"));
  EXPECT_THAT(chart, HasSubstr("0 to 11 ms"));
  EXPECT_THAT(chart, Not(HasSubstr("the part around")));
  EXPECT_THAT(chart, Not(HasSubstr(">missed<")));
}

TEST(Gantt, MissesAreSaidInWords) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(6))}), task("b", ms(20), {cpu(ms(6))})});
  taskset.tasks[1].deadline = ms(10);
  const std::string chart = chart_of(taskset, Policy::gcaps, ms(15));
  EXPECT_THAT(chart, HasSubstr("b, job 0: deadline missed at 10 ms"));
  EXPECT_THAT(chart, HasSubstr(">missed<"));
}

TEST(Gantt, NamesAreEscaped) {
  Taskset taskset = waiting_tasks();
  taskset.tasks[0].name = "<b>&\"x\"\x01\xff";
  const std::string chart = chart_of(taskset, Policy::gcaps, ms(50));
  expect_well_formed(chart);
  EXPECT_THAT(chart, HasSubstr("&lt;b&gt;&amp;&quot;x&quot;??"));
}

TEST(Gantt, ALongRunIsShownAroundTheJob) {
  const Taskset taskset = load_case("gcaps-case-study.json");
  const std::string chart = chart_of(taskset, Policy::gcaps, Duration::seconds(20), 4, 25);
  EXPECT_THAT(chart, HasSubstr("the part around the marked job"));
  EXPECT_THAT(chart, HasSubstr("<title>dxtc, job 25: on the GPU, "));
  EXPECT_THAT(chart, HasSubstr("response "));
  EXPECT_LT(chart.size(), 100'000U);
  EXPECT_EQ(count_of(chart, R"(viewBox="0 0 1400 )"), 1U);
}

TEST(Gantt, ManyTasksAreCutToTheRowsThatFit) {
  std::vector<Task> tasks;
  for (int index = 0; index < 100; ++index) {
    tasks.push_back(task("t" + std::to_string(index), ms(1000), {cpu(ms(1))}, index / 2));
  }
  const std::string chart = chart_of(make_taskset(std::move(tasks)), Policy::gcaps, ms(10), 99, 0);
  EXPECT_THAT(chart, HasSubstr("64 of 100 tasks"));
  EXPECT_THAT(chart, HasSubstr(">t99<"));
  EXPECT_THAT(chart, Not(HasSubstr(">t0<")));
}

TEST(GanttWindow, AxisHasRoundMarks) {
  const auto axis = [](Duration begin, Duration end) {
    const GanttAxis made = gantt_axis({begin, end});
    return to_string(made.step) + ' ' + std::string(made.unit_name);
  };
  EXPECT_EQ(axis(ms(0), ms(800)), "50ms ms");
  EXPECT_EQ(axis(ms(0), ms(100)), "10ms ms");
  EXPECT_EQ(axis(ms(0), ms(99)), "5ms ms");
  EXPECT_EQ(axis(Duration(), Duration::nanoseconds(1)), "1ns ns");
  EXPECT_EQ(axis(Duration(), Duration::microseconds(30)), "2us us");
  EXPECT_EQ(axis(Duration(), Duration::seconds(1'000'000)), "100000s s");
}

TEST(GanttWindow, HoldsTheJob) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(1))}), task("b", ms(1000), {cpu(ms(500))})});
  Schedule schedule;
  schedule.end = ms(5000);
  const JobRecord job{1, 3, ms(3000), ms(3000), ms(3555), false};
  const GanttWindow window = gantt_window(schedule, taskset, {0, 1}, &job);
  EXPECT_LE(window.begin, ms(3000));
  EXPECT_GE(window.end, ms(4000));  // its deadline
  EXPECT_LT(window.end - window.begin, ms(1500));
  EXPECT_EQ(gantt_window(schedule, taskset, {0, 1}, nullptr), (GanttWindow{ms(0), ms(60)}));
}

TEST(Svg, LengthsAndShortenedText) {
  EXPECT_EQ(to_svg(0), "0");
  EXPECT_EQ(to_svg(-105), "-1.05");
  EXPECT_EQ(to_svg(250), "2.50");
  EXPECT_EQ(shortened("grün", 4), "grün");
  EXPECT_EQ(shortened("größer", 4), "grö…");
}

}  // namespace
}  // namespace rtgpu
