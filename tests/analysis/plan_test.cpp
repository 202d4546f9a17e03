#include "analysis/plan/margins.h"
#include "analysis/plan/proposals.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using testing::ns;
using testing::task;

constexpr std::uint64_t kPlanSeed = 20'260'102;

AnalysisOptions safe_under(Policy policy) {
  AnalysisOptions options;
  options.policy = policy;
  return options;
}

bool is_schedulable(const Taskset& taskset, Policy policy) {
  const Result<AnalysisResult> result = analyze(taskset, safe_under(policy));
  return result && result->schedulable;
}

std::vector<Margin> margins_of(const Taskset& taskset, Policy policy) {
  SearchWork work(std::numeric_limits<std::int64_t>::max());
  return find_margins(taskset, safe_under(policy), work);
}

TEST(Margins, OfATaskThatIsAloneAreItsDeadlineOverItsTime) {
  const std::vector<Margin> margins = margins_of(make_taskset({task("a", ms(4), {cpu(ms(1))})}), Policy::gcaps);
  ASSERT_EQ(margins.size(), 2U);
  EXPECT_EQ(margins[0].factor, 4 * kUnitFactor);
  EXPECT_EQ(margins[1].factor, 4 * kUnitFactor);
  EXPECT_EQ(margins[1].fails_first, TaskIndex{0});
  EXPECT_FALSE(margins[1].at_least);
}

// low: 5 + 2 jobs of high at most in 20; high grows to 7.5: 5 + 2 * 7.5 = 20. low to 14: 14 + 2 * 3 = 20; with 10 more
// ms it would meet a third job.
TEST(Margins, OfEachTaskByHand) {
  const Taskset taskset = make_taskset({task("high", ms(10), {cpu(ms(3))}), task("low", ms(20), {cpu(ms(5))})});
  const std::vector<Margin> margins = margins_of(taskset, Policy::mpcp);
  ASSERT_EQ(margins.size(), 3U);
  EXPECT_EQ(margins[0].factor, 1'818'181);  // 11 ms in 20
  EXPECT_EQ(margins[0].fails_first, TaskIndex{1});
  EXPECT_EQ(margins[1].factor, 2'500'000);
  EXPECT_EQ(margins[2].factor, 2'800'000);
}

// high waits for one section of low, 4, each request costing a lock: 2 + 4 + locks.
TEST(Margins, OfOverheadsThatAreThere) {
  Taskset taskset =
      make_taskset({task("high", ms(10), {gpu(ms(0), ms(2))}, 0), task("low", ms(100), {gpu(ms(0), ms(4))}, 1)});
  taskset.platform.gpus[0].overheads.lock = ms(1);
  const std::vector<Margin> margins = margins_of(taskset, Policy::mpcp);
  ASSERT_EQ(margins.size(), 4U);
  EXPECT_EQ(margins[3].grown.overhead, OverheadKind::lock);
  EXPECT_EQ(margins[3].factor, 2 * kUnitFactor);
  // Under gcaps it costs nothing.
  EXPECT_TRUE(margins_of(taskset, Policy::gcaps).back().at_least);
}

TEST(Margins, TimesAreRoundedUpAndNeverWrap) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ns(3)), gpu(ns(1), ns(7))})});
  const Taskset grown = with_grown_times(taskset, {}, 1'500'000);
  EXPECT_EQ(std::get<CpuSegment>(grown.tasks[0].segments[0]).time.max, ns(5));
  EXPECT_EQ(std::get<CpuSegment>(grown.tasks[0].segments[0]).time.min, ns(3));
  EXPECT_EQ(std::get<GpuSegment>(grown.tasks[0].segments[1]).exec->max, ns(11));
  std::get<CpuSegment>(taskset.tasks[0].segments[0]).time.max = ns(std::numeric_limits<std::int64_t>::max() / 2);
  const Taskset huge = with_grown_times(taskset, {.task = 0}, kMaxFactor);
  EXPECT_TRUE(std::get<CpuSegment>(huge.tasks[0].segments[0]).time.max.is_infinite());
}

TEST(Margins, AreTheLastMillionthThatPasses) {
  std::mt19937_64 engine(kPlanSeed);
  int checked = 0;
  for (int round = 0; round < 20; ++round) {
    const Taskset taskset = testing::random_taskset(engine, {.tasks = 5, .utilisation_percent = 25, .overheads = true});
    for (const Policy policy : {Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp}) {
      if (!is_schedulable(taskset, policy)) continue;
      for (const Margin& margin : margins_of(taskset, policy)) {
        ASSERT_TRUE(is_schedulable(with_grown_times(taskset, margin.grown, margin.factor), policy));
        if (margin.at_least) continue;
        ASSERT_FALSE(is_schedulable(with_grown_times(taskset, margin.grown, margin.factor + 1), policy));
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 50) << "seed " << kPlanSeed;
}

TEST(Margins, StopWhenTheyAreTold) {
  SearchWork work(40);
  EXPECT_LT(find_margins(load_case("gcaps-case-study.json"), safe_under(Policy::gcaps_wc), work).size(), 3U);
}

Proposals proposals_for(const Taskset& taskset, std::vector<Policy> now, std::vector<ChangeKind> allowed) {
  ProposalOptions options;
  options.policies = std::move(now);
  options.allowed = std::move(allowed);
  return find_proposals(taskset, options);
}

TEST(FindProposals, OnePriorityExchangeForExample2) {
  const Taskset taskset = load_case("gcaps-example2.json");
  const Proposals found = proposals_for(taskset, {Policy::gcaps_wc}, {ChangeKind::gpu_priorities});
  ASSERT_EQ(found.proposals.size(), 1U);
  EXPECT_THAT(found.proposals[0].kinds, ElementsAre(ChangeKind::gpu_priorities));
  EXPECT_EQ(found.proposals[0].changed_tasks, 2U);
  EXPECT_TRUE(found.complete);
}

TEST(FindProposals, ThePolicyAloneWhereThatIsEnough) {
  // Under the lock low holds back high for 8 ms.
  const Taskset taskset =
      make_taskset({task("high", ms(10), {gpu(ms(0), ms(5))}, 0), task("low", ms(100), {gpu(ms(0), ms(8))}, 1)});
  const Proposals found =
      proposals_for(taskset, {Policy::mpcp}, {ChangeKind::policy, ChangeKind::slices, ChangeKind::gpu_priorities});
  ASSERT_GE(found.proposals.size(), 2U);
  EXPECT_THAT(found.proposals[0].kinds, ElementsAre(ChangeKind::policy));
  EXPECT_EQ(found.proposals[0].policy, Policy::gcaps);
  EXPECT_THAT(found.proposals.back().kinds, ElementsAre(ChangeKind::slices));
  EXPECT_EQ(found.proposals.back().policy, Policy::mpcp);
  EXPECT_TRUE(proposals_for(taskset, {Policy::mpcp}, {ChangeKind::cores}).proposals.empty());
}

TEST(FindProposals, KindsTogetherWhereNoneAloneIsEnough) {
  // Two tasks that one core cannot bear, and a section below that the lock does not let go of.
  const Taskset taskset =
      make_taskset({task("a", ms(10), {cpu(ms(2)), gpu(ms(0), ms(4))}, 0), task("b", ms(10), {cpu(ms(9))}, 0),
                    task("low", ms(100), {gpu(ms(0), ms(8))}, 1)});
  const Proposals found = proposals_for(taskset, {Policy::mpcp}, {ChangeKind::slices, ChangeKind::cores});
  ASSERT_FALSE(found.proposals.empty());
  EXPECT_THAT(found.proposals[0].kinds, ElementsAre(ChangeKind::slices, ChangeKind::cores));
  EXPECT_TRUE(is_schedulable(found.proposals[0].taskset, Policy::mpcp));
}

// Of 8 SMs each task names 2, on which `slow` takes 20 ms; on 4 it takes 8, and meets its deadline.
TEST(FindProposals, SmsOfATaskThatHasTooFew) {
  Taskset taskset =
      make_taskset({task("slow", ms(10), {gpu(ms(0), ms(4))}, 0), task("other", ms(10), {gpu(ms(0), ms(4))}, 1)});
  taskset.platform.gpus[0].sms = 8;
  for (Task& each : taskset.tasks) {
    each.sms = 2;
    GpuSegment& segment = std::get<GpuSegment>(each.segments[0]);
    segment.exec.reset();
    segment.exec_by_sms = {{2, {ms(5), ms(5)}}, {4, {ms(5), ms(5)}}};
  }
  std::get<GpuSegment>(taskset.tasks[0].segments[0]).exec_by_sms = {{2, {ms(20), ms(20)}}, {4, {ms(8), ms(8)}}};
  const Proposals found = proposals_for(taskset, {Policy::federated}, {ChangeKind::sms, ChangeKind::slices});
  ASSERT_EQ(found.proposals.size(), 1U);
  EXPECT_THAT(found.proposals[0].kinds, ElementsAre(ChangeKind::sms));
  EXPECT_EQ(found.proposals[0].changed_tasks, 1U);
  EXPECT_EQ(found.proposals[0].taskset.tasks[0].sms, 4);
  EXPECT_EQ(found.proposals[0].taskset.tasks[1].sms, 2);
  EXPECT_TRUE(is_schedulable(found.proposals[0].taskset, Policy::federated));
  EXPECT_TRUE(proposals_for(taskset, {Policy::federated}, {ChangeKind::cores}).proposals.empty());
}

TEST(FindProposals, EachPassesAsItIsWritten) {
  std::mt19937_64 engine(kPlanSeed);
  std::size_t proposals = 0;
  for (int round = 0; round < 12; ++round) {
    const Taskset taskset = testing::random_taskset(engine, {.tasks = 5,
                                                             .gpu_percent = 60,
                                                             .utilisation_percent = 50,
                                                             .waits = testing::RandomOptions::Waits::mixed,
                                                             .separate_gpu_priorities = true,
                                                             .overheads = true});
    if (is_schedulable(taskset, Policy::gcaps)) continue;
    const auto all = all_change_kinds();
    const Proposals found = proposals_for(taskset, {Policy::gcaps}, {all.begin(), all.end()});
    for (const Proposal& proposal : found.proposals) {
      ASSERT_TRUE(is_schedulable(proposal.taskset, proposal.policy)) << "seed " << kPlanSeed << ", round " << round;
      ASSERT_TRUE(validate(proposal.taskset).empty());
      ASSERT_EQ(proposal.changed_tasks, count_changed_tasks(taskset, proposal.taskset));
      ++proposals;
    }
  }
  EXPECT_GT(proposals, 10U);
}

}  // namespace
}  // namespace rtgpu
