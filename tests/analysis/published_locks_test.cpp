// The published analyses of mpcp and fmlp+: values worked out by hand.
#include "analysis/analysis.h"
#include "tests/support/build.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::gpu;
using testing::make_taskset;
using testing::ms;
using testing::task;
using MaybeBounds = std::vector<std::optional<Duration>>;

AnalysisResult published_lock(Policy policy, const Taskset& taskset, WaitChoice wait = WaitChoice::suspend) {
  EXPECT_TRUE(validate(taskset).empty());
  const auto result =
      analyze(taskset, {.policy = policy, .variant = Variant::published, .wait = wait, .explain = true});
  EXPECT_TRUE(result);
  return result ? *result : AnalysisResult{};
}

MaybeBounds published_lock_bounds(Policy policy, const Taskset& taskset, WaitChoice wait = WaitChoice::suspend) {
  MaybeBounds bounds;
  for (const TaskResult& each : published_lock(policy, taskset, wait).tasks) bounds.push_back(each.bound);
  return bounds;
}

Duration term_of(const TaskResult& result, Term term) {
  return result.terms[static_cast<std::size_t>(term)];
}

// a and c on core 0, b on core 1; a above b above c.
Taskset two_cores() {
  return make_taskset({task("a", ms(100), {cpu(ms(4)), gpu(ms(1), ms(3))}),
                       task("b", ms(100), {cpu(ms(10)), gpu(ms(1), ms(5))}, 1),
                       task("c", ms(200), {cpu(ms(5)), gpu(ms(2), ms(8)), gpu(ms(1), ms(4))})});
}

TEST(PublishedMpcp, HybridBoundsByHand) {
  // a: 8, of the sections below the longest, 10, and two boosted parts of c: in 22 ms and 192 ms of jitter there are
  // two
  //    of its jobs, so 2 twice.
  // b: 16, one section of a, 4, and the longest below, 10.
  // c: 20, a on the core, 5, and one section of a and of b, 10.
  EXPECT_EQ(published_lock_bounds(Policy::mpcp, two_cores()), (MaybeBounds{ms(22), ms(30), ms(35)}));
}

TEST(PublishedMpcp, ABusilyWaitingTaskKeepsTheCoreDuringItsExec) {
  EXPECT_EQ(published_lock_bounds(Policy::mpcp, two_cores(), WaitChoice::busy), (MaybeBounds{ms(22), ms(30), ms(38)}));
}

TEST(PublishedMpcp, TheTermsSayWhereItWaits) {
  const TaskResult a = published_lock(Policy::mpcp, two_cores()).tasks[0];
  EXPECT_EQ(term_of(a, Term::own), ms(8));
  EXPECT_EQ(term_of(a, Term::gpu_blocking), ms(10));
  EXPECT_EQ(term_of(a, Term::cpu_blocking), ms(4));
  ASSERT_EQ(a.contributions.size(), 3U);
  EXPECT_EQ(a.contributions[1].task, 2U);  // the longest section below is one of c
  EXPECT_EQ(a.contributions[2].jobs, 2);
  const TaskResult c = published_lock(Policy::mpcp, two_cores()).tasks[2];
  EXPECT_EQ(term_of(c, Term::cpu_preemption), ms(5));
  EXPECT_EQ(term_of(c, Term::gpu_preemption), ms(10));
}

TEST(PublishedMpcp, ARequestMeetsFewerSectionsThanTheResponse) {
  // h has six jobs while i responds, but a request of i waits for at most N(2, 2, 10) + 1 = 2 of them.
  const Taskset taskset =
      make_taskset({task("h", ms(10), {gpu(ms(0), ms(1))}), task("i", ms(200), {cpu(ms(50)), gpu(ms(0), ms(1))}, 1)});
  EXPECT_EQ(published_lock_bounds(Policy::mpcp, taskset), (MaybeBounds{ms(2), ms(53)}));
}

TEST(PublishedMpcp, WhereARequestMayWaitPastTheDeadlineTheResponseBoundsTheSections) {
  // h: 3 and a section of i. A request of i: N(B, 4, 6) + 1 sections of h, 12 in all.
  Taskset taskset = make_taskset({task("h", ms(6), {gpu(ms(0), ms(3))}), task("i", ms(11), {gpu(ms(0), ms(1))}, 1)});
  // i: 1 + N(R, 4, 6) 3.
  EXPECT_EQ(published_lock_bounds(Policy::mpcp, taskset), (MaybeBounds{ms(4), ms(7)}));
  taskset.tasks[1].deadline = ms(6);
  EXPECT_EQ(published_lock_bounds(Policy::mpcp, taskset), (MaybeBounds{ms(4), std::nullopt}));
}

TEST(PublishedFmlpPlus, BoundsByHand) {
  // a: 8, a section of b, 6, and two of c (before its release, and while it waits for b) as long as the longest, 10.
  // b: 16, a section of a, 4, and one of c, 10.
  // c: 20, two sections of b, 12, and a on the core, 5.
  EXPECT_EQ(published_lock_bounds(Policy::fmlp_plus, two_cores()), (MaybeBounds{ms(34), ms(30), ms(37)}));
  EXPECT_EQ(published_lock_bounds(Policy::fmlp_plus, two_cores(), WaitChoice::busy),
            (MaybeBounds{ms(34), ms(30), ms(40)}));
}

TEST(PublishedFmlpPlus, WithoutRemoteTasksATaskBelowBlocksOnce) {
  const Taskset taskset =
      make_taskset({task("high", ms(100), {gpu(ms(0), ms(10)), gpu(ms(0), ms(10))}),
                    task("low", ms(300), {gpu(ms(0), ms(5)), gpu(ms(0), ms(5))}), task("cpu", ms(300), {cpu(ms(1))})});
  const AnalysisResult result = published_lock(Policy::fmlp_plus, taskset);
  EXPECT_EQ(result.tasks[0].bound, ms(25));
  EXPECT_EQ(term_of(result.tasks[0], Term::cpu_blocking), ms(5));
  EXPECT_EQ(result.tasks[2].bound, ms(1));
}

TEST(PublishedLocks, TheLockIsPaidInEachSection) {
  Taskset taskset = make_taskset({task("a", ms(100), {gpu(ms(1), ms(3))}), task("b", ms(100), {gpu(ms(1), ms(5))}, 1)});
  taskset.platform.gpus[0].overheads.lock = ms(1);
  for (const Policy policy : {Policy::mpcp, Policy::fmlp_plus}) {
    const AnalysisResult result = published_lock(policy, taskset);
    EXPECT_EQ(result.tasks[0].bound, ms(5 + 7));
    EXPECT_EQ(term_of(result.tasks[0], Term::overhead), ms(1));
    EXPECT_EQ(term_of(result.tasks[0], Term::gpu_blocking), ms(7));
    EXPECT_EQ(result.tasks[1].bound, ms(7 + 5));
  }
}

TEST(PublishedLocks, BoundsTakeTheDeadlinesOfTasksBelowAsTrue) {
  Taskset taskset = two_cores();
  taskset.tasks[2].deadline = ms(22);
  for (const Policy policy : {Policy::mpcp, Policy::fmlp_plus}) {
    const AnalysisResult result = published_lock(policy, taskset);
    EXPECT_FALSE(result.schedulable);
    EXPECT_EQ(result.tasks[2].outcome, Outcome::not_schedulable);
    // mpcp: 21 ms and a jitter of 22 - 8 hold one job of c, with boosted parts of 2 and 1.
    EXPECT_EQ(result.tasks[0].bound, policy == Policy::mpcp ? ms(21) : ms(34));
  }
}

TEST(PublishedLocks, BestEffortTasksBlockAsTheLowest) {
  Taskset taskset = make_taskset({task("a", ms(100), {gpu(ms(1), ms(3))}), task("b", ms(100), {gpu(ms(1), ms(5))}, 1)});
  taskset.tasks[1].best_effort = true;
  for (const Policy policy : {Policy::mpcp, Policy::fmlp_plus}) {
    EXPECT_EQ(published_lock_bounds(policy, taskset), (MaybeBounds{ms(10)}));
  }
}

TEST(PublishedLocks, TimesAtTheLimitOfTheFormatDoNotWrap) {
  std::vector<Task> tasks;
  for (int i = 0; i < 300; ++i) tasks.push_back(task("t" + std::to_string(i), kMaxTime, {gpu(kMaxTime, kMaxTime)}));
  Taskset taskset = make_taskset(std::move(tasks));
  taskset.platform.gpus[0].overheads.lock = kMaxTime;
  for (const Policy policy : {Policy::mpcp, Policy::fmlp_plus}) {
    for (const TaskResult& each : published_lock(policy, taskset).tasks) ASSERT_FALSE(each.bound);
  }
}

}  // namespace
}  // namespace rtgpu
