// Safe bounds that were worked out by hand, and legal schedules that show why they cannot be lower.
#include "analysis/simulation/simulator.h"
#include "tests/analysis/safe_analyses.h"
#include "tests/support/build.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::gpu;
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using testing::ns;
using testing::safe_bounds;
using testing::SafeAnalysis;
using testing::task;

using Bounds = std::vector<std::optional<Duration>>;

// With what the policies need of the platform.
Taskset covered(Taskset taskset) {
  Gpu& gpu = taskset.platform.gpus[0];
  if (gpu.overheads.time_slice == Duration()) gpu.overheads.time_slice = ms(1);
  gpu.stream_priorities = 6;
  return taskset;
}

Bounds bounds_of(const Taskset& taskset, Policy policy, WaitChoice wait = WaitChoice::file) {
  Bounds bounds;
  for (const TaskResult& result : safe_bounds(taskset, policy, wait)) {
    EXPECT_EQ(result.bound.has_value(), result.schedulable());
    bounds.push_back(result.bound);
  }
  return bounds;
}

std::vector<Duration> seen(const Taskset& taskset, Policy policy, const Scenario& scenario,
                           Duration horizon = Duration::seconds(1), WaitChoice wait = WaitChoice::file) {
  Result<Simulator> simulator = Simulator::of(testing::runnable(taskset, policy), policy, wait);
  if (!simulator) throw std::runtime_error(to_string(simulator.errors().front()));
  std::vector<Duration> longest;
  for (const TaskObservation& task : simulator->run(scenario, horizon).tasks) longest.push_back(task.max_response);
  return longest;
}

// Released at their offsets, then periodically, with worst-case times.
Scenario periodic(const std::vector<Duration>& offsets) {
  Scenario scenario = synchronous_scenario(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) scenario.tasks[i].offset = offsets[i];
  return scenario;
}

// For all policies.
class SafeVector : public ::testing::TestWithParam<SafeAnalysis> {
 protected:
  static Policy policy() { return GetParam().policy; }
  static bool is_one_of(std::initializer_list<Policy> policies) {
    return std::ranges::find(policies, policy()) != policies.end();
  }
};

INSTANTIATE_TEST_SUITE_P(Policies, SafeVector, ::testing::ValuesIn(testing::safe_analyses()),
                         [](const auto& analysis) { return testing::test_name(analysis.param.policy); });

TEST_P(SafeVector, PlainFixedPriorities) {
  const Taskset taskset = covered(make_taskset({task("a", ms(4), {cpu(ms(1))}), task("b", ms(5), {cpu(ms(1))}),
                                                task("c", ms(9), {cpu(ms(3))}), task("d", ms(18), {cpu(ms(3))})}));
  EXPECT_EQ(bounds_of(taskset, policy()), (Bounds{ms(1), ms(2), ms(7), ms(18)}));
  EXPECT_EQ(seen(taskset, policy(), synchronous_scenario(4)), (std::vector{ms(1), ms(2), ms(7), ms(18)}));
}

TEST_P(SafeVector, HarmonicPeriodsAtFullUtilisation) {
  const Taskset taskset = covered(make_taskset({task("a", ms(10), {cpu(ms(5))}), task("b", ms(10), {cpu(ms(5))})}));
  EXPECT_EQ(bounds_of(taskset, policy()), (Bounds{ms(5), ms(10)}));
}

TEST_P(SafeVector, LargeTimesAreExact) {
  constexpr std::int64_t kLarge = 1'000'000'000'000'000'000;
  const Taskset taskset =
      covered(make_taskset({task("a", ns(2), {cpu(ns(1))}), task("b", ns(4 * kLarge), {cpu(ns(kLarge + 1))})}));
  EXPECT_EQ(bounds_of(taskset, policy())[1], ns(2 * kLarge + 2));
}

TEST_P(SafeVector, RequestsOfTwoSecondsDoNotWrap) {
  const Duration request = ns(2'000'000'000);
  const Taskset taskset = covered(make_taskset(
      {task("a", request * 10, {gpu(ms(0), request)}, 0), task("b", request * 10, {gpu(ms(0), request)}, 1)}));
  const bool preempts = is_one_of({Policy::gcaps, Policy::gcaps_wc});
  const bool apart = policy() == Policy::federated;
  EXPECT_EQ(bounds_of(taskset, policy()),
            (Bounds{preempts || apart ? request : request * 2, apart ? request : request * 2}));
}

TEST_P(SafeVector, BeyondTheRangeOfTimeIsNoBound) {
  const Duration large = ns(5'000'000'000'000'000'000);
  const Taskset taskset = covered(make_taskset(
      {task("a", large, {cpu(large), gpu(ms(0), large)}), task("b", large, {cpu(large), gpu(ms(0), large)})}));
  EXPECT_EQ(bounds_of(taskset, policy()), (Bounds{std::nullopt, std::nullopt}));
}

// A self-suspension is jitter of what comes after it. (C 1, T 2); (C 5, suspends 5, T 20), the suspension in five
// pieces, each in step with the first task; (C 1). With 5 of jitter the third would be said to take 12.
TEST_P(SafeVector, ASuspensionDelaysByMoreThanItsLength) {
  // Suspensions end just after a release of a.
  Segment piece = gpu(ms(0), ms(1) + ns(1));
  std::get<GpuSegment>(piece).exec->min = Duration();
  const Taskset taskset = covered(make_taskset(
      {task("a", ms(2), {cpu(ms(1))}), task("b", ms(20), {piece, piece, piece, piece, piece, cpu(ms(5) - ns(10))}),
       task("c", ms(200), {cpu(ms(1))})}));
  EXPECT_EQ(bounds_of(taskset, policy()), (Bounds{ms(1), ms(20) - ns(5), ms(22) - ns(20)}));
  // b suspends for as long as it can in its first job, and not at all in its second.
  Scenario scenario = periodic({ms(0), ms(0), ms(10)});
  scenario.seed = 4119;
  scenario.tasks[1].shorten_chance = 500;
  EXPECT_EQ(seen(taskset, policy(), scenario, ms(33))[2], ms(22) - ns(20));
}

TEST_P(SafeVector, ReleaseJitterCountsAgainstTheDeadline) {
  Taskset taskset = covered(make_taskset({task("a", ms(10), {cpu(ms(5))})}));
  taskset.tasks[0].jitter = ms(5);
  EXPECT_EQ(bounds_of(taskset, policy()), Bounds{ms(10)});
  taskset.tasks[0].jitter = ms(8);
  EXPECT_EQ(bounds_of(taskset, policy()), Bounds{std::nullopt});
}

TEST_P(SafeVector, AnOverloadedCoreIsRefused) {
  const Taskset taskset = covered(make_taskset({task("a", ms(10), {cpu(ms(9))}), task("b", ms(100), {cpu(ms(40))}),
                                                task("c", ms(200), {cpu(ms(80)), gpu(ms(1), ms(2))})}));
  for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
    const Bounds bounds = bounds_of(taskset, policy(), wait);
    EXPECT_EQ(bounds[1], std::nullopt);
    EXPECT_EQ(bounds[2], std::nullopt);
  }
}

TEST_P(SafeVector, SuspensionsAreNotBlocking) {
  const Taskset taskset = covered(make_taskset(
      {task("a", ms(4), {cpu(ms(1)), gpu(ms(0), ms(3))}), task("b", ms(7), {cpu(ms(1)), gpu(ms(0), ms(3))})}));
  // With SMs of its own b meets a on the core alone: once in each of its two parts there.
  const bool apart = policy() == Policy::federated;
  EXPECT_EQ(bounds_of(taskset, policy())[1], apart ? std::optional(ms(6)) : std::nullopt);
}

TEST_P(SafeVector, ABusyWaitHoldsTheCoreFromATaskWithoutGpuWork) {
  const Taskset taskset =
      covered(make_taskset({task("h", ms(100), {cpu(ms(1)), gpu(ms(0), ms(8))}), task("l", ms(100), {cpu(ms(5))})}));
  EXPECT_EQ(bounds_of(taskset, policy(), WaitChoice::busy), (Bounds{ms(9), ms(14)}));
  EXPECT_EQ(seen(taskset, policy(), synchronous_scenario(2), ms(100), WaitChoice::busy)[1], ms(14));
  EXPECT_EQ(bounds_of(taskset, policy(), WaitChoice::suspend), (Bounds{ms(9), ms(6)}));
}

// While l is preempted its GPU work goes on: its core has more than enough time, 0.5 + 0.6 though it be.
TEST_P(SafeVector, ABusyWaitAndAPreemptionMayOverlap) {
  const Taskset taskset =
      covered(make_taskset({task("h", ms(10), {cpu(ms(5))}), task("l", ms(50), {gpu(ms(0), ms(30))})}));
  EXPECT_EQ(bounds_of(taskset, policy(), WaitChoice::busy), (Bounds{ms(5), ms(40)}));
}

// The last GPU work of l takes no time, but at that instant h is released again.
TEST_P(SafeVector, WorkThatTakesNoTimeMayBeDelayed) {
  const Taskset taskset = covered(
      make_taskset({task("h", ms(5), {cpu(ms(2))}), task("l", ms(100), {gpu(ms(1), ms(1)), gpu(ms(1), ms(0))})}));
  const bool boosted = is_one_of({Policy::mpcp, Policy::fmlp_plus});
  const bool misc_goes_first = boosted || is_one_of({Policy::server});
  EXPECT_EQ(bounds_of(taskset, policy()), (Bounds{misc_goes_first ? ms(3) : ms(2), ms(7)}));
  EXPECT_EQ(seen(taskset, policy(), synchronous_scenario(2), ms(30))[1], boosted ? ms(5) : ms(7));
}

// It waits for its turn, too: for one of k.
TEST(SafeTsgRr, WorkThatTakesNoTimeWaitsForItsTurn) {
  Taskset taskset =
      covered(make_taskset({task("l", ms(100), {gpu(ms(0), ms(0))}, 0), task("k", ms(100), {gpu(ms(0), ms(5))}, 1)}));
  taskset.platform.gpus[0].overheads.context_switch = Duration::microseconds(250);
  EXPECT_EQ(bounds_of(taskset, Policy::tsg_rr)[0], Duration::microseconds(1'500));
  EXPECT_GE(seen(taskset, Policy::tsg_rr, periodic({ns(1), ms(0)}), ms(50))[0], ms(1) - ns(1));
}

// Jobs of h come 11.5 ms apart when u delays the first. With ceil(t / T) jobs of h in a window of t, i would take 13.
TEST_P(SafeVector, RemoteRequestsCarryIn) {
  // A request of i meets one of h at most, or some turns, or is not interrupted between slices; nothing is remote.
  if (is_one_of({Policy::tsg_rr, Policy::fmlp_plus, Policy::server, Policy::federated})) return;
  const Duration late = Duration::microseconds(8'500);
  Taskset taskset = covered(make_taskset({task("u", ms(100), {cpu(late)}, 1), task("h", ms(20), {gpu(ms(0), ms(4))}, 1),
                                          task("i", ms(100), {gpu(ms(0), ms(9))}, 0)}));
  auto& work = std::get<GpuSegment>(taskset.tasks[2].segments[0]);
  work.slices = 9;
  work.block = ms(1);
  // Under gcaps, u may hold up h while h keeps the GPU.
  EXPECT_EQ(bounds_of(taskset, policy())[2], policy() == Policy::gcaps ? ms(17) + late : ms(17));
  EXPECT_EQ(seen(taskset, policy(), periodic({ms(0), ms(0), late + ns(1)}), ms(90))[2], ms(17) - ns(1));
}

// Each of the two segments of h finds one of l; l may be best-effort.
TEST_P(SafeVector, EveryArrivalMeetsALowerRequest) {
  if (is_one_of({Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::federated})) return;
  Taskset taskset = covered(make_taskset({task("h", ms(100), {gpu(ms(0), ms(1)), cpu(ms(1)), gpu(ms(0), ms(1))}, 0),
                                          task("l", ms(6), {gpu(ms(0), ms(5))}, 1)}));
  for (const bool best_effort : {false, true}) {
    taskset.tasks[1].best_effort = best_effort;
    EXPECT_EQ(bounds_of(taskset, policy())[0], ms(13));
    // l has the GPU from 0 to 5, h until 6; h is on its core until 7, when l has it again, from 6 to 11.
    EXPECT_EQ(seen(taskset, policy(), periodic({ns(1), ms(0)}), ms(90))[0], ms(12) - ns(1));
  }
}

// The same with calls: each of the four of h may find the mutex taken.
TEST_P(SafeVector, EveryCallMeetsAnUpdateFromBelow) {
  if (!is_one_of({Policy::gcaps, Policy::gcaps_wc})) return;
  Taskset taskset = covered(make_taskset({task("h", ms(100), {gpu(ms(0), ms(5)), cpu(ms(5)), gpu(ms(0), ms(5))}, 0),
                                          task("l", ms(100), {gpu(ms(0), ms(1))}, 1)}));
  taskset.platform.gpus[0].overheads.runlist_update = ms(1);
  const std::vector<TaskResult> results = safe_bounds(taskset, policy());
  EXPECT_EQ(results[0].bound, ms(15 + 4 + 4));
  EXPECT_EQ(results[0].terms[static_cast<std::size_t>(Term::cpu_blocking)], ms(4));
  EXPECT_EQ(results[0].terms[static_cast<std::size_t>(Term::overhead)], ms(4));
}

// A slice boundary of the task itself is no arrival: nothing from below gets in.
TEST_P(SafeVector, SlicesOfItsOwnMeetNoFurtherLowerRequest) {
  if (!is_one_of({Policy::mpcp, Policy::fmlp_plus})) return;
  Taskset taskset =
      covered(make_taskset({task("h", ms(100), {gpu(ms(0), ms(2))}, 0), task("l", ms(60), {gpu(ms(0), ms(5))}, 1)}));
  std::get<GpuSegment>(taskset.tasks[0].segments[0]).slices = 2;
  EXPECT_EQ(bounds_of(taskset, policy())[0], ms(7));
  EXPECT_EQ(seen(taskset, policy(), periodic({ns(1), ms(0)}), ms(50))[0], ms(7) - ns(1));
}

// Each slice boundary of a task below is one where h may come in.
TEST(SafeMpcp, SlicesOfALowerTaskLetAHigherOneIn) {
  Taskset taskset =
      covered(make_taskset({task("h", ms(100), {gpu(ms(0), ms(2))}, 0), task("l", ms(60), {gpu(ms(0), ms(6))}, 1)}));
  std::get<GpuSegment>(taskset.tasks[1].segments[0]).slices = 3;
  taskset.platform.gpus[0].overheads.launch = ms(1);
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp), (Bounds{ms(5), ms(10)}));
  EXPECT_EQ(bounds_of(taskset, Policy::fmlp_plus), (Bounds{ms(10), ms(10)}));
  EXPECT_EQ(seen(taskset, Policy::mpcp, periodic({ns(1), ms(0)}), ms(50)), (std::vector{ms(5) - ns(1), ms(10)}));
}

// The second request of h does not meet the section of l that the first one met: it meets one of m.
TEST(SafeMpcp, NoSectionFromBelowIsMetTwice) {
  const Taskset taskset =
      make_taskset({task("h", ms(100), {gpu(ms(0), ms(1)), cpu(ms(1)), gpu(ms(0), ms(1))}, 0),
                    task("l", ms(100), {gpu(ms(0), ms(5))}, 1), task("m", ms(100), {gpu(ms(0), ms(3))}, 2)});
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[0], ms(3 + 5 + 3));
  EXPECT_EQ(seen(taskset, Policy::mpcp, periodic({ns(1), ms(0), ms(7) - ns(1)}), ms(50))[0], ms(11) - ns(2));
}

// But it meets the next slice of l.
TEST(SafeMpcp, EachSliceFromBelowIsMetOnce) {
  Taskset taskset = make_taskset({task("h", ms(100), {gpu(ms(0), ms(1)), cpu(ms(1)), gpu(ms(0), ms(1))}, 0),
                                  task("l", ms(100), {gpu(ms(0), ms(6))}, 1)});
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[0], ms(3 + 6));
  EXPECT_EQ(seen(taskset, Policy::mpcp, periodic({ns(1), ms(0)}), ms(50))[0], ms(9) - ns(1));
  std::get<GpuSegment>(taskset.tasks[1].segments[0]).slices = 3;
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[0], ms(3 + 2 + 2));
  // l goes on while h is on its core.
  EXPECT_EQ(seen(taskset, Policy::mpcp, periodic({ns(1), ms(0)}), ms(50))[0], ms(6) - ns(1));
}

// Where l may come again before the second request of h, that one meets it again.
TEST(SafeMpcp, SectionsOfTwoJobsFromBelowAreMet) {
  Taskset taskset = make_taskset({task("h", ms(60), {gpu(ms(0), ms(1)), cpu(ms(12)), gpu(ms(0), ms(1))}, 0),
                                  task("l", ms(17), {gpu(ms(0), ms(5))}, 1)});
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[0], ms(14 + 5 + 5));
  EXPECT_EQ(seen(taskset, Policy::mpcp, periodic({ns(1), ms(0)}), ms(50))[0], ms(14 + 5 + 4) - ns(1));
  taskset.tasks[1].period = taskset.tasks[1].deadline = ms(70);
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[0], ms(14 + 5));
}

// Found by random attack. While i has the lock for its first request, a and b ask for it: both are served before the
// second, and a comes again.
TEST(SafeMpcp, WhatTheTaskHeldBackItselfComesBeforeItsNextRequest) {
  Taskset taskset = make_taskset({task("a", ms(17), {gpu(ms(3), ms(5))}, 0), task("b", ms(25), {gpu(ms(3), ms(4))}, 2),
                                  task("i", ms(100), {gpu(ms(0), ms(5)), gpu(ms(1), ms(1))}, 1)});
  taskset.platform.gpus[0].overheads.lock = Duration::microseconds(250);
  const auto bound = bounds_of(taskset, Policy::mpcp)[2];
  ASSERT_TRUE(bound);
  Duration longest;
  for (int a = 0; a < 17; ++a) {
    for (int b = 0; b < 25; ++b) {
      longest = std::max(longest, seen(taskset, Policy::mpcp, periodic({ms(a), ms(b), ns(1)}), ms(90))[2]);
    }
  }
  EXPECT_EQ(longest, Duration::microseconds(46'750));
  EXPECT_EQ(*bound, Duration::microseconds(62'250));
}

// Found by random attack: misc of a task whose exec is in slices comes late in one job and early in the next, however
// much later the end of exec may be.
TEST(SafeMpcp, MiscOfASlicedSegmentCarriesInByItsOwnEnd) {
  Taskset taskset = make_taskset({task("h", ms(20), {gpu(ms(1), ms(2))}, 0), task("i", ms(100), {cpu(ms(19))}, 0),
                                  task("l", ms(100), {gpu(ms(0), ms(8))}, 1)});
  std::get<GpuSegment>(taskset.tasks[0].segments[0]).slices = 2;
  // h waits up to 8 ms for l: misc of two of its jobs fits into 20 ms.
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[0], ms(11));
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[1], ms(21));
}

TEST_P(SafeVector, BestEffortTasksAreServedToo) {
  if (is_one_of({Policy::gcaps, Policy::gcaps_wc})) return;
  Taskset taskset = covered(
      make_taskset({task("a", ms(150), {gpu(ms(0), ms(10))}, 0), task("b", ms(500), {gpu(ms(0), ms(100))}, 1)}));
  taskset.tasks[1].best_effort = true;
  if (policy() == Policy::federated) {
    EXPECT_EQ(bounds_of(taskset, policy()), Bounds{ms(10)});  // on SMs of its own
    EXPECT_EQ(seen(taskset, policy(), periodic({ns(1), ms(0)}), ms(100))[0], ms(10));
    return;
  }
  const bool in_turns = policy() == Policy::tsg_rr;
  EXPECT_EQ(bounds_of(taskset, policy()), Bounds{in_turns ? ms(20) : ms(110)});
  EXPECT_EQ(seen(taskset, policy(), periodic({ns(1), ms(0)}), ms(100))[0], (in_turns ? ms(20) : ms(110)) - ns(1));
}

// One lock; h waits busily for its own work.
TEST(SafeLocks, ASpinningLockWaitHoldsTheCore) {
  Taskset taskset = make_taskset({task("h", ms(20), {cpu(ms(2)), gpu(ms(0), ms(2))}), task("l", ms(21), {cpu(ms(6))}),
                                  task("r", ms(200), {cpu(ms(1)), gpu(ms(0), ms(11))}, 1)});
  taskset.tasks[0].wait = WaitMode::busy;
  const Duration instant = Duration::microseconds(100);
  // r takes the lock just before h asks for it, which then has the core up to 14.9, and again from 20 to 24.
  const Scenario scenario = periodic({ms(0), ms(0), ms(1) - instant});
  for (const Policy policy : {Policy::mpcp, Policy::fmlp_plus}) {
    SCOPED_TRACE(to_string(policy));
    taskset.tasks[0].lock_wait = LockWait::suspend;
    EXPECT_EQ(bounds_of(taskset, policy), (Bounds{ms(15), ms(12), ms(14)}));
    EXPECT_EQ(seen(taskset, policy, synchronous_scenario(3))[1], ms(10));
    taskset.tasks[0].lock_wait = LockWait::spin;
    EXPECT_EQ(bounds_of(taskset, policy), (Bounds{ms(15), std::nullopt, ms(14)}));
    EXPECT_EQ(seen(taskset, policy, scenario, ms(20) + instant)[1], ms(25) - instant);
  }
}

// Misc of h keeps i from its core or, while i waits for the lock, from the GPU, but not from both: i waits for 1 + 4
// + 2.
TEST(SafeLocks, MiscOfATaskOnTheSameCoreIsChargedOnce) {
  const Taskset taskset = make_taskset({task("h", ms(100), {cpu(ms(1)), gpu(ms(4), ms(2))}),
                                        task("i", ms(100), {cpu(ms(1)), gpu(ms(1), ms(3)), cpu(ms(2))})});
  for (const Policy policy : {Policy::mpcp, Policy::fmlp_plus}) {
    EXPECT_EQ(bounds_of(taskset, policy)[1], ms(14));
    EXPECT_EQ(seen(taskset, policy, periodic({ms(1) - ns(1), ms(0)}), ms(50))[1], ms(14) - ns(1));
  }
}

// i is boosted from 7 to 8.25, and keeps h, released at 8, off its core: in the last window of i, which begins
// at 10.25, come this job of h and the next.
TEST(SafeLocks, WhatTheTaskHeldBackItselfComesAfterwards) {
  Taskset taskset =
      make_taskset({task("h", ms(8), {cpu(ms(3))}), task("i", ms(30), {cpu(ms(4)), gpu(ms(1), ms(2)), cpu(ms(5))})});
  taskset.platform.gpus[0].overheads.lock = Duration::microseconds(250);
  for (const Policy policy : {Policy::mpcp, Policy::fmlp_plus}) {
    EXPECT_EQ(bounds_of(taskset, policy)[1], Duration::microseconds(21'250));
    EXPECT_EQ(seen(taskset, policy, synchronous_scenario(2))[1], Duration::microseconds(19'250));
  }
}

// h is above i on the core and below it on the GPU. Released at 8, it waits on the core for 3 of exec of i, then for 5
// of its own, and is released again before i is through misc.
TEST(SafeGcaps, WhatTheTaskHeldBackOnTheGpuComesAfterwards) {
  Taskset taskset =
      make_taskset({task("h", ms(8), {gpu(ms(0), ms(5))}), task("i", ms(100), {gpu(ms(3), ms(3)), gpu(ms(3), ms(0))})});
  taskset.tasks[0].wait = WaitMode::busy;
  std::swap(taskset.tasks[0].gpu_priority, taskset.tasks[1].gpu_priority);
  const auto bound = bounds_of(taskset, Policy::gcaps_wc)[1];
  ASSERT_TRUE(bound);
  Duration longest;
  for (int offset = 0; offset < 8; ++offset) {
    for (const Duration later : {ms(0), ns(1)}) {
      const Scenario scenario = periodic({ms(offset), later});
      longest = std::max(longest, seen(taskset, Policy::gcaps_wc, scenario, ms(200))[1]);
    }
  }
  EXPECT_EQ(longest, ms(29));  // 9 of its own, and four jobs of h
  EXPECT_GE(*bound, longest);
}

TEST(SafeGcaps, ATaskThatKeepsTheGpuIsChargedAllOfIt) {
  const Taskset taskset = load_case("gcaps-held-misc.json");
  EXPECT_EQ(bounds_of(taskset, Policy::gcaps), (Bounds{ms(11), ms(20)}));
  EXPECT_EQ(seen(taskset, Policy::gcaps, periodic({ms(0), ms(1)}))[1], ms(20));
  EXPECT_EQ(bounds_of(taskset, Policy::gcaps_wc), (Bounds{ms(11), ms(15)}));
  EXPECT_EQ(seen(taskset, Policy::gcaps_wc, periodic({ms(0), ms(6)}))[1], ms(15));
}

// h keeps i from its core, makes it wait for the mutex, and keeps the GPU from it, but one of these at any instant: i
// waits for 1 + 4 + 2 and two updates.
TEST(SafeGcaps, EachInstantOfATaskOnTheSameCoreIsChargedOnce) {
  Taskset taskset = make_taskset({task("h", ms(100), {cpu(ms(1)), gpu(ms(4), ms(2))}),
                                  task("i", ms(100), {cpu(ms(1)), gpu(ms(1), ms(3)), cpu(ms(2))})});
  taskset.platform.gpus[0].overheads.runlist_update = ms(1);
  const Scenario scenario = periodic({ms(2) - ns(1), ms(0)});
  for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc}) {
    EXPECT_EQ(bounds_of(taskset, policy)[1], ms(9 + 9));
    EXPECT_EQ(seen(taskset, policy, scenario, ms(50))[1], ms(policy == Policy::gcaps ? 9 + 8 : 9 + 7));
  }
}

// A call finds no update of a task on its own core: that one would run. From another core it does.
TEST(SafeGcaps, ACallFindsUpdatesFromOtherCores) {
  Taskset taskset =
      make_taskset({task("h", ms(100), {gpu(ms(0), ms(5))}, 0), task("l", ms(100), {gpu(ms(0), ms(1))}, 1)});
  taskset.platform.gpus[0].overheads.runlist_update = ms(1);
  for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc}) {
    for (const int core : {0, 1}) {
      taskset.tasks[1].cpu = core;
      const std::vector<TaskResult> results = safe_bounds(taskset, policy);
      // On the same core: the two updates of l, when h is ready.
      EXPECT_EQ(results[0].terms[static_cast<std::size_t>(Term::cpu_blocking)], ms(2));
      EXPECT_EQ(results[0].bound, ms(9));
    }
  }
}

// While i waits for the GPU, l, below both on the GPU, leaves and enters, and then has nothing to call for: two
// updates, although k keeps the GPU three times.
TEST(SafeGcaps, ATaskWithoutTheGpuHasTwoCalls) {
  Taskset taskset = make_taskset(
      {task("k", ms(100), {gpu(ms(1), ms(1)), gpu(ms(1), ms(1)), gpu(ms(1), ms(1))}, 1),
       task("i", ms(200), {gpu(ms(0), ms(2))}, 0),
       task("l", ms(500), {gpu(ms(0), ms(1)), gpu(ms(0), ms(1)), gpu(ms(0), ms(1)), gpu(ms(0), ms(1))}, 1)});
  taskset.platform.gpus[0].overheads.runlist_update = ms(1);
  const std::vector<TaskResult> results = safe_bounds(taskset, {.policy = Policy::gcaps, .explain = true});
  const auto from_l = std::ranges::find(results[1].contributions, TaskIndex{2}, &Contribution::task);
  ASSERT_NE(from_l, results[1].contributions.end());
  EXPECT_EQ(from_l->amount, ms(2));
}

TEST(SafeGcaps, AGpuKeptFromATaskThatHoldsItsCoreIsADeadlock) {
  // On one core a is above b, on the GPU below: a waits busily for the GPU that b keeps, and b for the core.
  Taskset taskset = make_taskset(
      {task("a", ms(100), {cpu(ms(1)), gpu(ms(1), ms(10))}), task("b", ms(100), {cpu(ms(1)), gpu(ms(1), ms(10))})});
  std::swap(taskset.tasks[0].gpu_priority, taskset.tasks[1].gpu_priority);
  EXPECT_EQ(bounds_of(taskset, Policy::gcaps, WaitChoice::busy)[0], std::nullopt);
  EXPECT_TRUE(bounds_of(taskset, Policy::gcaps_wc, WaitChoice::busy)[0]);
}

// h waits busily for its copy above k, which keeps the GPU from i meanwhile; h is late in one job and early in the
// next. i waits for 0.5 + 10.5 of k and twice 6 of h.
TEST(SafeGcaps, ABusyCopyCarriesInByItsEnd) {
  Taskset taskset =
      make_taskset({task("h", ms(24), {CopySegment{{ms(6), ms(6)}, CopyDirection::to_device}}, 1),
                    task("k", ms(200), {gpu(Duration::microseconds(10'500), Duration::microseconds(500))}, 1),
                    task("i", ms(200), {gpu(ms(0), ms(2))}, 0)});
  taskset.tasks[0].jitter = ms(8);
  taskset.tasks[0].wait = WaitMode::busy;
  EXPECT_EQ(bounds_of(taskset, Policy::gcaps), (Bounds{ms(14), ms(23), ms(25)}));
  const Duration start = Duration::microseconds(7'600);
  Scenario scenario = periodic({ms(0), start, start});
  scenario.tasks[0].jitter_chance = 500;
  Duration longest;
  for (scenario.seed = 0; scenario.seed < 400; ++scenario.seed) {
    longest = std::max(longest, seen(taskset, Policy::gcaps, scenario, ms(30))[2]);
  }
  EXPECT_GT(longest, ms(24));
  EXPECT_LE(longest, ms(25));
}

// Published bounds: 16 and 22 ms.
TEST(SafeGcaps, UpdatesFromBelowAreCharged) {
  for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc}) {
    const auto bound = bounds_of(load_case("gcaps-case-study.json"), policy)[0];
    ASSERT_TRUE(bound);
    EXPECT_GE(*bound, Duration::microseconds(16'300));  // seen
  }
}

TEST(SafeTsgRr, OwnSwitchesAreCharged) {
  const Taskset taskset = load_case("tsg-rr-switch.json");
  EXPECT_EQ(bounds_of(taskset, Policy::tsg_rr), (Bounds{ms(24), ms(24)}));
  const std::vector<Duration> longest = seen(taskset, Policy::tsg_rr, periodic({ns(1), ms(0)}));
  EXPECT_GT(longest[0], Duration::microseconds(23'700));
  EXPECT_LE(longest[0], ms(24));
}

// What is passed stands for nothing: h takes 12, so its last part may be ready 11 after its release, not 5.
TEST(SafeJitter, ADeadlineThatIsPassedStandsForNothing) {
  Taskset taskset = make_taskset(
      {task("h", ms(100), {cpu(ms(1)), gpu(ms(0), ms(10)), cpu(ms(1))}), task("l", ms(200), {cpu(ms(90))})});
  taskset.tasks[0].deadline = ms(5);
  std::get<GpuSegment>(taskset.tasks[0].segments[1]).exec->min = Duration();
  AnalysisOptions options;
  options.policy = Policy::gcaps_wc;
  options.beyond_deadline = true;
  EXPECT_EQ(safe_bounds(taskset, options)[1].bound, ms(93));
  options.jitter = JitterSource::deadline;
  const std::vector<TaskResult> results = safe_bounds(taskset, options);
  EXPECT_EQ(results[0].bound, ms(12));
  EXPECT_EQ(results[1].outcome, Outcome::unknown);
  // The first job of h suspends for 10, the second not at all.
  Scenario scenario = periodic({ms(0), ms(11)});
  scenario.tasks[0].shorten_chance = 500;
  Duration longest;
  for (scenario.seed = 0; scenario.seed < 40; ++scenario.seed) {
    longest = std::max(longest, seen(taskset, Policy::gcaps_wc, scenario, ms(150))[1]);
  }
  EXPECT_EQ(longest, ms(93));
}

// Found by random attack: a job of h that is late keeps the next one waiting, which then comes soon after it.
TEST_P(SafeVector, JobsOfALateTaskMayComeAtAnyTime) {
  const Taskset taskset =
      covered(make_taskset({task("h", ms(13), {gpu(ms(3), ms(11))}), task("l", ms(53), {cpu(ms(4))})}));
  EXPECT_EQ(bounds_of(taskset, policy()), (Bounds{std::nullopt, std::nullopt}));
}

TEST(SafeDeadlines, BeyondThePeriodAreRefused) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(5))})});
  taskset.tasks[0].deadline = ms(11);
  EXPECT_FALSE(validate(taskset).empty());
}

}  // namespace
}  // namespace rtgpu
