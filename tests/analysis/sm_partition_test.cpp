// The SMs of each task: as the taskset says, or found.
#include "analysis/search/sm_partition.h"

#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using testing::make_taskset;
using testing::ms;
using testing::task;
using testing::uniform;

// misc 0; exec on one, two and four SMs.
Segment by_sms(std::int64_t one, std::int64_t two, std::int64_t four) {
  GpuSegment segment;
  segment.exec_by_sms = {{1, {ms(one), ms(one)}}, {2, {ms(two), ms(two)}}, {4, {ms(four), ms(four)}}};
  return segment;
}

Taskset on_gpu(std::vector<Task> tasks, int sms) {
  Taskset taskset = make_taskset(std::move(tasks));
  taskset.platform.gpus[0].sms = sms;
  return taskset;
}

// a needs two SMs, b four; c is best-effort; d does not use the GPU.
Taskset two_and_four(int sms) {
  Taskset taskset = on_gpu({task("a", ms(15), {by_sms(20, 12, 10)}, 0), task("b", ms(12), {by_sms(40, 20, 12)}, 1),
                            task("c", ms(50), {by_sms(9, 9, 9)}, 1), task("d", ms(50), {cpu(ms(1))}, 2)},
                           sms);
  taskset.tasks[2].best_effort = true;
  return taskset;
}

SmPartition partition_of(const Taskset& taskset, WaitChoice wait = WaitChoice::file) {
  const Result<SmPartition> partition = sm_partition(taskset, wait);
  EXPECT_TRUE(partition) << (partition ? "" : to_string(partition.errors().front()));
  return partition ? *partition : SmPartition{};
}

Error refusal_of(const Taskset& taskset) {
  const Result<SmPartition> partition = sm_partition(taskset, WaitChoice::file);
  EXPECT_FALSE(partition);
  return partition ? Error{} : partition.errors().front();
}

TEST(SmPartition, IsTheOneThatTheTasksName) {
  Taskset taskset = two_and_four(9);
  for (Task& each : taskset.tasks) each.sms = 3;
  const SmPartition partition = partition_of(taskset);
  EXPECT_THAT(partition.sms, ElementsAre(3, 3, 3, 0));
  EXPECT_EQ(partition.search, SearchOutcome::not_needed);
  EXPECT_EQ(partition.method, SmSearch::not_needed);
}

TEST(SmPartition, IsFoundWithNoMoreThanEachTaskNeeds) {
  const SmPartition partition = partition_of(two_and_four(12));
  EXPECT_THAT(partition.sms, ElementsAre(2, 4, 1, 0));
  EXPECT_EQ(partition.search, SearchOutcome::found);
  EXPECT_EQ(partition_of(two_and_four(7)).sms, partition.sms);  // just enough
}

TEST(SmPartition, ThatThereIsNoneIsProved) {
  const SmPartition partition = partition_of(two_and_four(6));
  EXPECT_EQ(partition.search, SearchOutcome::none);
  EXPECT_EQ(partition.method, SmSearch::exact);
}

TEST(SmPartition, TheOthersAreFoundBesideThoseThatAreGiven) {
  Taskset taskset = two_and_four(12);
  taskset.tasks[0].sms = 5;
  EXPECT_THAT(partition_of(taskset).sms, ElementsAre(5, 4, 1, 0));
  taskset.tasks[0].sms = 1;
  EXPECT_EQ(partition_of(taskset).search, SearchOutcome::none);
}

// b waits on the core for the exec of a above it if that waits busily: then a needs more than its own deadline asks
// for.
TEST(SmPartition, DependsOnHowTasksWait) {
  const Taskset taskset = on_gpu({task("a", ms(30), {by_sms(20, 12, 10)}), task("b", ms(30), {cpu(ms(15))})}, 4);
  EXPECT_THAT(partition_of(taskset, WaitChoice::suspend).sms, ElementsAre(1, 0));
  EXPECT_THAT(partition_of(taskset, WaitChoice::busy).sms, ElementsAre(2, 0));
}

TEST(SmPartition, RefusesWhatItKnowsNothingOf) {
  Taskset taskset = on_gpu({task("a", ms(30), {cpu(ms(1)), gpu(ms(0), ms(5))}), task("b", ms(30), {cpu(ms(1))})}, 4);
  // exec alone is known on all SMs only.
  EXPECT_THAT(partition_of(taskset).sms, ElementsAre(4, 0));
  taskset.tasks[0].sms = 3;
  const Error unknown = refusal_of(taskset);
  EXPECT_EQ(unknown.code, ErrorCode::unsupported);
  EXPECT_EQ(unknown.place.pointer, "/tasks/0/segments/1/gpu");
  EXPECT_THAT(to_string(unknown), HasSubstr("no execution time on 3 of 4 SMs"));

  taskset.platform.gpus[0].sms.reset();
  EXPECT_EQ(refusal_of(taskset).place.pointer, "/platform/gpus/0/sms");
  EXPECT_THAT(to_string(refusal_of(two_and_four(2))), HasSubstr("at least 3 SMs"));
  taskset.platform.gpus.emplace_back();
  EXPECT_EQ(refusal_of(taskset).place.pointer, "/platform/gpus");
}

TEST(SmPartition, IsWrittenDown) {
  const Result<PartitionedTaskset> partitioned = on_sm_partition(two_and_four(7), WaitChoice::file);
  ASSERT_TRUE(partitioned);
  const Taskset& taskset = partitioned->taskset;
  EXPECT_EQ(taskset.tasks[1].sms, 4);
  EXPECT_EQ(taskset.tasks[3].sms, std::nullopt);
  const auto& work = std::get<GpuSegment>(taskset.tasks[1].segments[0]);
  EXPECT_EQ(work.exec, (ExecutionTime{ms(12), ms(12)}));
  EXPECT_EQ(whole_gpu_exec(work, 7), ms(12));
  EXPECT_TRUE(validate(taskset).empty());
  EXPECT_EQ(with_sms(two_and_four(7), partitioned->partition).tasks[2].sms, 1);
}

// --- against all partitions

Taskset system_of_few_sms(std::mt19937_64& engine) {
  std::vector<Task> tasks;
  const std::int64_t count = uniform(engine, 2, 4);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t exec = uniform(engine, 4, 24);
    std::vector<Segment> segments = {
        by_sms(exec, exec - uniform(engine, 0, exec / 2), exec / 2 - uniform(engine, 0, 2))};
    if (testing::chance(engine, 60)) segments.push_back(cpu(ms(uniform(engine, 1, 6))));
    if (testing::chance(engine, 40)) segments.push_back(CopySegment{{{}, ms(uniform(engine, 1, 4))}});
    tasks.push_back(task("t" + std::to_string(i), ms(uniform(engine, 12, 40)), std::move(segments),
                         static_cast<int>(uniform(engine, 0, 1))));
    if (testing::chance(engine, 40)) tasks.back().wait = WaitMode::busy;
  }
  return on_gpu(std::move(tasks), static_cast<int>(uniform(engine, count, 9)));
}

bool passes_on(Taskset taskset, const std::vector<int>& sms) {
  for (TaskIndex each = 0; each < sms.size(); ++each) taskset.tasks[each].sms = sms[each];
  const Result<AnalysisResult> result = analyze(taskset, {.policy = Policy::federated});
  return result && result->schedulable;
}

// Whether any partition of `left` SMs among the tasks from `place` on passes.
bool any_passes(const Taskset& taskset, std::vector<int>& sms, int left) {
  if (sms.size() == taskset.tasks.size()) return passes_on(taskset, sms);
  for (int own = 1; own <= left; ++own) {
    sms.push_back(own);
    const bool found = any_passes(taskset, sms, left - own);
    sms.pop_back();
    if (found) return true;
  }
  return false;
}

TEST(SmPartition, IsFoundExactlyIfThereIsOne) {
  const auto seed = std::random_device{}();
  int found = 0;
  int none = 0;
  for (unsigned trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial);
    std::mt19937_64 engine(seed + trial);
    const Taskset taskset = system_of_few_sms(engine);
    const SmPartition partition = partition_of(taskset);
    std::vector<int> tried;
    const bool exists = any_passes(taskset, tried, *taskset.platform.gpus[0].sms);
    ASSERT_EQ(partition.search, exists ? SearchOutcome::found : SearchOutcome::none);
    ASSERT_EQ(passes_on(taskset, partition.sms), exists);
    ++(exists ? found : none);
    for (TaskIndex each = 0; exists && each < taskset.tasks.size(); ++each) {
      std::vector<int> fewer = partition.sms;
      ASSERT_FALSE(--fewer[each] > 0 && passes_on(taskset, fewer)) << "task " << each << " could do with fewer";
    }
  }
  EXPECT_GT(found, 10);
  EXPECT_GT(none, 10);
}

}  // namespace
}  // namespace rtgpu
