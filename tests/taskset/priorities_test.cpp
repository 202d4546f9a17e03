#include "taskset/taskset.h"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::ElementsAre;

Task make(const char* name, int deadline_ms, int period_ms, int priority = 0) {
  Task task;
  task.name = name;
  task.deadline = Duration::milliseconds(deadline_ms);
  task.period = Duration::milliseconds(period_ms);
  task.priority = task.gpu_priority = priority;
  return task;
}

std::vector<int> priorities(const Taskset& taskset) {
  std::vector<int> all;
  for (const Task& task : taskset.tasks) all.push_back(task.priority);
  return all;
}

TEST(MissingPriorities, AreDeadlineMonotonicThenByPeriodThenByName) {
  Taskset taskset;
  taskset.tasks = {make("b", 5, 9), make("late", 7, 7), make("a", 5, 9), make("short", 5, 8), make("first", 1, 100)};
  assign_missing_priorities(taskset, std::vector<bool>(5), std::vector<bool>(5));
  EXPECT_THAT(priorities(taskset), ElementsAre(2, 1, 3, 4, 5));
  EXPECT_EQ(taskset.tasks[4].gpu_priority, 5);
}

TEST(MissingPriorities, RankBelowTheGivenOnesOfTheirClass) {
  Taskset taskset;
  taskset.tasks = {make("a", 5, 5), make("given", 9, 9, 40), make("lower", 9, 9, 30),
                   make("b", 4, 4), make("idle", 1, 1),      make("idler", 2, 2)};
  taskset.tasks[4].best_effort = taskset.tasks[5].best_effort = true;
  assign_missing_priorities(taskset, {false, true, true, false, false, false},
                            {true, true, false, false, false, false});
  EXPECT_THAT(priorities(taskset), ElementsAre(28, 40, 30, 29, 2, 1));
  EXPECT_EQ(taskset.tasks[0].gpu_priority, 0) << "it was given";
  EXPECT_EQ(taskset.tasks[2].gpu_priority, 30);
  EXPECT_EQ(taskset.tasks[3].gpu_priority, 29);
}

TEST(MissingPriorities, StayWithinIntAndAreRejectedThere) {
  Taskset taskset;
  taskset.tasks = {make("a", 5, 5, std::numeric_limits<int>::min() + 1), make("b", 5, 5), make("c", 6, 6)};
  for (Task& task : taskset.tasks) task.segments.emplace_back(CpuSegment{});
  assign_missing_priorities(taskset, {true, false, false}, {false, false, false});
  EXPECT_EQ(taskset.tasks[1].priority, std::numeric_limits<int>::min());
  EXPECT_EQ(taskset.tasks[2].priority, std::numeric_limits<int>::min());
  EXPECT_FALSE(validate(taskset).empty());
}

TEST(WholeGpuExec, TakesWhatIsGivenBest) {
  const auto time = [](int ms) { return ExecutionTime{Duration(), Duration::milliseconds(ms)}; };
  GpuSegment segment;
  segment.parallel = ParallelWork{time(40), time(2), 1'500'000};
  EXPECT_EQ(whole_gpu_exec(segment, std::nullopt), std::nullopt);
  // (40 * 1.5 - 2) / (2 * 4) + 2 = 9.25
  EXPECT_EQ(whole_gpu_exec(segment, 4), Duration::microseconds(9250));
  // (40 * 1.5 - 2) / 6 + 2 = 11.666...
  EXPECT_EQ(whole_gpu_exec(segment, 3), Duration::nanoseconds(11'666'667));
  segment.exec_by_sms = {{2, time(20)}, {4, time(11)}, {8, time(7)}};
  EXPECT_EQ(whole_gpu_exec(segment, 6), Duration::milliseconds(11));
  EXPECT_EQ(whole_gpu_exec(segment, 8), Duration::milliseconds(7));
  EXPECT_EQ(whole_gpu_exec(segment, 1), Duration::milliseconds(31)) << "no entry exists: the bound of RTGPU";
  EXPECT_EQ(whole_gpu_exec(segment, std::nullopt), std::nullopt);
  segment.exec = time(10);
  EXPECT_EQ(whole_gpu_exec(segment, std::nullopt), Duration::milliseconds(10));
}

TEST(WholeGpuExec, DoesNotWrapForTheLargestTimes) {
  GpuSegment segment;
  segment.parallel = ParallelWork{{kMaxTime, kMaxTime}, {kMaxTime, kMaxTime}, 1'000'000'000};
  // (1000 W - W) / 2 + W = 500.5 W
  EXPECT_EQ(whole_gpu_exec(segment, 1), Duration::seconds(500'500'000));
}

TEST(GpuExecOn, IsWhatIsKnownOnThatManySms) {
  const auto time = [](int least, int most) {
    return ExecutionTime{Duration::milliseconds(least), Duration::milliseconds(most)};
  };
  GpuSegment segment;
  segment.exec = time(3, 10);
  EXPECT_EQ(gpu_exec_on(segment, 7, 8), std::nullopt);  // of the whole GPU alone
  EXPECT_EQ(gpu_exec_on(segment, 8, 8), time(3, 10));
  segment.parallel = ParallelWork{{Duration::nanoseconds(40), Duration::nanoseconds(40)},
                                  {Duration::nanoseconds(2), Duration::nanoseconds(2)},
                                  1'500'000};
  // 40 / 6 down; (40 * 1.5 - 2) / 6 + 2 up
  EXPECT_EQ(gpu_exec_on(segment, 3, 8), (ExecutionTime{Duration::nanoseconds(6), Duration::nanoseconds(12)}));
  EXPECT_EQ(gpu_exec_on(segment, 8, 8), (ExecutionTime{Duration::nanoseconds(2), Duration::nanoseconds(6)}));
  segment.parallel.reset();
  segment.exec.reset();
  segment.exec_by_sms = {{2, time(4, 20)}, {4, time(2, 11)}};
  EXPECT_EQ(gpu_exec_on(segment, 1, 8), std::nullopt);
  EXPECT_EQ(gpu_exec_on(segment, 2, 8), time(4, 20));
  EXPECT_EQ(gpu_exec_on(segment, 3, 8), time(4, 20));
  EXPECT_EQ(gpu_exec_on(segment, 8, 8), time(2, 11));
}

// More SMs never make it longer, also where one description takes over from the other.
TEST(GpuExecOn, NeverGrowsWithTheSms) {
  GpuSegment segment;
  segment.exec_by_sms = {{3, {Duration(), Duration::milliseconds(30)}}, {6, {Duration(), Duration::milliseconds(5)}}};
  segment.parallel = ParallelWork{{Duration(), Duration::milliseconds(40)}, {Duration(), Duration::milliseconds(2)}};
  Duration last = Duration::infinite();
  for (int sms = 1; sms <= 10; ++sms) {
    const auto exec = gpu_exec_on(segment, sms, 10);
    ASSERT_TRUE(exec);
    EXPECT_LE(exec->max, last) << sms;
    EXPECT_LE(exec->min, exec->max) << sms;
    last = exec->max;
  }
  EXPECT_EQ(gpu_exec_on(segment, 3, 10)->max, Duration::nanoseconds(8'333'334));  // (40 - 2) / 6 + 2
}

TEST(BestCases, AreGivenWhereOneIsBelowItsWorstCase) {
  Taskset taskset;
  Task task;
  const ExecutionTime one{Duration::milliseconds(1), Duration::milliseconds(1)};
  GpuSegment work;
  work.parallel = ParallelWork{one, one};
  work.exec_by_sms = {{1, one}};
  task.segments = {CpuSegment{one}, CopySegment{one}, work};
  taskset.tasks = {task};
  EXPECT_FALSE(gives_best_cases(taskset));
  auto& segment = std::get<GpuSegment>(taskset.tasks[0].segments[2]);
  segment.parallel->work.min = Duration();
  EXPECT_TRUE(gives_best_cases(taskset));
  segment.parallel.reset();
  EXPECT_FALSE(gives_best_cases(taskset));
  segment.exec_by_sms[0].time.min = Duration();
  EXPECT_TRUE(gives_best_cases(taskset));
}

}  // namespace
}  // namespace rtgpu
