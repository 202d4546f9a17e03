// Generated tasksets: valid, as their parameters say, and the same everywhere.
#include "taskset/generators/gcaps_table3.h"
#include "taskset/generators/random.h"
#include "taskset/taskset.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

TEST(Random, IsTheSameEverywhere) {
  Random random(1);
  EXPECT_EQ(random.bits(), 0x910A2DEC89025CC1U);  // of the published algorithm
  EXPECT_NE(seed_of(1, 0), seed_of(1, 1));
  EXPECT_NE(seed_of(1, 0), seed_of(2, 0));
}

TEST(Random, StaysInItsRangeAndReachesItsEnds) {
  Random random(7);
  std::vector<int> seen(5);
  for (int draw = 0; draw < 1'000; ++draw) {
    const std::int64_t value = random.between(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    ++seen[static_cast<std::size_t>(value + 2)];
  }
  EXPECT_GT(*std::ranges::min_element(seen), 150);
  EXPECT_EQ(random.between(3, 3), 3);
}

// Each share of a uniform split into n has the mean total / n, and exceeds total / 2 with probability (1/2)^(n - 1).
TEST(SplitUniformly, HasTheMarginalsOfAUniformSplit) {
  constexpr std::int64_t kTotal = 1'000'000;
  constexpr int kTrials = 20'000;
  Random random(3);
  std::vector<double> sums(4);
  std::vector<int> large(4);
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<std::int64_t> shares = split_uniformly(random, kTotal, 4);
    ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), kTotal);
    ASSERT_GE(*std::ranges::min_element(shares), 0);
    for (std::size_t place = 0; place < 4; ++place) {
      sums[place] += static_cast<double>(shares[place]);
      if (shares[place] > kTotal / 2) ++large[place];
    }
  }
  for (std::size_t place = 0; place < 4; ++place) {
    EXPECT_NEAR(sums[place] / kTrials / kTotal, 0.25, 0.006);
    EXPECT_NEAR(static_cast<double>(large[place]) / kTrials, 0.125, 0.01);
  }
}

// The first of an uneven split into n is the largest of n - 1 uniform numbers, with the mean (n - 1) / n; the next one
// likewise of the rest.
TEST(SplitUnevenly, GivesMostToTheFirst) {
  constexpr std::int64_t kTotal = 1'000'000;
  constexpr int kTrials = 20'000;
  Random random(5);
  std::vector<double> sums(4);
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::vector<std::int64_t> shares = split_unevenly(random, kTotal, 4);
    ASSERT_EQ(std::accumulate(shares.begin(), shares.end(), std::int64_t{0}), kTotal);
    ASSERT_GE(*std::ranges::min_element(shares), 0);
    for (std::size_t place = 0; place < 4; ++place) sums[place] += static_cast<double>(shares[place]);
  }
  const std::vector<double> means = {3.0 / 4, 1.0 / 4 * 2 / 3, 1.0 / 4 / 3 / 2, 1.0 / 4 / 3 / 2};
  for (std::size_t place = 0; place < 4; ++place) EXPECT_NEAR(sums[place] / kTrials / kTotal, means[place], 0.006);
  EXPECT_EQ(split_unevenly(random, 10, 1), (std::vector<std::int64_t>{10}));
  EXPECT_TRUE(split_unevenly(random, 10, 0).empty());
}

// Whole hundredths for each task, and as many tasks a core as were drawn for it.
TEST(GcapsTable3, DrawnAsTheProgramDoes) {
  GcapsTable3 parameters;
  parameters.as_program = true;
  parameters.utilisation_per_cpu = {300'000, 300'000};
  parameters.gpu_share = {0, 0};
  double largest = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Taskset taskset = generate(parameters, seed);
    ASSERT_TRUE(validate(taskset).empty());
    std::vector<int> tasks_of(4);
    std::int64_t most = 0;
    for (const Task& task : taskset.tasks) {
      const std::int64_t hundredths = std::get<CpuSegment>(task.segments.front()).time.max.count() * 100;
      ASSERT_EQ(hundredths % task.period.count(), 0);
      ASSERT_GE(hundredths, task.period.count());
      most = std::max(most, hundredths / task.period.count());
      ++tasks_of[static_cast<std::size_t>(task.cpu)];
    }
    ASSERT_GE(*std::ranges::min_element(tasks_of), 3);
    ASSERT_LE(*std::ranges::max_element(tasks_of), 6);
    largest += static_cast<double>(most) / 300;
  }
  // The largest of four cores' first shares, of which one alone has a mean of 0.23; split uniformly it would be 0.21.
  EXPECT_GT(largest, 26);
}

TEST(SplitUniformly, OfNoneOrOne) {
  Random random(3);
  EXPECT_TRUE(split_uniformly(random, 10, 0).empty());
  EXPECT_EQ(split_uniformly(random, 10, 1), (std::vector<std::int64_t>{10}));
}

TEST(GcapsTable3, TasksetsAreValidAndAsTheParametersSay) {
  const GcapsTable3 parameters;
  double utilisation = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Taskset taskset = generate(parameters, seed);
    ASSERT_TRUE(validate(taskset).empty());
    ASSERT_EQ(taskset.platform.cpus, 4);
    ASSERT_GE(taskset.tasks.size(), 12U);
    ASSERT_LE(taskset.tasks.size(), 24U);
    for (const Task& task : taskset.tasks) {
      ASSERT_GE(task.period, Duration::milliseconds(30));
      ASSERT_LE(task.period, Duration::milliseconds(500));
      Duration total;
      for (const Segment& segment : task.segments) {
        if (const auto* cpu = std::get_if<CpuSegment>(&segment)) total += cpu->time.max;
        if (const auto* gpu = std::get_if<GpuSegment>(&segment)) total += gpu->misc.max + gpu->exec->max;
      }
      utilisation += static_cast<double>(total.count()) / static_cast<double>(task.period.count());
      for (const Task& other : taskset.tasks) {
        if (task.period < other.period) {
          ASSERT_GT(task.priority, other.priority);
        }
      }
    }
  }
  EXPECT_NEAR(utilisation / 300, 4 * 0.5, 0.03);
}

TEST(GcapsTable3, TheSameSeedGivesTheSameTaskset) {
  const GcapsTable3 parameters;
  EXPECT_EQ(generate(parameters, 5), generate(parameters, 5));
  EXPECT_NE(generate(parameters, 5), generate(parameters, 6));
}

TEST(GcapsTable3, ParametersMayBeFixed) {
  GcapsTable3 parameters;
  parameters.utilisation_per_cpu = {200'000, 200'000};
  parameters.gpu_share = {1'000'000, 1'000'000};
  parameters.gpu_segments = {2, 2};
  const Taskset taskset = generate(parameters, 1);
  for (const Task& task : taskset.tasks) EXPECT_EQ(task.segments.size(), 5U);
}

// Each task's utilisation is uniform on 0.05 ... 0.3, whatever the number of cores.
TEST(GcapsTable3, WithANumberOfTasksEachHasAUtilisationOfItsOwn) {
  GcapsTable3 parameters;
  parameters.cpus = 3;
  parameters.tasks = 10;
  double sum = 0;
  int below_a_tenth = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Taskset taskset = generate(parameters, seed);
    ASSERT_TRUE(validate(taskset).empty());
    ASSERT_EQ(taskset.tasks.size(), 10U);
    ASSERT_EQ(taskset.origin->requested.size(), 3U);
    for (std::size_t cpu = 0; cpu < 3; ++cpu) {
      // Each part of a task is rounded down to whole nanoseconds.
      ASSERT_NEAR(static_cast<double>(taskset.origin->achieved[cpu]),
                  static_cast<double>(taskset.origin->requested[cpu]), 4);
    }
    for (const Task& task : taskset.tasks) {
      Taskset alone = taskset;
      alone.tasks = {task};
      const std::vector<std::int64_t> each = utilisation_per_cpu(alone);
      const auto utilisation = std::accumulate(each.begin(), each.end(), std::int64_t{0});
      ASSERT_GE(utilisation, 49'999);
      ASSERT_LE(utilisation, 300'000);
      sum += static_cast<double>(utilisation);
      if (utilisation < 100'000) ++below_a_tenth;
    }
  }
  EXPECT_NEAR(sum / 4'000, 175'000, 4'000);
  EXPECT_NEAR(below_a_tenth / 4'000.0, 0.2, 0.025);
}

// A third of 10 tasks is 3 of them; over many tasksets each task is among them in 3 of 10.
TEST(GcapsTable3, AShareOfTheTasksIsBestEffort) {
  GcapsTable3 parameters;
  parameters.tasks = 10;
  parameters.best_effort_share = {333'333, 333'333};
  std::vector<int> chosen(10);
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    const Taskset taskset = generate(parameters, seed);
    ASSERT_TRUE(validate(taskset).empty());
    int best_effort = 0;
    for (std::size_t place = 0; place < taskset.tasks.size(); ++place) {
      const Task& task = taskset.tasks[place];
      if (!task.best_effort) continue;
      ++best_effort;
      ++chosen[place];
      for (const Task& other : taskset.tasks) ASSERT_TRUE(other.best_effort || other.priority > task.priority);
    }
    ASSERT_EQ(best_effort, 3);
  }
  for (const int count : chosen) EXPECT_NEAR(count / 2'000.0, 0.3, 0.05);
}

TEST(GcapsTable3, NoneIsBestEffortUnlessAskedForAndTheOthersStayTheSame) {
  GcapsTable3 parameters;
  const Taskset before = generate(parameters, 3);
  EXPECT_TRUE(std::ranges::none_of(before.tasks, &Task::best_effort));
  parameters.best_effort_share = {0, 1'000'000};
  const Taskset after = generate(parameters, 3);
  ASSERT_EQ(after.tasks.size(), before.tasks.size());
  for (std::size_t place = 0; place < before.tasks.size(); ++place) {
    EXPECT_EQ(after.tasks[place].segments, before.tasks[place].segments);
    EXPECT_EQ(after.tasks[place].cpu, before.tasks[place].cpu);
  }
  parameters.best_effort_share = {1'000'000, 1'000'000};
  EXPECT_TRUE(std::ranges::all_of(generate(parameters, 3).tasks, &Task::best_effort));
}

}  // namespace
}  // namespace rtgpu
