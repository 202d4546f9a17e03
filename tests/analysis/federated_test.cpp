// federated in the simulator, in its schedules, and in the checker of those.
#include "analysis/falsification/counterexample.h"
#include "analysis/simulation/activity.h"
#include "analysis/simulation/chrome_trace.h"
#include "analysis/simulation/gantt.h"
#include "analysis/simulation/simulator.h"
#include "tests/analysis/safe_analyses.h"
#include "tests/analysis/schedule_check_cases.h"
#include "tests/support/build.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::broken;
using testing::cpu;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using testing::make_taskset;
using testing::ms;
using ::testing::Not;
using testing::recorded;
using testing::task;
using testing::with_own_sms;

GpuInterval runs(TaskIndex task, std::int64_t begin, std::int64_t end) {
  return {task, false, ms(begin), ms(end)};
}

// a: misc 1, exec 6, misc 0, exec 2 on core 0. b: misc 2, exec 3 there. c: exec 9 on core 1.
Taskset three_partitions() {
  return with_own_sms(
      make_taskset({task("a", ms(100), {gpu(ms(1), ms(6)), gpu(ms(0), ms(2))}), task("b", ms(100), {gpu(ms(2), ms(3))}),
                    task("c", ms(100), {gpu(ms(0), ms(9))}, 1)}));
}

TEST(FederatedSimulation, AllWorkRunsAtOnceAndFromItsSubmissionOn) {
  const Schedule schedule = recorded(three_partitions(), Policy::federated, {}, ms(50));
  EXPECT_TRUE(schedule.sm_partitions);
  EXPECT_THAT(schedule.gpu, ElementsAre(runs(2, 0, 9), runs(0, 1, 7), runs(1, 3, 6), runs(0, 7, 9)));
  const auto of_tasks = activities(schedule, 3);
  EXPECT_EQ(of_tasks[1][2].activity, Activity::gpu);
  EXPECT_THAT(schedule.jobs, Each(::testing::Field(&JobRecord::completion, ::testing::Le(ms(9)))));
}

TEST(FederatedSimulation, ABusyWaitHoldsTheCoreForExecAlone) {
  Taskset taskset =
      with_own_sms(make_taskset({task("h", ms(100), {gpu(ms(1), ms(6))}), task("l", ms(100), {cpu(ms(2))}),
                                 task("r", ms(100), {gpu(ms(0), ms(50))}, 1)}));
  taskset.tasks[0].wait = WaitMode::busy;
  Result<Simulator> simulator = Simulator::of(taskset, Policy::federated, WaitChoice::file);
  ASSERT_TRUE(simulator);
  const Observation& seen = simulator->run(synchronous_scenario(3), ms(90));
  EXPECT_EQ(seen.tasks[1].max_response, ms(9));
  const auto bounds = testing::safe_bounds(taskset, Policy::federated);
  EXPECT_EQ(bounds[0].bound, ms(7));
  EXPECT_EQ(bounds[1].bound, ms(9));
}

TEST(FederatedSimulation, WorksOnThePartitionOfTheAnalysis) {
  Taskset taskset = make_taskset({task("a", ms(20), {gpu(ms(0), ms(0))})});
  auto& work = std::get<GpuSegment>(taskset.tasks[0].segments[0]);
  work.exec.reset();
  work.parallel = ParallelWork{{ms(40), ms(40)}, {ms(4), ms(4)}, 1'500'000};
  taskset.platform.gpus[0].sms = 8;
  // (40 * 1.5 - 4) / 2m + 4 <= 20 from m = 2 on.
  const auto result = analyze(taskset, {.policy = Policy::federated});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->sm_partition.sms, ElementsAre(2));
  EXPECT_EQ(result->tasks[0].bound, ms(18));
  Result<Simulator> simulator = Simulator::of(taskset, Policy::federated, WaitChoice::file);
  ASSERT_TRUE(simulator);
  EXPECT_EQ(simulator->taskset().tasks[0].sms, 2);
  EXPECT_EQ(simulator->run(synchronous_scenario(1), ms(10)).tasks[0].max_response, ms(18));
}

// One engine, non-preemptive, by priority. b's copy meets one of c, which is below it, and then a's.
TEST(FederatedCopies, MeetOneFromBelowAndThoseFromAbove) {
  const auto copies = [](std::int64_t longest) { return CopySegment{{{}, ms(longest)}}; };
  const Taskset taskset = with_own_sms(make_taskset({task("a", ms(50), {copies(2), gpu(ms(0), ms(1))}, 0),
                                                     task("b", ms(100), {copies(3), gpu(ms(0), ms(1))}, 1),
                                                     task("c", ms(100), {copies(7), gpu(ms(0), ms(90))}, 2)}));
  const auto bounds = testing::safe_bounds(taskset, Policy::federated);
  EXPECT_EQ(bounds[0].bound, ms(10));
  EXPECT_EQ(bounds[1].bound, ms(13));
  const Schedule schedule = recorded(taskset, Policy::federated, {ms(1), ms(1), ms(0)}, ms(40));
  EXPECT_EQ(schedule.copies[0].task, 2U);
  EXPECT_EQ(schedule.copies[1].task, 0U);
  EXPECT_EQ(schedule.copies[2].end, ms(12));
}

TEST(FederatedCheck, WorkRunsFromItsSubmissionToItsEndWithoutABreak) {
  const Taskset taskset = three_partitions();
  const Schedule schedule = recorded(taskset, Policy::federated, {}, ms(50));
  Schedule late = schedule;
  late.gpu[2].begin += ms(1);
  EXPECT_THAT(broken(taskset, Policy::federated, late), ::testing::Contains(ScheduleRule::gpu_interruption));
  Schedule paused = schedule;
  paused.gpu[0].end = ms(4);
  paused.gpu.push_back(runs(2, 5, 9));
  EXPECT_THAT(broken(taskset, Policy::federated, paused), ::testing::Contains(ScheduleRule::gpu_interruption));
  Schedule beside = schedule;
  beside.gpu.push_back(runs(1, 10, 11));
  beside.end = ms(20);
  EXPECT_THAT(broken(taskset, Policy::federated, beside), ElementsAre(ScheduleRule::gpu_work));
  Schedule switching = schedule;
  switching.gpu[0].switching = true;
  EXPECT_THAT(broken(taskset, Policy::federated, switching), ::testing::Contains(ScheduleRule::context_switch));
  Schedule twice = schedule;
  twice.gpu.push_back(runs(2, 3, 5));
  EXPECT_THAT(broken(taskset, Policy::federated, twice), ElementsAre(ScheduleRule::overlap));
  // Of other policies intervals of the GPU do not overlap at all.
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Each(ScheduleRule::overlap));
}

TEST(FederatedCheck, ExecTakesItsTimeOnTheSmsOfTheTask) {
  Taskset taskset = three_partitions();
  const Schedule schedule = recorded(taskset, Policy::federated, {}, ms(50));
  std::get<GpuSegment>(taskset.tasks[1].segments[0]).exec_by_sms = {{1, {ms(5), ms(5)}}, {2, {ms(3), ms(3)}}};
  EXPECT_THAT(broken(taskset, Policy::federated, schedule), ElementsAre(ScheduleRule::execution_time));
  taskset.platform.gpus[0].sms = 4;
  taskset.tasks[1].sms = 2;
  EXPECT_THAT(broken(taskset, Policy::federated, schedule), ::testing::IsEmpty());
  taskset.platform.gpus[0].sms.reset();
  EXPECT_THAT(broken(taskset, Policy::federated, schedule), ElementsAre(ScheduleRule::covered));
}

TEST(FederatedPictures, HaveALaneForTheSmsOfEachTask) {
  const Taskset taskset = three_partitions();
  const Schedule schedule = recorded(taskset, Policy::federated, {}, ms(50));
  GanttOptions options;
  options.title = "federated";
  const std::string chart = gantt_chart(schedule, taskset, options);
  std::ostringstream trace;
  write_chrome_trace(trace, schedule, taskset, "federated");
  for (const std::string& picture : {chart, trace.str()}) {
    for (const char* name : {"SMs of a", "SMs of b", "SMs of c"}) EXPECT_THAT(picture, HasSubstr(name));
    EXPECT_THAT(picture, Not(HasSubstr("gpu0")));
  }
}

// SMs that were found are written into a counterexample, so that what is left of it keeps them.
TEST(FederatedShrink, WritesDownTheSmsThatWereFound) {
  Taskset taskset =
      make_taskset({task("high", ms(10), {cpu(ms(4))}), task("low", ms(100), {cpu(ms(1)), gpu(ms(0), ms(8))})});
  taskset.tasks[0].deadline = ms(5);
  taskset.platform.gpus[0].sms = 2;
  std::get<GpuSegment>(taskset.tasks[1].segments[1]).exec_by_sms = {{1, {ms(8), ms(8)}}};
  std::get<GpuSegment>(taskset.tasks[1].segments[1]).exec.reset();
  const auto claims = [](const Taskset& changed) {
    const auto result = analyze(changed, {.policy = Policy::federated, .variant = Variant::published});
    return result ? claims_of(*result) : std::vector<Claim>{};
  };
  const Scenario scenario = synchronous_scenario(2);
  // exec ends when high is released again, which is done at 14: low waits for it though all it has left is to go on.
  Counterexample found{"", Policy::federated, Variant::published, 1, 0, ms(13), ms(14), ms(50), scenario, taskset};
  ASSERT_EQ(*replay(found), ms(14));
  found = shrink(std::move(found), claims, 1);
  EXPECT_GT(found.observed, found.bound);
  EXPECT_EQ(found.taskset.tasks[1].sms, 1);
}

}  // namespace
}  // namespace rtgpu
