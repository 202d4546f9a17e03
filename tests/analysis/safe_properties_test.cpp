// What holds for every safe analysis, on random tasksets.
#include "tests/analysis/safe_analyses.h"
#include "tests/support/attack_targets.h"
#include "tests/support/changes.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::attack_target;
using testing::chance;
using testing::Change;
using testing::safe_bounds;
using testing::SafeAnalysis;
using testing::uniform;

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

using BoundOfTask = std::map<std::string, std::optional<Duration>>;

BoundOfTask bounds_by_name(const Taskset& taskset, const AnalysisOptions& options) {
  BoundOfTask bounds;
  for (const TaskResult& result : safe_bounds(taskset, options)) bounds[taskset.tasks[result.task].name] = result.bound;
  return bounds;
}

constexpr std::array kWaits = {WaitChoice::suspend, WaitChoice::busy, WaitChoice::file};

// Runs `check(engine, options)` for every policy and wait mode on many seeds, printing the one that fails.
template <class Check>
void for_random_tasksets(int trials, Check check) {
  const auto seed = std::random_device{}();
  for (int trial = 0; trial < trials; ++trial) {
    for (const SafeAnalysis& analysis : testing::safe_analyses()) {
      std::mt19937_64 engine(seed + static_cast<unsigned>(trial));
      AnalysisOptions options;
      options.policy = analysis.policy;
      options.variant = Variant::safe;
      options.wait = kWaits[static_cast<std::size_t>(trial) % kWaits.size()];
      options.jitter = chance(engine, 25) ? JitterSource::deadline : JitterSource::response;
      options.beyond_deadline = chance(engine, 25);
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial << ", policy "
                                        << to_string(options.policy) << ", wait " << static_cast<int>(options.wait)
                                        << ", jitter " << to_string(options.jitter) << ", beyond the deadline "
                                        << options.beyond_deadline);
      check(engine, options);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// `after` has no bound that `before` has not, and none that is lower.
void expect_no_lower(const BoundOfTask& before, const BoundOfTask& after) {
  for (const auto& [name, bound] : before) {
    SCOPED_TRACE(name);
    if (!after.at(name)) continue;
    ASSERT_TRUE(bound) << "now " << to_string(*after.at(name));
    ASSERT_GE(*after.at(name), *bound);
  }
}

class ForTheWorse : public ::testing::TestWithParam<Change> {};

TEST_P(ForTheWorse, NeverLowersABound) {
  for_random_tasksets(12, [](std::mt19937_64& engine, AnalysisOptions options) {
    // Where deadlines stand for response times, more work of a task leaves less of its deadline as jitter, and the
    // bounds of others may fall.
    options.jitter = JitterSource::response;
    Taskset taskset = attack_target(engine);
    const BoundOfTask before = bounds_by_name(taskset, options);
    GetParam().apply(engine, taskset);
    expect_no_lower(before, bounds_by_name(taskset, options));
  });
}

INSTANTIATE_TEST_SUITE_P(Changes, ForTheWorse, ::testing::ValuesIn(testing::changes_for_the_worse()),
                         [](const auto& change) { return std::string(change.param.name); });

TEST(SafeProperties, AnotherTaskNeverLowersABound) {
  for_random_tasksets(12, [](std::mt19937_64& engine, AnalysisOptions options) {
    options.jitter = JitterSource::response;
    // Under gcaps updates of a task on another core may be charged twice, in core windows and, as part of its work on
    // that core, in windows with the GPU; below a task that waits busily they are charged once in both. So a task that
    // waits busily and comes in above may lower a bound.
    if (options.policy == Policy::gcaps) return;
    Taskset taskset = attack_target(engine);
    // With fewer levels than tasks, another task also changes who shares a level.
    taskset.platform.gpus[0].stream_priorities = 20;
    const BoundOfTask before = bounds_by_name(taskset, options);
    testing::add_another_task(engine, taskset);
    ASSERT_TRUE(validate(taskset).empty());
    expect_no_lower(before, bounds_by_name(taskset, options));
  });
}

TEST(SafeProperties, JitterByTheDeadlineNeverLowersABound) {
  for_random_tasksets(24, [](std::mt19937_64& engine, AnalysisOptions options) {
    const Taskset taskset = attack_target(engine);
    options.jitter = JitterSource::response;
    const BoundOfTask by_response = bounds_by_name(taskset, options);
    options.jitter = JitterSource::deadline;
    expect_no_lower(by_response, bounds_by_name(taskset, options));
  });
}

TEST(SafeProperties, ScalingAllTimesScalesAllBounds) {
  for_random_tasksets(12, [](std::mt19937_64& engine, const AnalysisOptions& options) {
    Taskset taskset = attack_target(engine);
    // Slices are rounded up to whole nanoseconds.
    for (Task& task : taskset.tasks) {
      for (Segment& segment : task.segments) {
        auto* gpu = std::get_if<GpuSegment>(&segment);
        if (gpu == nullptr) continue;
        gpu->exec->max = Duration::nanoseconds(1) * (gpu->exec->max.count() / gpu->slices * gpu->slices);
        gpu->exec->min = Duration();
      }
    }
    const BoundOfTask before = bounds_by_name(taskset, options);
    const std::int64_t factor = uniform(engine, 2, 1000);
    testing::scale_times(taskset, factor);
    for (const auto& [name, bound] : bounds_by_name(taskset, options)) {
      SCOPED_TRACE(name);
      ASSERT_EQ(bound, before.at(name) ? std::optional(*before.at(name) * factor) : std::nullopt);
    }
  });
}

TEST(SafeProperties, TheOrderOfTasksInTheFileChangesNothing) {
  for_random_tasksets(12, [](std::mt19937_64& engine, const AnalysisOptions& options) {
    Taskset taskset = attack_target(engine);
    const BoundOfTask before = bounds_by_name(taskset, options);
    testing::shuffle_tasks(engine, taskset);
    ASSERT_EQ(bounds_by_name(taskset, options), before);
  });
}

struct Demand {
  Duration on_core;
  Duration on_gpu;
  Duration copying;
};

Demand demand_of(const Task& task, const Overheads& overheads) {
  Demand demand;
  for (const Segment& segment : task.segments) {
    if (const auto* cpu = std::get_if<CpuSegment>(&segment)) demand.on_core += cpu->time.max;
    if (const auto* copy = std::get_if<CopySegment>(&segment)) demand.copying += copy->time.max;
    const auto* gpu = std::get_if<GpuSegment>(&segment);
    if (gpu == nullptr) continue;
    demand.on_core += gpu->misc.max;
    demand.on_gpu += gpu->exec->max + overheads.launch * (gpu->slices - 1);
  }
  return demand;
}

TEST(SafeProperties, BoundsAreTheSumOfTheirTermsAndAtLeastTheDemand) {
  for_random_tasksets(24, [](std::mt19937_64& engine, AnalysisOptions options) {
    options.explain = true;
    const Taskset taskset = attack_target(engine);
    for (const TaskResult& result : safe_bounds(taskset, options)) {
      const Task& task = taskset.tasks[result.task];
      SCOPED_TRACE(task.name);
      ASSERT_EQ(result.reason.empty(), result.schedulable());
      std::array<Duration, kTermCount> terms{};
      Duration sum;
      for (const Contribution& part : result.contributions) {
        ASSERT_GT(part.amount, Duration());
        ASSERT_GE(part.jobs, 1);
        terms[static_cast<std::size_t>(part.term)] += part.amount;
        sum += part.amount;
      }
      ASSERT_EQ(terms, result.terms);
      ASSERT_EQ(sum, result.bound.value_or(Duration()));
      if (!result.bound) continue;
      const Demand demand = demand_of(task, taskset.platform.gpus[0].overheads);
      ASSERT_GE(*result.bound, task.jitter + demand.on_core + demand.on_gpu + demand.copying);
      ASSERT_EQ(result.schedulable(), *result.bound <= task.deadline);
      ASSERT_LE(*result.bound, options.beyond_deadline ? task.period : task.deadline);
    }
  });
}

// In parts of 10^15, rounded down.
std::int64_t utilisation(Duration demand, Duration period) {
  constexpr Int128 kWhole = 1'000'000'000'000'000;
  return static_cast<std::int64_t>(demand.count() * kWhole / period.count());
}

// Without overheads, where sets that are accepted come close to 1.
TEST(SafeProperties, NoResourceOfASchedulableSetIsOverloaded) {
  int schedulable = 0;
  for_random_tasksets(60, [&](std::mt19937_64& engine, const AnalysisOptions& options) {
    testing::RandomOptions random;
    random.tasks = static_cast<int>(uniform(engine, 1, 4));
    random.cpus = static_cast<int>(uniform(engine, 1, 3));
    random.utilisation_percent = static_cast<int>(uniform(engine, 50, 120));
    random.max_gpu_segments = 1;
    random.waits = testing::RandomOptions::Waits::mixed;
    Taskset taskset = testing::random_taskset(engine, random);
    taskset.platform.gpus[0].stream_priorities = 3;
    taskset.platform.gpus[0].overheads.time_slice = Duration::milliseconds(1);
    const std::vector<TaskResult> results = safe_bounds(taskset, options);
    if (!std::ranges::all_of(results, &TaskResult::schedulable)) return;
    ++schedulable;
    std::vector<std::int64_t> cores(static_cast<std::size_t>(taskset.platform.cpus));
    std::int64_t on_gpu = 0;
    for (const Task& task : taskset.tasks) {
      const Demand demand = demand_of(task, taskset.platform.gpus[0].overheads);
      // Not exec of a task that waits busily: it goes on while the task is preempted.
      cores[static_cast<std::size_t>(task.cpu)] += utilisation(demand.on_core, task.period);
      on_gpu += utilisation(demand.on_gpu, task.period);
    }
    for (const std::int64_t core : cores) ASSERT_LE(core, 1'000'000'000'000'000);
    if (options.policy != Policy::federated) {
      ASSERT_LE(on_gpu, 1'000'000'000'000'000);
    }
  });
  EXPECT_GT(schedulable, 5);
}

}  // namespace
}  // namespace rtgpu
