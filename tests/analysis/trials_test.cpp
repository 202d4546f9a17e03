// Trials: which scenario belongs to which, and what is kept of all of them.
#include "analysis/simulation/trials.h"

#include "tests/support/build.h"

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using testing::task;

TEST(Trials, TheFirstPeriodicWorstCaseTrialIsTheSynchronousRelease) {
  Taskset taskset = load_case("gcaps-case-study.json");
  taskset.tasks[0].jitter = ms(5);
  const Scenario first = scenario_of_trial(taskset, {}, 0);
  EXPECT_EQ(first.tasks, synchronous_scenario(taskset.tasks.size()).tasks);
}

TEST(Trials, FurtherTrialsDrawOffsetsBelowThePeriodAndJitterWhereThereIsAny) {
  Taskset taskset = load_case("gcaps-case-study.json");
  taskset.tasks[1].jitter = ms(5);
  bool any_late = false;
  for (std::uint64_t trial = 1; trial < 200; ++trial) {
    const Scenario scenario = scenario_of_trial(taskset, {.seed = 7}, trial);
    for (std::size_t index = 0; index < taskset.tasks.size(); ++index) {
      const TaskScenario& chosen = scenario.tasks[index];
      ASSERT_GE(chosen.offset, Duration());
      ASSERT_LT(chosen.offset, taskset.tasks[index].period);
      ASSERT_EQ(chosen.jitter_chance > 0, index == 1);
      ASSERT_EQ(chosen.gap_chance, 0);
      ASSERT_EQ(chosen.shorten_chance, 0);
      any_late = any_late || chosen.offset * 10 > taskset.tasks[index].period * 9;
    }
  }
  EXPECT_TRUE(any_late);
}

TEST(Trials, SporadicAndRandomAreAskedFor) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(2))})});
  const Scenario sporadic = scenario_of_trial(taskset, {.releases = Releases::sporadic}, 0);
  EXPECT_EQ(sporadic.tasks[0].offset, Duration());
  EXPECT_GT(sporadic.tasks[0].gap_chance, 0);
  EXPECT_GT(sporadic.tasks[0].longest_gap, Duration());
  EXPECT_LE(sporadic.tasks[0].longest_gap, ms(10));
  EXPECT_EQ(sporadic.tasks[0].shorten_chance, 0);
  const Scenario random = scenario_of_trial(taskset, {.execution = Execution::random}, 0);
  EXPECT_GT(random.tasks[0].shorten_chance, 0);
  EXPECT_EQ(random.tasks[0].gap_chance, 0);
  EXPECT_TRUE(random.below_best_case);  // the taskset gives no best case
}

TEST(Trials, RandomExecutionKeepsTheBestCasesThatAreGiven) {
  Taskset taskset = make_taskset({task("a", ms(10), {CpuSegment{{ms(1), ms(4)}}})});
  const TrialChoices choices{.execution = Execution::random};
  EXPECT_FALSE(scenario_of_trial(taskset, choices, 0).below_best_case);
  Result<Simulator> simulator = Simulator::of(taskset, Policy::gcaps, WaitChoice::file);
  ASSERT_TRUE(simulator);
  const Observation& seen = simulator->run(scenario_of_trial(taskset, choices, 1), Duration::seconds(5));
  EXPECT_EQ(seen.tasks[0].max_response, ms(4));
  EXPECT_GE(seen.tasks[0].total_response, ms(1) * seen.tasks[0].jobs);
  EXPECT_LT(seen.tasks[0].total_response, ms(4) * seen.tasks[0].jobs);
}

TEST(Trials, ATrialDependsOnSeedAndNumberAlone) {
  const Taskset taskset = load_case("gcaps-case-study.json");
  const TrialChoices choices{.releases = Releases::sporadic, .execution = Execution::random, .seed = 3};
  EXPECT_EQ(scenario_of_trial(taskset, choices, 9), scenario_of_trial(taskset, choices, 9));
  EXPECT_NE(scenario_of_trial(taskset, choices, 9), scenario_of_trial(taskset, choices, 8));
  TrialChoices other = choices;
  other.seed = 4;
  EXPECT_NE(scenario_of_trial(taskset, choices, 9), scenario_of_trial(taskset, other, 9));
}

Observation observation(std::vector<TaskObservation> tasks) {
  return {std::move(tasks), 100};
}

TaskObservation seen(std::int64_t jobs, Duration longest, std::int64_t misses = 0) {
  TaskObservation made;
  made.jobs = jobs;
  made.misses = misses;
  made.max_response = longest;
  made.total_response = longest * jobs;
  made.longest_job = jobs - 1;
  return made;
}

TEST(TrialSummary, AddsUpAndKeepsTheFirstLongest) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(1))}), task("b", ms(100), {cpu(ms(1))})});
  TrialSummary summary(taskset);
  summary.add(4, observation({seen(3, ms(5)), seen(2, ms(40))}));
  summary.add(5, observation({seen(4, ms(5), 1), seen(1, ms(60))}));
  EXPECT_EQ(summary.tasks()[0].jobs, 7);
  EXPECT_EQ(summary.tasks()[0].misses, 1);
  EXPECT_EQ(summary.tasks()[0].trial, 4U);
  EXPECT_EQ(summary.tasks()[0].job, 2);
  EXPECT_EQ(summary.tasks()[0].total_response, ms(35));
  EXPECT_EQ(summary.tasks()[1].max_response, ms(60));
  EXPECT_EQ(summary.tasks()[1].trial, 5U);
  EXPECT_EQ(summary.misses(), 1);
  // 60 of 100 is more than 5 of 10.
  EXPECT_EQ(summary.worst()->task, 1U);
  EXPECT_EQ(summary.worst()->trial, 5U);
}

TEST(TrialSummary, BestEffortTasksAreTheWorstOnlyAmongThemselves) {
  Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(1))}), task("b", ms(10), {cpu(ms(1))})});
  taskset.tasks[1].best_effort = true;
  TrialSummary summary(taskset);
  EXPECT_FALSE(summary.worst());
  summary.add(0, observation({seen(0, Duration()), seen(2, ms(9))}));
  EXPECT_EQ(summary.worst()->task, 1U);
  EXPECT_FALSE(summary.tasks()[0].any_job());
  summary.add(1, observation({seen(1, ms(1)), seen(2, ms(90))}));
  EXPECT_EQ(summary.worst()->task, 0U);
  EXPECT_EQ(summary.tasks()[0].trial, 1U);
}

TEST(TrialSummary, JobsThatTheEndCutsOffAreCounted) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(6))}), task("b", ms(10), {cpu(ms(8))})});
  Result<Simulator> simulator = Simulator::of(taskset, Policy::gcaps, WaitChoice::file);
  ASSERT_TRUE(simulator);
  TrialSummary summary(taskset);
  summary.add(0, simulator->run(scenario_of_trial(taskset, {}, 0), ms(40)));
  // Five jobs each. 30 ms of the first leave 50 of the 80 ms for the second: six jobs' worth, so all complete by 70.
  EXPECT_EQ(summary.tasks()[1].jobs, 5);
  EXPECT_EQ(summary.tasks()[1].incomplete, 0);
  const Taskset more = make_taskset({task("a", ms(10), {cpu(ms(9))}), task("b", ms(10), {cpu(ms(9))})});
  Result<Simulator> overloaded = Simulator::of(more, Policy::gcaps, WaitChoice::file);
  ASSERT_TRUE(overloaded);
  TrialSummary cut(more);
  cut.add(0, overloaded->run(scenario_of_trial(more, {}, 0), ms(40)));
  // The first takes 45 of the 80 ms; the second completes three jobs of 9 in the other 35.
  EXPECT_EQ(cut.tasks()[1].jobs, 3);
  EXPECT_EQ(cut.tasks()[1].incomplete, 2);
  EXPECT_EQ(cut.tasks()[1].misses, 5);
  EXPECT_FALSE(cut.tasks()[0].longest_incomplete);
}

}  // namespace
}  // namespace rtgpu
