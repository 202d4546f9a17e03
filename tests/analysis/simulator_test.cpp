// The simulator: schedules worked out by hand, and legal schedules that exceed published bounds.
#include "analysis/simulation/simulator.h"

#include "analysis/analysis.h"
#include "tests/support/build.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::gpu;
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using testing::task;

Simulator simulator_of(const Taskset& taskset, Policy policy, WaitChoice wait = WaitChoice::file) {
  Result<Simulator> made = Simulator::of(taskset, policy, wait);
  if (!made) throw std::runtime_error(to_string(made.errors().front()));
  return std::move(*made);
}

// The longest response of each task when all are released at their offsets, periodically, with worst-case times.
std::vector<Duration> responses(const Taskset& taskset, Policy policy, std::vector<Duration> offsets = {},
                                WaitChoice wait = WaitChoice::file) {
  Scenario scenario = synchronous_scenario(taskset.tasks.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) scenario.tasks[i].offset = offsets[i];
  Simulator simulator = simulator_of(taskset, policy, wait);
  std::vector<Duration> longest;
  for (const TaskObservation& seen : simulator.run(scenario, Duration::seconds(1)).tasks) {
    longest.push_back(seen.max_response);
  }
  return longest;
}

TEST(Simulator, PlainFixedPriorities) {
  const Taskset taskset = make_taskset({task("a", ms(4), {cpu(ms(1))}), task("b", ms(5), {cpu(ms(1))}),
                                        task("c", ms(9), {cpu(ms(3))}), task("d", ms(18), {cpu(ms(3))})});
  EXPECT_EQ(responses(taskset, Policy::gcaps), (std::vector{ms(1), ms(2), ms(7), ms(18)}));
}

TEST(Simulator, WhatLastsNoTimePartsNoInterval) {
  const Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(1)), gpu(ms(0), ms(0)), cpu(ms(1))})});
  Simulator simulator = simulator_of(taskset, Policy::gcaps_wc);
  Schedule schedule;
  simulator.run(synchronous_scenario(1), ms(50), &schedule);
  ASSERT_EQ(schedule.cores.size(), 1U);  // the task is suspended for no time at 1 ms
  EXPECT_EQ(schedule.cores[0], (CoreInterval{0, 0, ms(0), ms(2)}));
  EXPECT_TRUE(schedule.gpu.empty());
}

TEST(Simulator, WaitModesDecideWhoHasTheCore) {
  const Taskset taskset =
      make_taskset({task("a", ms(100), {cpu(ms(1)), gpu(ms(1), ms(8)), cpu(ms(1))}), task("b", ms(100), {cpu(ms(5))})});
  EXPECT_EQ(responses(taskset, Policy::gcaps_wc, {}, WaitChoice::suspend), (std::vector{ms(11), ms(7)}));
  EXPECT_EQ(responses(taskset, Policy::gcaps_wc, {}, WaitChoice::busy), (std::vector{ms(11), ms(16)}));
}

TEST(Simulator, ATaskBelowASuspendingOneIsSeenWithinItsBound) {
  // (C 1, T 2), (suspends 5, C 5, T 20), (C 1): the bound of the third is 22. All its phases against the second, with
  // worst-case times; a schedule that reaches 22 needs shortened suspensions.
  Taskset taskset =
      make_taskset({task("a", ms(2), {cpu(ms(1))}), task("b", ms(20), {cpu(ms(5))}), task("c", ms(200), {cpu(ms(1))})});
  taskset.tasks[1].segments = {gpu(ms(0), ms(5)), cpu(ms(5))};
  Simulator simulator = simulator_of(taskset, Policy::gcaps_wc);
  Scenario scenario = synchronous_scenario(3);
  Duration longest;
  for (int offset = 0; offset < 20; ++offset) {
    scenario.tasks[2].offset = ms(offset);
    longest = std::max(longest, simulator.run(scenario, Duration::seconds(1)).tasks[2].max_response);
  }
  EXPECT_GT(longest, ms(10));
  EXPECT_LE(longest, ms(22));
}

TEST(Simulator, HeldMiscIsSeenAt20UnderGcapsAndAt15WorkConserving) {
  const Taskset taskset = load_case("gcaps-held-misc.json");
  EXPECT_EQ(responses(taskset, Policy::gcaps, {ms(0), ms(1)})[1], ms(20));  // published bound: 15 ms
  EXPECT_EQ(responses(taskset, Policy::gcaps_wc, {ms(0), ms(6)})[1], ms(15));
}

TEST(Simulator, RoundRobinPaysForItsOwnSwitches) {
  // Published bound: 22 ms.
  EXPECT_GT(responses(load_case("tsg-rr-switch.json"), Policy::tsg_rr)[1], ms(23));
}

TEST(Simulator, UpdatesFromBelowDelayTheHighestTask) {
  // One GPU segment: the published bound has (1 + 1) epsilon for waiting. But the release, the enter, the way back to
  // the core and the leave may each meet an update of a task below.
  Taskset taskset =
      make_taskset({task("a", ms(20), {cpu(ms(1)), gpu(ms(0), ms(2))}, 0), task("b", ms(13), {gpu(ms(0), ms(1))}, 0),
                    task("c", ms(11), {gpu(ms(0), ms(1))}, 1), task("d", ms(12), {gpu(ms(0), ms(1))}, 2)});
  taskset.platform.gpus[0].overheads.runlist_update = ms(1);
  const Result<AnalysisResult> published = analyze(taskset, {.variant = Variant::published});
  ASSERT_TRUE(published);
  EXPECT_EQ(published->tasks[0].bound, ms(7));
  Simulator simulator = simulator_of(taskset, Policy::gcaps);
  Duration longest;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Scenario scenario = synchronous_scenario(taskset.tasks.size());
    scenario.seed = seed;
    for (TaskScenario& each : scenario.tasks) {
      each.gap_chance = 500;
      each.longest_gap = ms(5);
    }
    longest = std::max(longest, simulator.run(scenario, Duration::seconds(2)).tasks[0].max_response);
  }
  EXPECT_GT(longest, ms(7));
}

TEST(Simulator, ALockIsTakenInTurn) {
  const Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(2)), gpu(ms(1), ms(3))}, 0),
                                        task("b", ms(100), {cpu(ms(1)), gpu(ms(1), ms(3))}, 1),
                                        task("c", ms(100), {gpu(ms(1), ms(4))}, 2)});
  // c has the lock from 0 to 5; then, by priority, a; by time of request, b.
  EXPECT_EQ(responses(taskset, Policy::mpcp), (std::vector{ms(9), ms(13), ms(5)}));
  EXPECT_EQ(responses(taskset, Policy::fmlp_plus), (std::vector{ms(13), ms(9), ms(5)}));
}

TEST(Simulator, SpinningForTheLockHoldsTheCore) {
  // One lock; h waits busily for its own work.
  Taskset taskset = make_taskset({task("h", ms(20), {cpu(ms(2)), gpu(ms(0), ms(2))}), task("l", ms(21), {cpu(ms(6))}),
                                  task("r", ms(200), {cpu(ms(1)), gpu(ms(0), ms(11))}, 1)});
  taskset.tasks[0].wait = WaitMode::busy;
  const std::vector<Duration> offsets = {ms(0), ms(0), ms(0)};
  EXPECT_EQ(responses(taskset, Policy::mpcp, offsets)[1], ms(10));
  taskset.tasks[0].lock_wait = LockWait::spin;
  EXPECT_GT(responses(taskset, Policy::mpcp, offsets)[1], ms(14));
}

TEST(Simulator, SlicesLetAHigherTaskIn) {
  Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(0), ms(2))}, 0), task("b", ms(100), {gpu(ms(0), ms(12))}, 1)});
  EXPECT_EQ(responses(taskset, Policy::mpcp, {ms(1), ms(0)})[0], ms(13));
  std::get<GpuSegment>(taskset.tasks[1].segments[0]).slices = 4;
  taskset.platform.gpus[0].overheads.launch = ms(1);
  // The slice that runs ends at 4: three of work and a launch.
  EXPECT_EQ(responses(taskset, Policy::mpcp, {ms(1), ms(0)}), (std::vector{ms(5), ms(17)}));
}

TEST(Simulator, StreamsLetAHigherLevelInAtABlock) {
  Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(0), ms(2))}, 0), task("b", ms(100), {gpu(ms(0), ms(12))}, 1)});
  taskset.platform.gpus[0].stream_priorities = 2;
  EXPECT_EQ(responses(taskset, Policy::stream_priority, {ms(1), ms(0)}), (std::vector{ms(13), ms(12)}));
  std::get<GpuSegment>(taskset.tasks[1].segments[0]).block = ms(3);
  EXPECT_EQ(responses(taskset, Policy::stream_priority, {ms(1), ms(0)}), (std::vector{ms(4), ms(14)}));
}

TEST(Simulator, CopiesOccupyTheirEngine) {
  const auto copying = [](CopyDirection direction) { return Segment(CopySegment{{ms(4), ms(4)}, direction}); };
  Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(1)), copying(CopyDirection::to_device)}, 0),
                                  task("b", ms(100), {copying(CopyDirection::to_host)}, 1)});
  EXPECT_EQ(responses(taskset, Policy::gcaps), (std::vector{ms(8), ms(4)}));
  taskset.platform.gpus[0].copy_engines = 2;
  EXPECT_EQ(responses(taskset, Policy::gcaps), (std::vector{ms(5), ms(4)}));
}

TEST(Simulator, LateJobsPileUpAndAreCounted) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(6))}), task("b", ms(10), {cpu(ms(6))})});
  Simulator simulator = simulator_of(taskset, Policy::gcaps);
  const Observation& seen = simulator.run(synchronous_scenario(2), ms(95));
  EXPECT_EQ(seen.tasks[0].jobs, 10);
  EXPECT_EQ(seen.tasks[0].misses, 0);
  EXPECT_EQ(seen.tasks[1].jobs, 10);
  EXPECT_EQ(seen.tasks[1].misses, 10);
  EXPECT_EQ(seen.tasks[1].max_response, ms(42));  // the seventh: released at 60, complete at 102
}

TEST(Simulator, TheSameScenarioGivesTheSameSchedule) {
  const Taskset taskset = load_case("gcaps-case-study.json");
  Scenario scenario = synchronous_scenario(taskset.tasks.size());
  scenario.seed = 42;
  for (TaskScenario& each : scenario.tasks) {
    each.gap_chance = 300;
    each.longest_gap = ms(20);
    each.shorten_chance = 300;
  }
  scenario.below_best_case = true;
  Simulator first = simulator_of(taskset, Policy::gcaps_wc);
  Simulator second = simulator_of(taskset, Policy::gcaps_wc);
  first.run(synchronous_scenario(taskset.tasks.size()), Duration::seconds(1));  // leaves nothing behind
  const Observation a = first.run(scenario, Duration::seconds(3));
  const Observation b = second.run(scenario, Duration::seconds(3));
  EXPECT_EQ(a.events, b.events);
  for (std::size_t i = 0; i < a.tasks.size(); ++i) {
    EXPECT_EQ(a.tasks[i].jobs, b.tasks[i].jobs);
    EXPECT_EQ(a.tasks[i].max_response, b.tasks[i].max_response);
    EXPECT_EQ(a.tasks[i].total_response, b.tasks[i].total_response);
  }
}

TEST(Simulator, RecordsWhatItDoes) {
  const Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(1)), gpu(ms(2), ms(3)), cpu(ms(1))})});
  Simulator simulator = simulator_of(taskset, Policy::gcaps_wc);
  Schedule schedule;
  simulator.run(synchronous_scenario(1), ms(50), &schedule);
  ASSERT_EQ(schedule.tasks.size(), 4U);
  EXPECT_EQ(schedule.tasks[0].state, JobState::cpu);
  EXPECT_EQ(schedule.tasks[1].state, JobState::misc);
  EXPECT_EQ(schedule.tasks[2].state, JobState::gpu);
  EXPECT_EQ(schedule.tasks[2].begin, ms(3));
  EXPECT_EQ(schedule.tasks[2].end, ms(6));
  ASSERT_EQ(schedule.cores.size(), 2U);
  EXPECT_EQ(schedule.cores[0].end, ms(3));
  EXPECT_EQ(schedule.cores[1].begin, ms(6));
  ASSERT_EQ(schedule.gpu.size(), 1U);
  EXPECT_EQ(schedule.gpu[0].begin, ms(3));
  ASSERT_EQ(schedule.jobs.size(), 1U);
  EXPECT_EQ(schedule.jobs[0].completion, ms(7));
}

TEST(Simulator, RecordsInTheOrderOfTime) {
  const Taskset taskset = make_taskset(
      {task("a", ms(10), {cpu(ms(1))}, 0), task("b", ms(100), {cpu(ms(8))}, 0), task("c", ms(100), {cpu(ms(30))}, 1)});
  Simulator simulator = simulator_of(taskset, Policy::gcaps_wc);
  Schedule schedule;
  simulator.run(synchronous_scenario(3), ms(50), &schedule);
  EXPECT_TRUE(std::ranges::is_sorted(schedule.tasks, {}, &TaskInterval::begin));
  EXPECT_TRUE(std::ranges::is_sorted(schedule.cores, {}, &CoreInterval::begin));
  EXPECT_EQ(schedule.tasks[2].task, 2U);  // c begins first of all, and ends last
}

TEST(Simulator, ALongRunIsWatched) {
  const Taskset taskset = make_taskset({task("a", ms(1), {cpu(Duration::microseconds(1))})});
  Simulator simulator = simulator_of(taskset, Policy::gcaps);
  std::vector<Duration> seen;
  simulator.watch([&](Duration now) { seen.push_back(now); });
  simulator.run(synchronous_scenario(1), Duration::seconds(1));
  EXPECT_TRUE(seen.empty());
  simulator.run(synchronous_scenario(1), Duration::seconds(100));
  ASSERT_EQ(seen.size(), 3U);  // of 200'002 steps
  EXPECT_LT(seen[0], seen[1]);
  EXPECT_LE(seen[2], Duration::seconds(100));
}

TEST(Simulator, RefusesWhatItDoesNotCover) {
  Taskset taskset = make_taskset({task("a", ms(100), {gpu(ms(0), ms(1))})});
  EXPECT_FALSE(Simulator::of(taskset, Policy::tsg_rr, WaitChoice::file));
  EXPECT_FALSE(Simulator::of(taskset, Policy::stream_priority, WaitChoice::file));
  EXPECT_FALSE(Simulator::of(taskset, Policy::federated, WaitChoice::file));
  taskset.platform.gpus.push_back(Gpu{});
  EXPECT_FALSE(Simulator::of(taskset, Policy::gcaps, WaitChoice::file));
}

}  // namespace
}  // namespace rtgpu
