// The policies as state machines: each rule by hand, and misuse. Every order of events is explored by
// gpu_policy_exploration_test.cpp.
#include "rtgpu/gpu_policy.h"

#include "rtgpu/policies/stream_priority.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::ElementsAre;

// Tasks from high to low GPU priority; the last `best_effort` of them are best-effort.
PolicySetup setup_of(std::size_t tasks, std::size_t best_effort = 0, int levels = 2) {
  PolicySetup setup;
  for (std::size_t task = 0; task < tasks; ++task) {
    setup.tasks.push_back({static_cast<int>(tasks - task), task + best_effort >= tasks, true});
  }
  setup.runlist_update = Duration::milliseconds(1);
  setup.context_switch = Duration::microseconds(200);
  setup.time_slice = Duration::milliseconds(1);
  setup.lock = Duration::microseconds(10);
  setup.stream_levels = levels;
  return setup;
}

std::unique_ptr<GpuPolicy> made(Policy policy, PolicySetup setup) {
  Result<std::unique_ptr<GpuPolicy>> result = make_policy(policy, std::move(setup));
  EXPECT_TRUE(result);
  return result ? std::move(*result) : nullptr;
}

// Enters a segment whose call is granted at once, and submits.
void enter_and_submit(GpuPolicy& policy, TaskId task) {
  ASSERT_EQ(policy.enter(task).granted, task);
  policy.entered(task);
  policy.submit(task);
}

void complete_and_leave(GpuPolicy& policy, TaskId task) {
  policy.complete(task);
  ASSERT_EQ(policy.leave(task).granted, task);
  policy.left(task);
}

TEST(Gcaps, TheGpuIsKeptForAnActiveSegmentThatHasNotSubmitted) {
  const auto gcaps = made(Policy::gcaps, setup_of(2));
  enter_and_submit(*gcaps, 1);
  EXPECT_EQ(gcaps->gpu().runs, 1U);
  gcaps->enter(0);
  EXPECT_EQ(gcaps->gpu().runs, 1U);  // takes effect at the end of the call
  EXPECT_TRUE(gcaps->entered(0).gpu_changed);
  EXPECT_EQ(gcaps->gpu().runs, kNobody);
  gcaps->submit(0);
  EXPECT_EQ(gcaps->gpu().runs, 0U);
  gcaps->complete(0);
  EXPECT_EQ(gcaps->gpu().runs, kNobody);  // until the end of its leave
  gcaps->leave(0);
  EXPECT_EQ(gcaps->gpu().runs, kNobody);
  gcaps->left(0);
  EXPECT_EQ(gcaps->gpu().runs, 1U);
}

TEST(GcapsWc, TheGpuIsNotKeptIdle) {
  const auto gcaps = made(Policy::gcaps_wc, setup_of(2));
  enter_and_submit(*gcaps, 1);
  gcaps->enter(0);
  gcaps->entered(0);
  EXPECT_EQ(gcaps->gpu().runs, 1U);
  gcaps->submit(0);
  EXPECT_EQ(gcaps->gpu().runs, 0U);
  gcaps->complete(0);
  EXPECT_EQ(gcaps->gpu().runs, 1U);
}

TEST(Gcaps, UpdatesWaitForTheMutexByRank) {
  const auto gcaps = made(Policy::gcaps, setup_of(4, 1));
  EXPECT_EQ(gcaps->enter(2).granted, 2U);
  EXPECT_EQ(gcaps->boosted(), 2U);
  EXPECT_EQ(gcaps->enter(3).granted, kNobody);  // best-effort
  EXPECT_EQ(gcaps->enter(1).granted, kNobody);
  EXPECT_EQ(gcaps->enter(0).granted, kNobody);
  EXPECT_EQ(gcaps->entered(2).granted, 0U);
  EXPECT_EQ(gcaps->boosted(), 0U);
  gcaps->submit(2);
  EXPECT_EQ(gcaps->entered(0).granted, 1U);
  EXPECT_EQ(gcaps->leave(0).granted, kNobody);  // a leave is an update too
  EXPECT_EQ(gcaps->entered(1).granted, 0U);
  EXPECT_EQ(gcaps->left(0).granted, 3U);
  EXPECT_EQ(gcaps->entered(3).granted, kNobody);
  EXPECT_EQ(gcaps->boosted(), kNobody);
}

// The three deadlocks of a published driver.
TEST(Gcaps, OneOfTwoBestEffortTasksLeavesAndTheOtherRunsOn) {
  const auto gcaps = made(Policy::gcaps, setup_of(2, 2));
  enter_and_submit(*gcaps, 0);
  enter_and_submit(*gcaps, 1);
  EXPECT_EQ(gcaps->gpu().runs, 0U);
  complete_and_leave(*gcaps, 0);
  EXPECT_EQ(gcaps->gpu().runs, 1U);
}

TEST(Gcaps, APreemptedTaskThatHadCompletedLeavesAndThePreemptorKeepsTheGpu) {
  const auto gcaps = made(Policy::gcaps, setup_of(2));
  enter_and_submit(*gcaps, 1);
  gcaps->complete(1);
  enter_and_submit(*gcaps, 0);
  gcaps->leave(1);
  gcaps->left(1);
  EXPECT_EQ(gcaps->gpu().runs, 0U);
}

TEST(Gcaps, AnUpdateIsNotSuppressedByWhatWasRunningBefore) {
  const auto gcaps = made(Policy::gcaps, setup_of(2));
  for (int round = 0; round < 3; ++round) {
    enter_and_submit(*gcaps, 0);
    EXPECT_EQ(gcaps->gpu().runs, 0U);
    complete_and_leave(*gcaps, 0);
    EXPECT_EQ(gcaps->gpu().runs, kNobody);
  }
  enter_and_submit(*gcaps, 1);
  EXPECT_EQ(gcaps->gpu().runs, 1U);
}

TEST(Gcaps, BestEffortWorkTakesTurnsOnlyWhileNoRealTimeSegmentIsActive) {
  const auto gcaps = made(Policy::gcaps, setup_of(3, 2));
  enter_and_submit(*gcaps, 1);
  enter_and_submit(*gcaps, 2);
  EXPECT_EQ(gcaps->gpu().runs, 1U);
  EXPECT_TRUE(gcaps->wants_boundary());
  gcaps->boundary(1);
  EXPECT_EQ(gcaps->gpu().runs, 2U);
  gcaps->boundary(2);
  EXPECT_EQ(gcaps->gpu().runs, 1U);
  gcaps->enter(0);
  gcaps->entered(0);
  EXPECT_EQ(gcaps->gpu().runs, kNobody);
  EXPECT_FALSE(gcaps->wants_boundary());
}

TEST(TsgRr, ContextsTakeTurnsAndPayForMoving) {
  const auto rr = made(Policy::tsg_rr, setup_of(3));
  enter_and_submit(*rr, 2);
  EXPECT_EQ(rr->gpu(), (GpuState{2, false}));
  EXPECT_FALSE(rr->wants_boundary());
  enter_and_submit(*rr, 0);
  enter_and_submit(*rr, 1);
  rr->boundary(2);
  EXPECT_EQ(rr->gpu(), (GpuState{0, true}));
  rr->boundary(0);
  EXPECT_EQ(rr->gpu(), (GpuState{1, true}));
  complete_and_leave(*rr, 1);
  EXPECT_EQ(rr->gpu(), (GpuState{2, true}));
  rr->complete(2);
  EXPECT_EQ(rr->gpu(), (GpuState{0, true}));
  rr->complete(0);
  EXPECT_EQ(rr->gpu().runs, kNobody);
  rr->leave(0);
  rr->left(0);
  enter_and_submit(*rr, 0);
  EXPECT_EQ(rr->gpu(), (GpuState{0, false}));  // the GPU is still where it was
}

TEST(Mpcp, TheLockGoesToTheHighestWaiter) {
  const auto mpcp = made(Policy::mpcp, setup_of(4, 1));
  enter_and_submit(*mpcp, 2);
  mpcp->enter(3);
  mpcp->enter(1);
  mpcp->enter(0);
  mpcp->complete(2);
  mpcp->leave(2);
  EXPECT_EQ(mpcp->left(2).granted, 0U);
  EXPECT_EQ(mpcp->boosted(), 0U);
  mpcp->entered(0);
  mpcp->submit(0);
  EXPECT_EQ(mpcp->boosted(), kNobody);  // while its work is with the GPU
  mpcp->complete(0);
  EXPECT_EQ(mpcp->boosted(), 0U);
  mpcp->leave(0);
  EXPECT_EQ(mpcp->left(0).granted, 1U);
  mpcp->entered(1);
  mpcp->leave(1);  // without having submitted
  EXPECT_EQ(mpcp->left(1).granted, 3U);
}

TEST(Mpcp, AtASliceBoundaryAHigherWaiterGoesFirstAndTheRestContinues) {
  const auto mpcp = made(Policy::mpcp, setup_of(3));
  enter_and_submit(*mpcp, 1);
  mpcp->enter(2);
  EXPECT_FALSE(mpcp->wants_boundary());
  mpcp->enter(0);
  EXPECT_TRUE(mpcp->wants_boundary());
  EXPECT_EQ(mpcp->boundary(1).granted, 0U);
  EXPECT_EQ(mpcp->gpu().runs, kNobody);
  mpcp->entered(0);
  mpcp->submit(0);
  mpcp->complete(0);
  mpcp->leave(0);
  mpcp->left(0);
  EXPECT_EQ(mpcp->gpu().runs, 1U);  // the rest of 1 goes before the request of 2
}

TEST(FmlpPlus, TheLockGoesByTheTimeOfTheRequest) {
  const auto fmlp = made(Policy::fmlp_plus, setup_of(3, 1));
  enter_and_submit(*fmlp, 1);
  fmlp->enter(2);
  fmlp->enter(0);
  EXPECT_FALSE(fmlp->wants_boundary());
  fmlp->complete(1);
  fmlp->leave(1);
  EXPECT_EQ(fmlp->left(1).granted, 2U);
}

TEST(Server, ServesOneRequestAfterAnotherByRank) {
  const auto server = made(Policy::server, setup_of(4, 1));
  EXPECT_EQ(server->enter_cost(), Duration::microseconds(10));
  EXPECT_EQ(server->leave_cost(), Duration::microseconds(10));
  EXPECT_EQ(server->enter(2).granted, 2U);
  EXPECT_EQ(server->served(), 2U);
  EXPECT_EQ(server->boosted(), kNobody);  // the client waits on its own core
  server->enter(3);
  server->enter(1);
  server->enter(0);
  server->entered(2);
  EXPECT_EQ(server->served(), 2U);  // misc
  server->submit(2);
  EXPECT_EQ(server->served(), kNobody);
  EXPECT_FALSE(server->wants_boundary());
  server->boundary(2);
  EXPECT_EQ(server->gpu().runs, 2U);  // is not preempted
  server->complete(2);
  EXPECT_EQ(server->served(), 2U);
  EXPECT_EQ(server->gpu().runs, kNobody);
  EXPECT_EQ(server->leave(2).granted, 2U);
  EXPECT_EQ(server->left(2).granted, 0U);
  EXPECT_EQ(server->cancel(0).granted, 1U);  // and goes on with the next
  server->cancel(1);
  EXPECT_EQ(server->served(), 3U);
}

TEST(StreamPriority, LevelsKeepTheOrderAndNeighboursShare) {
  const std::vector<PolicyTask> five = setup_of(5).tasks;
  EXPECT_THAT(stream_levels(five, 6), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(stream_levels(five, 3), ElementsAre(0, 0, 1, 1, 2));
  EXPECT_THAT(stream_levels(five, 1), ElementsAre(0, 0, 0, 0, 0));
  std::vector<PolicyTask> mixed = setup_of(5, 2).tasks;
  EXPECT_THAT(stream_levels(mixed, 3), ElementsAre(0, 0, 1, 2, 2));  // best-effort ones have the lowest to themselves
  mixed[0].uses_gpu = false;
  EXPECT_THAT(stream_levels(mixed, 3), ElementsAre(0, 0, 1, 2, 2));
}

TEST(StreamPriority, HardwareMayLetWorkOvertakeWhatThePolicyRuns) {
  const auto streams = made(Policy::stream_priority, setup_of(3, 0, 2));  // levels 0 0 1
  enter_and_submit(*streams, 0);
  enter_and_submit(*streams, 1);
  enter_and_submit(*streams, 2);
  const Decision overtaken = streams->overtaken(2);
  EXPECT_EQ(overtaken.misuse, Misuse::none);
  EXPECT_FALSE(overtaken.gpu_changed);
  EXPECT_EQ(streams->phase(2), Phase::completed);
  EXPECT_EQ(streams->overtaken(2).misuse, Misuse::not_running);  // it has nothing more to end
  EXPECT_EQ(streams->overtaken(0).misuse, Misuse::not_running);  // it runs: that is complete()
  streams->complete(0);
  EXPECT_EQ(streams->gpu().runs, 1U);
  streams->complete(1);
  EXPECT_EQ(streams->gpu().runs, kNobody);  // and not the work that has ended already
}

TEST(StreamPriority, NoOtherPolicyLetsWorkOvertake) {
  for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr}) {
    const auto made_policy = made(policy, setup_of(2));
    enter_and_submit(*made_policy, 0);
    made_policy->enter(1);
    made_policy->entered(1);
    made_policy->submit(1);
    EXPECT_EQ(made_policy->overtaken(1).misuse, Misuse::not_running);
    EXPECT_EQ(made_policy->phase(1), Phase::submitted);
  }
}

TEST(StreamPriority, AHigherLevelGetsInAtABlockBoundaryAndEqualsWait) {
  const auto streams = made(Policy::stream_priority, setup_of(4, 0, 2));  // levels 0 0 1 1
  enter_and_submit(*streams, 2);
  enter_and_submit(*streams, 3);
  EXPECT_FALSE(streams->wants_boundary());
  enter_and_submit(*streams, 1);
  EXPECT_TRUE(streams->wants_boundary());
  EXPECT_EQ(streams->gpu().runs, 2U);
  streams->boundary(2);
  EXPECT_EQ(streams->gpu().runs, 1U);
  enter_and_submit(*streams, 0);
  EXPECT_FALSE(streams->wants_boundary());  // the same level: first come, first served
  streams->complete(1);
  EXPECT_EQ(streams->gpu().runs, 0U);
  streams->complete(0);
  EXPECT_EQ(streams->gpu().runs, 2U);  // before 3, which was submitted later
}

TEST(Federated, AllSubmittedWorkRunsAndCompletesInAnyOrder) {
  const auto federated = made(Policy::federated, setup_of(3, 0, 2));
  EXPECT_TRUE(federated->runs_all_submitted());
  for (const TaskId task : {0U, 1U, 2U}) enter_and_submit(*federated, task);
  EXPECT_EQ(federated->gpu().runs, kNobody);
  EXPECT_FALSE(federated->wants_boundary());
  for (const TaskId task : {1U, 0U}) {
    const Decision decision = federated->complete(task);
    EXPECT_EQ(decision.misuse, Misuse::none);
    EXPECT_FALSE(decision.gpu_changed);
    EXPECT_EQ(federated->leave(task).granted, task);
    EXPECT_EQ(federated->left(task).misuse, Misuse::none);
  }
  EXPECT_EQ(federated->complete(0).misuse, Misuse::not_running);
  EXPECT_EQ(federated->overtaken(2).misuse, Misuse::not_running);
  EXPECT_EQ(federated->phase(2), Phase::submitted);
}

class EveryPolicy : public ::testing::TestWithParam<Policy> {};

TEST_P(EveryPolicy, RefusesEventsOutOfPlaceAndKeepsItsState) {
  const auto policy = made(GetParam(), setup_of(2));
  EXPECT_EQ(policy->enter(7).misuse, Misuse::unknown_task);
  EXPECT_EQ(policy->cancel(7).misuse, Misuse::unknown_task);
  EXPECT_EQ(policy->leave(0).misuse, Misuse::not_inside);
  EXPECT_EQ(policy->submit(0).misuse, Misuse::not_inside);
  EXPECT_EQ(policy->left(0).misuse, Misuse::not_inside);
  enter_and_submit(*policy, 0);
  EXPECT_EQ(policy->enter(0).misuse, Misuse::already_inside);
  EXPECT_EQ(policy->leave(0).misuse, Misuse::not_inside);  // its work is with the GPU
  EXPECT_EQ(policy->complete(1).misuse, Misuse::not_running);
  EXPECT_EQ(policy->boundary(1).misuse, Misuse::not_running);
  EXPECT_EQ(policy->gpu().runs, policy->runs_all_submitted() ? kNobody : 0U);
  EXPECT_EQ(policy->phase(0), Phase::submitted);
}

TEST_P(EveryPolicy, WorksWithEqualPrioritiesAndMoreThan64Tasks) {
  PolicySetup setup = setup_of(100);
  for (PolicyTask& task : setup.tasks) task.gpu_priority = 1;
  const auto policy = made(GetParam(), std::move(setup));
  EXPECT_EQ(policy->rank(0), 0U);
  EXPECT_EQ(policy->rank(99), 99U);
  for (TaskId task = 0; task < 100; ++task) {
    enter_and_submit(*policy, task);
    complete_and_leave(*policy, task);
  }
  EXPECT_EQ(policy->gpu().runs, kNobody);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority, Policy::federated,
                                           Policy::server),
                         [](const auto& policy) {
                           std::string name(to_string(policy.param));
                           for (char& c : name) {
                             if (c == '-' || c == '+') c = '_';
                           }
                           return name;
                         });

TEST(MakePolicy, SaysWhatIsMissing) {
  PolicySetup setup = setup_of(2, 0, 0);
  setup.time_slice = Duration();
  const auto rr = make_policy(Policy::tsg_rr, setup);
  ASSERT_FALSE(rr);
  EXPECT_EQ(rr.errors().front().place.pointer, "/platform/gpus/0/overheads/time_slice");
  const auto streams = make_policy(Policy::stream_priority, setup);
  ASSERT_FALSE(streams);
  EXPECT_EQ(streams.errors().front().place.pointer, "/platform/gpus/0/stream_priorities");
}

}  // namespace
}  // namespace rtgpu
