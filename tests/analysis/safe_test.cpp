// The safe analyses under random attacks by the simulator, which must never exceed a bound.
#include "analysis/simulation/simulator.h"
#include "tests/analysis/safe_analyses.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::chance;
using testing::ms;
using testing::random_target;
using testing::RandomOptions;
using testing::safe_bounds;
using testing::uniform;

Scenario random_scenario(std::mt19937_64& engine, const Taskset& taskset, bool synchronous) {
  Scenario scenario = synchronous_scenario(taskset.tasks.size());
  scenario.seed = engine();
  scenario.below_best_case = true;
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

// Simulates a taskset that the analysis calls schedulable, and compares every task with its bound.
void attack(std::mt19937_64& engine, const Taskset& taskset, const std::vector<TaskResult>& results, Policy policy,
            WaitChoice wait) {
  Result<Simulator> simulator = Simulator::of(taskset, policy, wait);
  ASSERT_TRUE(simulator);
  for (int run = 0; run < 8; ++run) {
    const Scenario scenario = random_scenario(engine, taskset, run == 0);
    const Observation& seen = simulator->run(scenario, ms(400));
    for (const TaskResult& result : results) {
      ASSERT_LE(seen.tasks[result.task].max_response, *result.bound)
          << taskset.tasks[result.task].name << ", run " << run;
    }
  }
}

class SafeBoundsHold : public ::testing::TestWithParam<Policy> {};

TEST_P(SafeBoundsHold, NoScheduleExceedsABound) {
  const auto seed = std::random_device{}();
  int schedulable = 0;
  for (unsigned trial = 0; trial < 60; ++trial) {
    for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy, WaitChoice::file}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial << ", wait "
                                        << static_cast<int>(wait));
      std::mt19937_64 engine(seed + trial);
      const Taskset taskset = random_target(engine);
      ASSERT_TRUE(validate(taskset).empty());
      AnalysisOptions options;
      options.policy = GetParam();
      options.wait = wait;
      options.explain = true;
      const std::vector<TaskResult> results = safe_bounds(taskset, options);
      for (const TaskResult& result : results) {
        Duration terms;
        Duration contributions;
        for (const Duration term : result.terms) terms += term;
        for (const Contribution& part : result.contributions) contributions += part.amount;
        if (result.bound) {
          ASSERT_EQ(terms, *result.bound);
          ASSERT_EQ(contributions, *result.bound);
        }
      }
      if (!std::ranges::all_of(results, &TaskResult::schedulable)) continue;
      ++schedulable;
      attack(engine, taskset, results, GetParam(), wait);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(schedulable, 10);  // otherwise nothing was tested
}

Scenario small_scenario(std::mt19937_64& engine, std::size_t tasks) {
  Scenario scenario = synchronous_scenario(tasks);
  scenario.seed = engine();
  scenario.below_best_case = true;
  const int shorten = chance(engine, 60) ? static_cast<int>(uniform(engine, 0, 600)) : 0;
  for (TaskScenario& choices : scenario.tasks) {
    const std::int64_t later = chance(engine, 50) ? uniform(engine, 0, 3) : 0;
    choices.offset = ms(uniform(engine, 0, 12)) + Duration::nanoseconds(later);
    choices.gap_chance = chance(engine, 30) ? static_cast<int>(uniform(engine, 0, 500)) : 0;
    choices.longest_gap = ms(uniform(engine, 0, 5));
    choices.jitter_chance = chance(engine, 50) ? 500 : 0;
    choices.shorten_chance = shorten;
  }
  return scenario;
}

TEST_P(SafeBoundsHold, NoScheduleOfASmallSystemExceedsABound) {
  const auto seed = std::random_device{}();
  for (unsigned trial = 0; trial < 150; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial);
    std::mt19937_64 engine(seed + trial);
    const Taskset taskset = testing::small_target(engine);
    if (!validate(taskset).empty()) continue;  // more release jitter than the deadline allows
    const std::vector<TaskResult> results = safe_bounds(taskset, GetParam());
    if (!std::ranges::all_of(results, &TaskResult::schedulable)) continue;
    Result<Simulator> simulator = Simulator::of(taskset, GetParam(), WaitChoice::file);
    ASSERT_TRUE(simulator);
    for (int run = 0; run < 20; ++run) {
      const Observation& seen = simulator->run(small_scenario(engine, taskset.tasks.size()), ms(120));
      for (const TaskResult& result : results) {
        ASSERT_LE(seen.tasks[result.task].max_response, *result.bound)
            << taskset.tasks[result.task].name << ", run " << run;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, SafeBoundsHold,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority),
                         [](const auto& policy) { return testing::test_name(policy.param); });

// With epsilon = 0 the safe analysis of gcaps-wc is never larger than the published one of gcaps.
TEST(Safe, GcapsWcWithoutUpdatesDominatesThePublishedBound) {
  const auto seed = std::random_device{}();
  for (unsigned trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial);
    std::mt19937_64 engine(seed + trial);
    RandomOptions options;
    options.tasks = static_cast<int>(uniform(engine, 2, 12));
    options.cpus = static_cast<int>(uniform(engine, 1, 4));
    options.utilisation_percent = static_cast<int>(uniform(engine, 5, 50));
    const Taskset taskset = testing::random_taskset(engine, options);
    for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
      AnalysisOptions request{.variant = Variant::published};
      request.wait = wait;
      const Result<AnalysisResult> published = analyze(taskset, request);
      ASSERT_TRUE(published);
      const std::vector<TaskResult> safe = safe_bounds(taskset, Policy::gcaps_wc, wait);
      for (std::size_t i = 0; i < safe.size(); ++i) {
        if (!published->tasks[i].bound) continue;
        ASSERT_TRUE(safe[i].bound) << taskset.tasks[safe[i].task].name;
        ASSERT_LE(*safe[i].bound, *published->tasks[i].bound) << taskset.tasks[safe[i].task].name;
      }
    }
  }
}

}  // namespace
}  // namespace rtgpu
