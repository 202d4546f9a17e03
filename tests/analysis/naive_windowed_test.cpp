// The windowed recurrences and their iteration agree with naive ones.
#include "tests/analysis/naive_windowed.h"

#include "tests/analysis/safe_analyses.h"
#include "tests/support/attack_targets.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::attack_target;
using testing::chance;
using testing::safe_bounds;
using testing::SafeAnalysis;
using testing::uniform;

Duration up_to(std::mt19937_64& engine, std::int64_t limit) {
  return Duration::nanoseconds(uniform(engine, 0, limit));
}

WindowKind any_kind(std::mt19937_64& engine) {
  constexpr std::array kKinds = {WindowKind::host, WindowKind::gpu, WindowKind::copy};
  return kKinds[static_cast<std::size_t>(uniform(engine, 0, 2))];
}

Duration any_jitter(std::mt19937_64& engine) {
  return chance(engine, 4) ? Duration::infinite() : up_to(engine, 60);
}

void add_random_windows(std::mt19937_64& engine, WindowedRecurrence& recurrence) {
  const std::int64_t windows = uniform(engine, 1, 5);
  for (std::int64_t place = 0; place < windows; ++place) {
    Window window;
    window.kind = any_kind(engine);
    window.own = chance(engine, 25) ? Duration() : up_to(engine, 12);
    if (chance(engine, 40)) window.tail = up_to(engine, window.own.count());
    window.units = uniform(engine, 0, 3);
    if (chance(engine, 20)) window.lead = up_to(engine, 20);
    window.meets_blocker = chance(engine, 40);
    recurrence.windows.push_back(window);
    if (chance(engine, 30)) {
      recurrence.block(static_cast<std::size_t>(place), Term::gpu_blocking, kNoTask, uniform(engine, 0, 2),
                       up_to(engine, 4));
    }
  }
}

void add_random_group(std::mt19937_64& engine, WindowedRecurrence& recurrence) {
  const WindowKinds kinds = chance(engine, 60) ? WindowKinds(any_kind(engine)) : any_kind(engine) | any_kind(engine);
  recurrence.add_group(Term::gpu_preemption, 0, kinds);
  const Duration period = Duration::nanoseconds(uniform(engine, 5, 80));
  const std::int64_t streams = uniform(engine, 0, 3);
  for (std::int64_t place = 0; place < streams; ++place) {
    const Duration cost = chance(engine, 2) ? Duration::infinite() : up_to(engine, 8);
    recurrence.add_stream({cost, period, any_jitter(engine), any_jitter(engine), any_jitter(engine)});
  }
  if (chance(engine, 40)) recurrence.add_together(period, up_to(engine, 100));
  if (chance(engine, 30)) recurrence.groups.back().unit = up_to(engine, 10);
}

void add_random_blockers(std::mt19937_64& engine, WindowedRecurrence& recurrence) {
  for (std::int64_t rest = uniform(engine, 0, 3); rest > 0; --rest) {
    recurrence.blockers.push_back({Term::gpu_blocking, 0, up_to(engine, 8), uniform(engine, 1, 2),
                                   Duration::nanoseconds(uniform(engine, 5, 80)), any_jitter(engine)});
  }
  std::ranges::sort(recurrence.blockers, std::ranges::greater(), &Blocker::length);
}

WindowedRecurrence random_recurrence(std::mt19937_64& engine) {
  WindowedRecurrence recurrence;
  add_random_windows(engine, recurrence);
  add_random_blockers(engine, recurrence);
  const std::int64_t groups = uniform(engine, 0, 5);
  const std::int64_t joints = uniform(engine, 0, 2);
  for (std::int64_t place = 0; place < joints; ++place) {
    const Duration cost = chance(engine, 5) ? Duration::infinite() : up_to(engine, 12);
    recurrence.joints.push_back({cost, Duration::nanoseconds(uniform(engine, 5, 80)), any_jitter(engine)});
  }
  for (std::int64_t place = 0; place < groups; ++place) {
    add_random_group(engine, recurrence);
    const std::int64_t joint = uniform(engine, 0, joints);
    if (joint < joints) recurrence.groups.back().joint = static_cast<std::size_t>(joint);
  }
  return recurrence;
}

std::vector<std::optional<std::int64_t>> optional_nanoseconds(const std::vector<Duration>& times) {
  std::vector<std::optional<std::int64_t>> all;
  for (const Duration time : times) all.push_back(time.is_infinite() ? std::nullopt : std::optional(time.count()));
  return all;
}

std::vector<Duration> durations(const std::vector<std::int64_t>& nanoseconds) {
  std::vector<Duration> all;
  for (const std::int64_t each : nanoseconds) all.push_back(Duration::nanoseconds(each));
  return all;
}

TEST(Windowed, AgreesWithTheNaiveReference) {
  const auto seed = std::random_device{}();
  int bounded = 0;
  int unbounded = 0;
  for (unsigned trial = 0; trial < 1500; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial);
    std::mt19937_64 engine(seed + trial);
    const WindowedRecurrence recurrence = random_recurrence(engine);
    const Duration cap = up_to(engine, chance(engine, 50) ? 60 : 250);
    WorkBudget budget;
    WindowedSolution solution;
    solve(recurrence, cap, budget, solution);
    const testing::NaiveSolution naive = testing::naive_solve(recurrence, cap);
    ASSERT_EQ(optional_nanoseconds(solution.lengths), naive.lengths);
    ASSERT_EQ(optional_nanoseconds(solution.completions), naive.completions);
    ASSERT_EQ(solution.charged, durations(naive.charged));
    ASSERT_EQ(solution.met, naive.met);
    const Duration whole = solution.completions.back();
    ++(whole.is_infinite() ? unbounded : bounded);
    if (whole.is_infinite()) continue;
    // The parts add up.
    Duration sum;
    for (const Window& window : recurrence.windows) sum += window.own + window.blocking;
    for (const Duration charged : solution.charged) sum += charged;
    for (std::size_t place = 0; place < solution.met.size(); ++place) {
      sum += recurrence.blockers[place].length * solution.met[place];
    }
    ASSERT_EQ(sum, whole);
  }
  EXPECT_GT(bounded, 100);
  EXPECT_GT(unbounded, 100);
}

TEST(Windowed, StopsWhenTheBudgetIsSpent) {
  WindowedRecurrence recurrence;
  recurrence.windows.push_back({WindowKind::host, Duration::nanoseconds(1), {}, 1, {}});
  recurrence.add_group(Term::cpu_preemption, 0, WindowKind::host);
  // All time is taken: one nanosecond a step, for 200 years.
  recurrence.add_stream({Duration::nanoseconds(1), Duration::nanoseconds(1), {}, {}, {}});
  WorkBudget budget{10'000};
  WindowedSolution solution;
  solve(recurrence, Duration::seconds(6'000'000'000), budget, solution);
  EXPECT_TRUE(solution.completions.back().is_infinite());
  EXPECT_LE(budget.evaluations, 0);
}

TEST(Windowed, SumsBeyondTheRangeAreNoBound) {
  const Duration large = Duration::nanoseconds(4'000'000'000'000'000'000);
  WindowedRecurrence recurrence;
  recurrence.windows.push_back({WindowKind::host, large, {}, 1, {}});
  recurrence.add_group(Term::cpu_preemption, 0, WindowKind::host);
  recurrence.add_stream({large, large, {}, {}, {}});
  WorkBudget budget;
  WindowedSolution solution;
  solve(recurrence, Duration::nanoseconds(9'000'000'000'000'000'000), budget, solution);
  EXPECT_TRUE(solution.lengths[0].is_infinite());
  EXPECT_TRUE(solution.completions[0].is_infinite());
}

// The least consistent bounds are the same in whatever order the tasks are taken.
class SafeIteration : public ::testing::TestWithParam<SafeAnalysis> {};

TEST_P(SafeIteration, FindsTheLeastConsistentBounds) {
  const auto seed = std::random_device{}();
  for (unsigned trial = 0; trial < 60; ++trial) {
    std::mt19937_64 engine(seed + trial);
    const Taskset taskset = attack_target(engine);
    AnalysisOptions options;
    options.policy = GetParam().policy;
    options.wait = std::array{WaitChoice::suspend, WaitChoice::busy, WaitChoice::file}[trial % 3];
    options.jitter = chance(engine, 30) ? JitterSource::deadline : JitterSource::response;
    options.beyond_deadline = chance(engine, 20);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial);
    const Result<StagedModel> model = StagedModel::of(taskset, options.wait);
    ASSERT_TRUE(model);
    std::vector<TaskIndex> order(model->order().cpu_order().rbegin(), model->order().cpu_order().rend());
    if (chance(engine, 50)) std::shuffle(order.begin(), order.end(), engine);
    const auto naive = testing::naive_bounds(*model, GetParam().build, options, order);
    for (const TaskResult& result : safe_bounds(taskset, options)) {
      ASSERT_EQ(result.bound, naive[result.task]) << taskset.tasks[result.task].name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, SafeIteration, ::testing::ValuesIn(testing::safe_analyses()),
                         [](const auto& analysis) { return testing::test_name(analysis.param.policy); });

}  // namespace
}  // namespace rtgpu
