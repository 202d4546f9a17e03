// The schedule checker: what the simulator does is legal under every policy and wait mode, and each rule can be broken.
#include "analysis/simulation/schedule_check.h"

#include "analysis/simulation/simulator.h"
#include "tests/analysis/safe_analyses.h"
#include "tests/support/attack_targets.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::chance;
using testing::cpu;
using testing::gpu;
using testing::make_taskset;
using testing::ms;
using testing::RandomOptions;
using testing::small_target;
using testing::task;
using testing::uniform;

std::string text_of(const std::vector<ScheduleViolation>& violations, const Taskset& taskset) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(violations.size(), 10); ++i) {
    text += to_string(violations[i], taskset) + "\n";
  }
  return text;
}

// --- what the simulator does is legal

void vary_segment(std::mt19937_64& engine, Segment& segment) {
  auto* work = std::get_if<GpuSegment>(&segment);
  if (work == nullptr) return;
  if (chance(engine, 50)) work->block = Duration::microseconds(uniform(engine, 50, 1000));
  if (chance(engine, 50)) work->slices = static_cast<int>(uniform(engine, 1, 4));
  if (chance(engine, 10)) work->misc = {};
}

void vary(std::mt19937_64& engine, Taskset& taskset) {
  Gpu& gpu = taskset.platform.gpus[0];
  gpu.overheads.time_slice = Duration::microseconds(uniform(engine, 200, 2000));
  gpu.stream_priorities = static_cast<int>(uniform(engine, 1, 6));
  gpu.copy_engines = static_cast<int>(uniform(engine, 1, 3));
  gpu.server_cpu = static_cast<int>(uniform(engine, 0, taskset.platform.cpus - 1));
  if (chance(engine, 30)) gpu.overheads.runlist_update = gpu.overheads.lock = gpu.overheads.context_switch = Duration();
  const int spinning = static_cast<int>(uniform(engine, 0, 2)) * 50;
  for (Task& each : taskset.tasks) {
    each.lock_wait = chance(engine, spinning) ? LockWait::spin : LockWait::suspend;
    for (Segment& segment : each.segments) vary_segment(engine, segment);
    while (chance(engine, 30)) {
      const auto place = uniform(engine, 0, static_cast<std::int64_t>(each.segments.size()));
      const auto direction = chance(engine, 50) ? CopyDirection::to_device : CopyDirection::to_host;
      const Duration longest = Duration::microseconds(uniform(engine, 100, 1500));
      each.segments.insert(each.segments.begin() + place, CopySegment{{longest, longest}, direction});
    }
  }
}

Taskset random_target(std::mt19937_64& engine) {
  RandomOptions options;
  options.tasks = static_cast<int>(uniform(engine, 2, 8));
  options.cpus = static_cast<int>(uniform(engine, 1, 3));
  options.utilisation_percent = static_cast<int>(uniform(engine, 20, 90));
  options.gpu_percent = 80;
  options.best_effort_percent = 25;
  options.waits = RandomOptions::Waits::mixed;
  options.jitter = chance(engine, 40);
  options.constrained_deadlines = chance(engine, 30);
  options.separate_gpu_priorities = chance(engine, 40);
  options.order = RandomOptions::Order::random;
  options.best_case_below_worst = true;
  options.overheads = true;
  options.min_period_ms = 5;
  options.max_period_ms = 30;
  if (chance(engine, 30)) options.grain = Duration::milliseconds(1);  // many things happen at one moment
  Taskset taskset = testing::random_taskset(engine, options);
  vary(engine, taskset);
  return taskset;
}

Scenario random_scenario(std::mt19937_64& engine, const Taskset& taskset) {
  Scenario scenario = synchronous_scenario(taskset.tasks.size());
  scenario.seed = engine();
  scenario.below_best_case = chance(engine, 50);
  const bool synchronous = chance(engine, 30);
  const bool shorten = chance(engine, 60);
  for (std::size_t i = 0; i < taskset.tasks.size(); ++i) {
    TaskScenario& choices = scenario.tasks[i];
    if (!synchronous) choices.offset = Duration::nanoseconds(uniform(engine, 0, taskset.tasks[i].period.count()));
    choices.gap_chance = chance(engine, 50) ? static_cast<int>(uniform(engine, 0, 600)) : 0;
    choices.longest_gap = taskset.tasks[i].period;
    choices.jitter_chance = 500;
    choices.shorten_chance = shorten ? static_cast<int>(uniform(engine, 0, 400)) : 0;
  }
  return scenario;
}

// Full enter and leave calls are asked for where nothing is shortened.
ScheduleCheckOptions options_for(const Scenario& scenario) {
  const bool shortens =
      std::ranges::any_of(scenario.tasks, [](const TaskScenario& each) { return each.shorten_chance > 0; });
  return {.below_best_case = scenario.below_best_case, .shorter_calls = shortens};
}

class CheckedSimulation : public ::testing::TestWithParam<Policy> {};

TEST_P(CheckedSimulation, IsLegalInEveryWaitMode) {
  const auto seed = std::random_device{}();
  std::int64_t jobs = 0;
  for (unsigned trial = 0; trial < 40; ++trial) {
    std::mt19937_64 engine(seed + trial);
    const Taskset taskset = testing::runnable(random_target(engine), GetParam());
    ASSERT_TRUE(validate(taskset).empty());
    const Scenario scenario = random_scenario(engine, taskset);
    for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy, WaitChoice::file}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial << ", wait "
                                        << static_cast<int>(wait));
      Result<Simulator> simulator = Simulator::of(taskset, GetParam(), wait);
      ASSERT_TRUE(simulator);
      Schedule schedule;
      simulator->run(scenario, ms(60), &schedule);
      const auto violations = check_schedule(taskset, GetParam(), wait, schedule, options_for(scenario));
      ASSERT_TRUE(violations.empty()) << text_of(violations, taskset);
      jobs += static_cast<std::int64_t>(schedule.jobs.size());
    }
  }
  EXPECT_GT(jobs, 1000);  // otherwise little was tested
}

// Much happens at the same moments, and much takes no time.
TEST_P(CheckedSimulation, IsLegalInSmallSystemsOfWholeMilliseconds) {
  const auto seed = std::random_device{}();
  for (unsigned trial = 0; trial < 150; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial);
    std::mt19937_64 engine(seed + trial);
    const Taskset taskset = testing::runnable(small_target(engine), GetParam());
    Scenario scenario = synchronous_scenario(taskset.tasks.size());
    scenario.seed = engine();
    scenario.below_best_case = true;
    const bool shorten = chance(engine, 50);
    for (TaskScenario& each : scenario.tasks) {
      each.offset = ms(uniform(engine, 0, 10));
      each.jitter_chance = 300;
      each.shorten_chance = shorten ? static_cast<int>(uniform(engine, 0, 400)) : 0;
    }
    Result<Simulator> simulator = Simulator::of(taskset, GetParam(), WaitChoice::file);
    ASSERT_TRUE(simulator);
    Schedule schedule;
    simulator->run(scenario, ms(60), &schedule);
    const auto violations = check_schedule(taskset, GetParam(), WaitChoice::file, schedule, options_for(scenario));
    ASSERT_TRUE(violations.empty()) << text_of(violations, taskset);
  }
}

// --- no part of a schedule may be changed at will

template <class Interval>
bool change_one(std::mt19937_64& engine, std::vector<Interval>& intervals) {
  if (intervals.empty()) return false;
  const auto index = static_cast<std::size_t>(uniform(engine, 0, static_cast<std::int64_t>(intervals.size()) - 1));
  Interval& interval = intervals[index];
  const Duration most = std::min(interval.end - interval.begin, Duration::microseconds(1));
  switch (uniform(engine, 0, 4)) {
    case 0:
      interval.begin += most;
      break;
    case 1:
      interval.end -= most;
      break;
    case 2:
      interval.begin -= most;
      break;
    case 3:
      interval.end += most;
      break;
    default:
      intervals.erase(intervals.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return true;
}

// Changes one thing; false if there is nothing of the kind.
bool change(std::mt19937_64& engine, Schedule& schedule) {
  const auto any_of = [&](auto& things) -> auto& {
    return things[static_cast<std::size_t>(uniform(engine, 0, static_cast<std::int64_t>(things.size()) - 1))];
  };
  switch (uniform(engine, 0, 5)) {
    case 0:
      return change_one(engine, schedule.tasks);
    case 1:
      return change_one(engine, schedule.cores);
    case 2:
      return change_one(engine, schedule.gpu);
    case 3:
      return change_one(engine, schedule.copies);
    case 4: {
      TaskInterval& interval = any_of(schedule.tasks);
      interval.boosted = !interval.boosted;
      return true;
    }
    default: {
      JobRecord& job = any_of(schedule.jobs);
      if (job.completion.is_infinite()) return false;
      job.completion += Duration::nanoseconds(chance(engine, 50) ? 1 : -1);
      return true;
    }
  }
}

TEST_P(CheckedSimulation, NothingCanBeChangedUnnoticed) {
  const auto seed = std::random_device{}();
  int changes = 0;
  for (unsigned trial = 0; trial < 10; ++trial) {
    std::mt19937_64 engine(seed + trial);
    const Taskset taskset = testing::runnable(random_target(engine), GetParam());
    const Scenario scenario = random_scenario(engine, taskset);
    Result<Simulator> simulator = Simulator::of(taskset, GetParam(), WaitChoice::file);
    ASSERT_TRUE(simulator);
    Schedule schedule;
    simulator->run(scenario, ms(30), &schedule);
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial << ", round " << round);
      Schedule changed = schedule;
      if (!change(engine, changed)) continue;
      ASSERT_FALSE(check_schedule(taskset, GetParam(), WaitChoice::file, changed, options_for(scenario)).empty());
      ++changes;
    }
  }
  EXPECT_GT(changes, 100);
}

INSTANTIATE_TEST_SUITE_P(Policies, CheckedSimulation,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority, Policy::federated,
                                           Policy::server),
                         [](const auto& policy) { return testing::test_name(policy.param); });

}  // namespace
}  // namespace rtgpu
