// What holds for every published analysis, on random tasksets.
#include "analysis/analysis.h"
#include "tests/analysis/naive_reference.h"
#include "tests/support/build.h"
#include "tests/support/changes.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::chance;
using testing::Change;
using testing::random_taskset;
using testing::RandomOptions;
using testing::uniform;

struct Combination {
  Policy policy;
  WaitChoice wait;
  JitterSource jitter;
};

std::vector<Combination> combinations() {
  std::vector<Combination> all;
  for (const AnalysisEntry& entry : analyses()) {
    if (entry.variant != Variant::published) continue;
    for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy, WaitChoice::file}) {
      for (const JitterSource jitter : {JitterSource::response, JitterSource::deadline}) {
        all.push_back({entry.policy, wait, jitter});
      }
    }
  }
  return all;
}

AnalysisOptions options_of(const Combination& combination) {
  AnalysisOptions options{.variant = Variant::published};
  options.policy = combination.policy;
  options.wait = combination.wait;
  options.jitter = combination.jitter;
  return options;
}

// Tasksets around the edge of schedulability, with a time slice so that every analysis covers them.
Taskset taskset_of(std::mt19937_64& engine) {
  RandomOptions options;
  options.tasks = static_cast<int>(uniform(engine, 1, 10));
  options.cpus = static_cast<int>(uniform(engine, 1, 3));
  options.utilisation_percent = static_cast<int>(uniform(engine, 10, 60));
  options.best_effort_percent = 10;
  options.waits = RandomOptions::Waits::mixed;
  options.jitter = chance(engine, 30);
  options.constrained_deadlines = chance(engine, 30);
  options.separate_gpu_priorities = chance(engine, 30);
  options.overheads = true;
  Taskset taskset = random_taskset(engine, options);
  taskset.platform.gpus[0].server_cpu = static_cast<int>(uniform(engine, 0, options.cpus - 1));
  // Best cases are known then, as they are after a change.
  if (auto* cpu = std::get_if<CpuSegment>(&taskset.tasks[0].segments[0])) cpu->time.min = Duration();
  Overheads& overheads = taskset.platform.gpus[0].overheads;
  overheads.time_slice = std::max(overheads.time_slice, Duration::microseconds(200));
  return taskset;
}

std::map<std::string, std::optional<Duration>> bounds(const Taskset& taskset, const AnalysisOptions& options) {
  const Result<AnalysisResult> result = analyze(testing::runnable(taskset, options.policy), options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.errors().front()));
  std::map<std::string, std::optional<Duration>> by_name;
  if (!result) return by_name;
  for (const TaskResult& task : result->tasks) by_name[taskset.tasks[task.task].name] = task.bound;
  return by_name;
}

// Runs `check(engine, combination)` for every analysis on many seeds, printing the one that fails.
template <class Check>
void for_random(int trials, Check check) {
  const auto seed = std::random_device{}();
  for (int trial = 0; trial < trials; ++trial) {
    for (const Combination& combination : combinations()) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial << ", policy "
                                        << to_string(combination.policy) << ", wait "
                                        << static_cast<int>(combination.wait) << ", jitter "
                                        << to_string(combination.jitter));
      std::mt19937_64 engine(seed + static_cast<unsigned>(trial));
      check(engine, combination);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

testing::NaiveBounds naive_bounds(Policy policy, const Taskset& taskset, bool busy, JitterSource jitter) {
  switch (policy) {
    case Policy::gcaps:
      return testing::naive_gcaps(taskset, busy, jitter);
    case Policy::tsg_rr:
      return testing::naive_tsg_rr(taskset, busy, jitter);
    case Policy::mpcp:
      return testing::naive_mpcp(taskset, busy, jitter);
    case Policy::fmlp_plus:
      return testing::naive_fmlp_plus(taskset, busy, jitter);
    case Policy::server:
      return testing::naive_server(taskset, busy, jitter);
    default:
      return {};
  }
}

TEST(Properties, AgreesWithTheNaiveReference) {
  for_random(200, [](std::mt19937_64& engine, const Combination& combination) {
    if (combination.wait == WaitChoice::file || combination.policy == Policy::federated) return;
    RandomOptions options;
    options.tasks = static_cast<int>(uniform(engine, 1, 12));
    options.cpus = static_cast<int>(uniform(engine, 1, 4));
    options.utilisation_percent = static_cast<int>(uniform(engine, 5, 60));
    options.best_effort_percent = 10;
    options.jitter = chance(engine, 30);
    options.constrained_deadlines = chance(engine, 30);
    options.overheads = true;
    Taskset taskset = random_taskset(engine, options);
    taskset.platform.gpus[0].overheads.time_slice = Duration::microseconds(uniform(engine, 100, 2000));
    taskset.platform.gpus[0].server_cpu = static_cast<int>(uniform(engine, 0, options.cpus - 1));
    const bool busy = combination.wait == WaitChoice::busy;
    const auto expected = naive_bounds(combination.policy, taskset, busy, combination.jitter);
    for (const auto& [name, bound] : bounds(taskset, options_of(combination))) {
      SCOPED_TRACE(name);
      ASSERT_EQ(bound ? std::optional(bound->count()) : std::nullopt, expected.at(name));
    }
  });
}

TEST(Properties, BoundsAreAtLeastTheDemandAndAtMostTheDeadline) {
  for_random(100, [](std::mt19937_64& engine, const Combination& combination) {
    const Taskset taskset = taskset_of(engine);
    const Result<AnalysisResult> result =
        analyze(testing::runnable(taskset, combination.policy), options_of(combination));
    ASSERT_TRUE(result);
    for (const TaskResult& each : result->tasks) {
      const Task& task = taskset.tasks[each.task];
      ASSERT_EQ(each.schedulable(), each.bound.has_value());
      ASSERT_EQ(each.reason.empty(), each.schedulable());
      if (!each.bound) continue;
      Duration demand = task.jitter;
      for (const Segment& segment : task.segments) {
        if (const auto* cpu = std::get_if<CpuSegment>(&segment)) demand += cpu->time.max;
        if (const auto* gpu = std::get_if<GpuSegment>(&segment)) demand += gpu->misc.max + gpu->exec->max;
      }
      ASSERT_GE(*each.bound, demand);
      ASSERT_LE(*each.bound, task.deadline);
    }
  });
}

// A change that can only make things worse: no bound may fall, and none may appear.
template <class Change, class Concerns>
void never_lowers(Change change, Concerns concerns) {
  for_random(40, [&](std::mt19937_64& engine, const Combination& combination) {
    if (!concerns(combination.policy)) return;
    Taskset taskset = taskset_of(engine);
    const auto before = bounds(taskset, options_of(combination));
    change(engine, taskset);
    const auto after = bounds(taskset, options_of(combination));
    for (const auto& [name, bound] : before) {
      SCOPED_TRACE(name);
      if (!after.at(name)) continue;
      ASSERT_TRUE(bound);
      ASSERT_GE(*after.at(name), *bound);
    }
  });
}

class ForTheWorsePublished : public ::testing::TestWithParam<Change> {};

// mpcp takes the time that a task spends on its core from the jitter of its critical sections; server takes what the
// server does for a task from the jitter of that.
bool may_lower(const Change& change, Policy policy) {
  if (policy != Policy::mpcp && policy != Policy::server) return false;
  const std::array names = {"more_misc", "a_longer_lock"};
  return std::ranges::find(names, change.name) != names.end() ||
         (policy == Policy::mpcp && std::string_view(change.name) == "more_cpu_time");
}

TEST_P(ForTheWorsePublished, NeverLowersABound) {
  never_lowers(GetParam().apply, [](Policy policy) { return !may_lower(GetParam(), policy); });
}

INSTANTIATE_TEST_SUITE_P(Changes, ForTheWorsePublished, ::testing::ValuesIn(testing::changes_for_the_worse()),
                         [](const auto& change) { return std::string(change.param.name); });

TEST(Properties, AnotherTaskNeverLowersABound) {
  never_lowers(testing::add_another_task, [](Policy) { return true; });
}

TEST(Properties, ScalingAllTimesScalesAllBounds) {
  for_random(100, [](std::mt19937_64& engine, const Combination& combination) {
    Taskset taskset = taskset_of(engine);
    const auto before = bounds(taskset, options_of(combination));
    const std::int64_t factor = uniform(engine, 2, 9);
    testing::scale_times(taskset, factor);
    for (const auto& [name, bound] : bounds(taskset, options_of(combination))) {
      SCOPED_TRACE(name);
      ASSERT_EQ(bound, before.at(name) ? std::optional(*before.at(name) * factor) : std::nullopt);
    }
  });
}

TEST(Properties, TheOrderOfTasksInTheFileChangesNothing) {
  for_random(100, [](std::mt19937_64& engine, const Combination& combination) {
    Taskset taskset = taskset_of(engine);
    const auto before = bounds(taskset, options_of(combination));
    testing::shuffle_tasks(engine, taskset);
    ASSERT_EQ(bounds(taskset, options_of(combination)), before);
  });
}

TEST(Properties, TheSearchNeverLosesASchedulableSetAndItsOrderPasses) {
  int found = 0;
  for_random(400, [&](std::mt19937_64& engine, const Combination& combination) {
    if (combination.policy != Policy::gcaps) return;
    const Taskset taskset = taskset_of(engine);
    AnalysisOptions options = options_of(combination);
    const Result<AnalysisResult> given = analyze(taskset, options);
    options.gpu_priorities = GpuPriorities::search;
    const Result<AnalysisResult> searched = analyze(taskset, options);
    ASSERT_TRUE(given && searched);
    ASSERT_TRUE(searched->schedulable || !given->schedulable);
    if (searched->gpu_priority_search != SearchOutcome::found) return;
    ++found;
    ASSERT_TRUE(searched->schedulable);
    // The order found, written into the taskset, passes without a search.
    Taskset ordered = taskset;
    int priority = static_cast<int>(searched->gpu_priority_order.size());
    for (const TaskIndex task : searched->gpu_priority_order) ordered.tasks[task].gpu_priority = priority--;
    options.gpu_priorities = GpuPriorities::file;
    const Result<AnalysisResult> again = analyze(ordered, options);
    ASSERT_TRUE(again && again->schedulable);
  });
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace rtgpu
