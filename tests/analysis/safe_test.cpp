// The safe analyses under random attacks by the simulator, which must never exceed a bound.
#include "analysis/simulation/simulator.h"
#include "tests/analysis/safe_analyses.h"
#include "tests/support/attack_targets.h"
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
using testing::RandomOptions;
using testing::safe_bounds;
using testing::uniform;

class SafeBoundsHold : public ::testing::TestWithParam<Policy> {};

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
    const Taskset taskset = testing::runnable(testing::small_target(engine), GetParam());
    if (!validate(taskset).empty()) continue;  // more release jitter than the deadline allows
    const std::vector<TaskResult> results = safe_bounds(taskset, GetParam());
    Result<Simulator> simulator = Simulator::of(taskset, GetParam(), WaitChoice::file);
    ASSERT_TRUE(simulator);
    for (int run = 0; run < 20; ++run) {
      const Observation& seen = simulator->run(small_scenario(engine, taskset.tasks.size()), ms(120));
      for (const TaskResult& result : results) {
        if (!result.schedulable()) continue;
        ASSERT_LE(seen.tasks[result.task].max_response, *result.bound)
            << taskset.tasks[result.task].name << ", run " << run;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, SafeBoundsHold,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority, Policy::federated,
                                           Policy::server),
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
