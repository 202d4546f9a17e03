// Schedules of the policy server that were worked out by hand, and the rules of its checker.
#include "analysis/simulation/activity.h"
#include "analysis/simulation/simulator.h"
#include "tests/analysis/schedule_check_cases.h"
#include "tests/support/build.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::broken;
using ::testing::Contains;
using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using testing::interval_of;
using testing::make_taskset;
using testing::ms;
using testing::recorded;
using testing::task;

Taskset with_server(std::vector<Task> tasks, int server_cpu, Duration lock = {}) {
  Taskset taskset = make_taskset(std::move(tasks));
  taskset.platform.cpus = std::max(taskset.platform.cpus, server_cpu + 1);
  taskset.platform.gpus[0].server_cpu = server_cpu;
  taskset.platform.gpus[0].overheads.lock = lock;
  return taskset;
}

std::vector<Duration> completions(const Taskset& taskset, const std::vector<Duration>& offsets = {}) {
  std::vector<Duration> all(taskset.tasks.size());
  for (const JobRecord& job : recorded(taskset, Policy::server, offsets).jobs) all[job.task] = job.completion;
  return all;
}

TEST(ServerSimulation, ARequestIsServedOnTheCoreOfTheServer) {
  const Taskset taskset = with_server({task("a", ms(100), {cpu(ms(1)), gpu(ms(2), ms(3)), cpu(ms(1))})}, 1, ms(1));
  const Schedule schedule = recorded(taskset, Policy::server);
  EXPECT_THAT(schedule.cores, ElementsAre(CoreInterval{0, 0, ms(0), ms(1)}, CoreInterval{1, 0, ms(1), ms(4), true},
                                          CoreInterval{1, 0, ms(7), ms(8), true}, CoreInterval{0, 0, ms(8), ms(9)}));
  EXPECT_THAT(schedule.gpu, ElementsAre(GpuInterval{0, false, ms(4), ms(7)}));
  ASSERT_EQ(schedule.jobs.size(), 1U);
  EXPECT_EQ(schedule.jobs[0].completion, ms(9));
}

TEST(ServerSimulation, TheServerRunsAboveAllOnItsCore) {
  // Misc of l delays h, which has nothing to do with the GPU.
  const std::vector<Task> tasks = {task("h", ms(100), {cpu(ms(5))}, 0), task("l", ms(100), {gpu(ms(2), ms(3))}, 1)};
  EXPECT_THAT(completions(with_server(tasks, 0)), ElementsAre(ms(7), ms(5)));
  EXPECT_THAT(completions(with_server(tasks, 1)), ElementsAre(ms(5), ms(5)));
}

TEST(ServerSimulation, ClientsWaitInTheirWaitMode) {
  std::vector<Task> tasks = {task("client", ms(100), {gpu(ms(2), ms(3)), cpu(ms(1))}, 0),
                             task("other", ms(100), {cpu(ms(4))}, 0), task("first", ms(100), {gpu(ms(1), ms(1))}, 1)};
  const std::vector<Duration> offsets = {ms(1), ms(1), ms(0)};
  // first is served up to 2, client up to 7. Spinning is for locks.
  tasks[0].lock_wait = LockWait::spin;
  EXPECT_THAT(completions(with_server(tasks, 2), offsets), ElementsAre(ms(8), ms(5), ms(2)));
  tasks[0].wait = WaitMode::busy;
  EXPECT_THAT(completions(with_server(tasks, 2), offsets), ElementsAre(ms(8), ms(12), ms(2)));
}

TEST(ServerSimulation, AClientGoesOnWhenItHasItsCore) {
  // Its last segment ends at 5, when the core is taken.
  const Taskset taskset = with_server(
      {task("h", ms(100), {cpu(ms(4))}, 0), task("client", ms(100), {cpu(ms(1)), gpu(ms(1), ms(3))}, 0)}, 1);
  EXPECT_THAT(completions(taskset, {ms(3), ms(0)}), ElementsAre(ms(7), ms(7)));
}

TEST(ServerSimulation, RequestsAreServedByPriorityAndNotInterrupted) {
  std::vector<Task> tasks = {
      task("best", ms(100), {cpu(ms(1)), gpu(ms(0), ms(2))}, 0), task("a", ms(100), {cpu(ms(2)), gpu(ms(1), ms(3))}, 1),
      task("b", ms(100), {cpu(ms(1)), gpu(ms(1), ms(3))}, 2), task("c", ms(100), {gpu(ms(1), ms(4))}, 3)};
  std::get<GpuSegment>(tasks[3].segments[0]).slices = 4;
  tasks[0].best_effort = true;
  EXPECT_THAT(completions(with_server(tasks, 4)), ElementsAre(ms(15), ms(9), ms(13), ms(5)));
}

TEST(ServerSimulation, ActivitiesTellTheServerFromTheClient) {
  Taskset taskset = with_server({task("a", ms(100), {gpu(ms(2), ms(3))}, 0)}, 1);
  taskset.tasks[0].wait = WaitMode::busy;
  const auto all = activities(recorded(taskset, Policy::server), 1);
  ASSERT_EQ(all[0].size(), 2U);
  EXPECT_EQ(all[0][0].activity, Activity::misc);
  EXPECT_TRUE(all[0][0].by_server);
  EXPECT_TRUE(all[0][0].holds_core);
  EXPECT_FALSE(all[0][1].by_server);
}

// --- the checker

Taskset two_clients() {
  return with_server(
      {task("a", ms(100), {cpu(ms(2)), gpu(ms(1), ms(4))}, 0), task("b", ms(100), {gpu(ms(2), ms(6))}, 1),
       task("c", ms(100), {cpu(ms(1)), gpu(ms(1), ms(3))}, 1)},
      0, Duration::microseconds(500));
}

TEST(ServerScheduleRules, TheServerWorksOnItsCoreWhereItHasWork) {
  const Taskset taskset = two_clients();
  const Schedule legal = recorded(taskset, Policy::server);
  const auto by_server = [](const CoreInterval& each) { return each.by_server; };
  Schedule schedule = legal;
  std::ranges::find_if(schedule.cores, by_server)->by_server = false;
  EXPECT_THAT(broken(taskset, Policy::server, schedule), Contains(ScheduleRule::core));
  schedule = legal;
  std::ranges::find_if(schedule.cores, [](const CoreInterval& each) {
    return each.core == 0 && !each.by_server;
  })->by_server = true;
  EXPECT_THAT(broken(taskset, Policy::server, schedule), Contains(ScheduleRule::core));
  schedule = legal;
  schedule.cores.erase(std::ranges::find_if(schedule.cores, by_server));
  EXPECT_THAT(broken(taskset, Policy::server, schedule), Contains(ScheduleRule::core));
  Taskset elsewhere = taskset;
  elsewhere.platform.gpus[0].server_cpu = 1;
  EXPECT_THAT(broken(elsewhere, Policy::server, legal), Contains(ScheduleRule::interval));
  EXPECT_THAT(broken(taskset, Policy::mpcp, legal), Contains(ScheduleRule::interval));
}

TEST(ServerScheduleRules, OneRequestIsServedAfterAnotherByPriority) {
  const Taskset taskset = two_clients();
  const Schedule legal = recorded(taskset, Policy::server);
  Taskset other = taskset;
  std::swap(other.tasks[0].gpu_priority, other.tasks[2].gpu_priority);
  EXPECT_THAT(broken(other, Policy::server, legal), ElementsAre(ScheduleRule::handover));
  Schedule schedule = legal;
  interval_of(schedule, 2, JobState::enter_waiting).state = JobState::misc;
  EXPECT_THAT(broken(taskset, Policy::server, schedule), Contains(ScheduleRule::one_holder));
  schedule = legal;
  interval_of(schedule, 0, JobState::misc).state = JobState::enter_waiting;
  EXPECT_THAT(broken(taskset, Policy::server, schedule), Contains(ScheduleRule::one_holder));
  schedule = legal;
  schedule.gpu.front().end -= ms(1);
  EXPECT_THAT(broken(taskset, Policy::server, schedule), Contains(ScheduleRule::gpu_interruption));
}

TEST(ServerScheduleRules, TakingOverAndWakingCost) {
  Taskset taskset = two_clients();
  const Schedule legal = recorded(taskset, Policy::server);
  taskset.platform.gpus[0].overheads.lock = Duration::microseconds(400);
  EXPECT_THAT(broken(taskset, Policy::server, legal), Contains(ScheduleRule::execution_time));
}

}  // namespace
}  // namespace rtgpu
