// Each rule of the schedule checker about the GPU, its lock and the mutex of the updates can be broken.
#include "analysis/simulation/schedule_check.h"
#include "tests/analysis/schedule_check_cases.h"
#include "tests/support/build.h"

#include <algorithm>
#include <optional>
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
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using testing::recorded;
using testing::task;
using testing::three_tasks;
using testing::work_of;

void swap_gpu_priorities(Taskset& taskset, TaskIndex a, TaskIndex b) {
  std::swap(taskset.tasks[a].gpu_priority, taskset.tasks[b].gpu_priority);
}

TEST(GpuScheduleRules, GpuWorkIsWhatWasSubmitted) {
  const Taskset taskset = make_taskset({task("a", ms(100), {gpu(ms(3), ms(4)), cpu(ms(1))})});
  const Schedule legal = recorded(taskset, Policy::gcaps_wc);
  Schedule schedule = legal;
  schedule.gpu[0].begin -= ms(1);
  EXPECT_THAT(broken(taskset, Policy::gcaps_wc, schedule), ElementsAre(ScheduleRule::gpu_work));
  schedule = legal;
  schedule.gpu[0].end -= ms(1);
  EXPECT_THAT(broken(taskset, Policy::gcaps_wc, schedule), Contains(ScheduleRule::gpu_work));
}

TEST(GpuScheduleRules, GpuOwnerUnderGcaps) {
  const Taskset taskset = load_case("gcaps-held-misc.json");
  const std::vector<Duration> offsets = {ms(1), ms(0)};
  const Schedule kept = recorded(taskset, Policy::gcaps, offsets);
  const Schedule work_conserving = recorded(taskset, Policy::gcaps_wc, offsets);
  EXPECT_THAT(broken(taskset, Policy::gcaps, work_conserving), Contains(ScheduleRule::gpu_owner));
  EXPECT_THAT(broken(taskset, Policy::gcaps_wc, kept), Contains(ScheduleRule::gpu_owner));
  Taskset other = taskset;
  swap_gpu_priorities(other, 0, 1);
  EXPECT_THAT(broken(other, Policy::gcaps, kept), Contains(ScheduleRule::gpu_owner));
  other = taskset;
  other.tasks[0].best_effort = true;
  EXPECT_THAT(broken(other, Policy::gcaps_wc, work_conserving), Contains(ScheduleRule::gpu_owner));
}

TEST(GpuScheduleRules, GpuOwnerAmongBestEffortTasks) {
  Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(1), ms(4))}, 0), task("b", ms(100), {gpu(ms(1), ms(4))}, 1)});
  for (Task& each : taskset.tasks) each.best_effort = true;
  Schedule schedule = recorded(taskset, Policy::gcaps);
  schedule.gpu.clear();
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::gpu_owner));
  taskset.platform.gpus[0].overheads.time_slice = ms(2);
  schedule = recorded(taskset, Policy::gcaps);
  taskset.platform.gpus[0].overheads.time_slice = ms(1);
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::gpu_turn));
}

TEST(GpuScheduleRules, TsgRr) {
  const Taskset taskset = three_tasks();
  const Schedule legal = recorded(taskset, Policy::tsg_rr);
  const auto with_overheads = [&](auto change) {
    Taskset other = taskset;
    change(other.platform.gpus[0].overheads);
    return broken(other, Policy::tsg_rr, legal);
  };
  EXPECT_THAT(with_overheads([](Overheads& o) { o.time_slice = ms(1); }), Contains(ScheduleRule::gpu_turn));
  EXPECT_THAT(with_overheads([](Overheads& o) { o.time_slice = ms(3); }), Contains(ScheduleRule::gpu_interruption));
  EXPECT_THAT(with_overheads([](Overheads& o) { o.context_switch = ms(1); }), Contains(ScheduleRule::context_switch));
  EXPECT_THAT(with_overheads([](Overheads& o) { o.context_switch = {}; }), Contains(ScheduleRule::context_switch));
  Schedule schedule = legal;
  for (GpuInterval& each : schedule.gpu) each.switching = false;
  EXPECT_THAT(broken(taskset, Policy::tsg_rr, schedule), Contains(ScheduleRule::context_switch));
  schedule = legal;
  const auto moves = std::ranges::find(schedule.gpu, true, &GpuInterval::switching);
  ASSERT_NE(moves, schedule.gpu.end());
  std::erase_if(schedule.gpu, [&](const GpuInterval& each) { return each.begin == moves->end; });
  EXPECT_THAT(broken(taskset, Policy::tsg_rr, schedule), Contains(ScheduleRule::gpu_interruption));
  schedule = legal;
  schedule.gpu.clear();
  EXPECT_THAT(broken(taskset, Policy::tsg_rr, schedule), Contains(ScheduleRule::gpu_owner));
}

TEST(GpuScheduleRules, TsgRrServesInTurn) {
  Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(0), ms(4))}, 0), task("b", ms(100), {gpu(ms(0), ms(2))}, 1),
                    task("c", ms(100), {gpu(ms(0), ms(2))}, 2)});
  taskset.platform.gpus[0].overheads.time_slice = ms(2);
  Schedule schedule = recorded(taskset, Policy::tsg_rr);  // a b c a
  EXPECT_THAT(broken(taskset, Policy::gcaps_wc, schedule), Contains(ScheduleRule::gpu_owner));
  ASSERT_EQ(schedule.gpu.size(), 4U);
  std::swap(schedule.gpu[2].task, schedule.gpu[3].task);  // a is served twice before c
  EXPECT_THAT(broken(taskset, Policy::tsg_rr, schedule), Contains(ScheduleRule::gpu_order));
}

TEST(GpuScheduleRules, ContextSwitchesAreKnownToTsgRrAlone) {
  const Taskset taskset = three_tasks();
  Schedule schedule = recorded(taskset, Policy::gcaps_wc);
  schedule.gpu[0].switching = true;
  EXPECT_THAT(broken(taskset, Policy::gcaps_wc, schedule), Contains(ScheduleRule::context_switch));
}

// b is interrupted by a after its first slice or block.
Taskset interrupted(int slices, std::optional<Duration> block) {
  Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(0), ms(2))}, 0), task("b", ms(100), {gpu(ms(0), ms(12))}, 1)});
  work_of(taskset, 1).slices = slices;
  work_of(taskset, 1).block = block;
  taskset.platform.gpus[0].stream_priorities = 2;
  return taskset;
}

TEST(GpuScheduleRules, GpuIsInterruptedBetweenSlices) {
  const std::vector<Duration> offsets = {ms(1), ms(0)};
  const Schedule sliced = recorded(interrupted(4, {}), Policy::mpcp, offsets);
  EXPECT_THAT(broken(interrupted(1, {}), Policy::mpcp, sliced), ElementsAre(ScheduleRule::gpu_interruption));
  EXPECT_THAT(broken(interrupted(3, {}), Policy::mpcp, sliced), ElementsAre(ScheduleRule::gpu_interruption));
  EXPECT_THAT(broken(interrupted(8, {}), Policy::mpcp, sliced), ElementsAre(ScheduleRule::gpu_turn));
  const Schedule whole = recorded(interrupted(1, {}), Policy::mpcp, offsets);
  EXPECT_THAT(broken(interrupted(4, {}), Policy::mpcp, whole), ElementsAre(ScheduleRule::gpu_turn));
  EXPECT_THAT(broken(interrupted(4, {}), Policy::fmlp_plus, sliced), Contains(ScheduleRule::handover));
}

TEST(GpuScheduleRules, GpuIsInterruptedBetweenBlocks) {
  const std::vector<Duration> offsets = {ms(1), ms(0)};
  const Schedule blocks = recorded(interrupted(1, ms(3)), Policy::stream_priority, offsets);
  EXPECT_THAT(broken(interrupted(1, {}), Policy::stream_priority, blocks), ElementsAre(ScheduleRule::gpu_interruption));
  EXPECT_THAT(broken(interrupted(1, ms(1)), Policy::stream_priority, blocks), ElementsAre(ScheduleRule::gpu_turn));
  Taskset other = interrupted(1, ms(3));
  other.platform.gpus[0].stream_priorities = 1;  // then they share a level
  EXPECT_THAT(broken(other, Policy::stream_priority, blocks), Contains(ScheduleRule::gpu_interruption));
  EXPECT_THAT(broken(other, Policy::stream_priority, blocks), Contains(ScheduleRule::gpu_order));
}

TEST(GpuScheduleRules, StreamsAreServedByLevelThenBySubmission) {
  Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(2)), gpu(ms(0), ms(2))}, 0),
                                  task("b", ms(100), {cpu(ms(1)), gpu(ms(0), ms(2))}, 1),
                                  task("c", ms(100), {gpu(ms(0), ms(4))}, 2)});
  taskset.platform.gpus[0].stream_priorities = 3;
  const Schedule by_level = recorded(taskset, Policy::stream_priority);  // c a b
  taskset.platform.gpus[0].stream_priorities = 1;
  const Schedule by_submission = recorded(taskset, Policy::stream_priority);  // c b a
  EXPECT_THAT(broken(taskset, Policy::stream_priority, by_level), ElementsAre(ScheduleRule::gpu_order));
  taskset.platform.gpus[0].stream_priorities = 3;
  EXPECT_THAT(broken(taskset, Policy::stream_priority, by_submission), ElementsAre(ScheduleRule::gpu_order));
  Schedule schedule = by_level;
  schedule.gpu.clear();
  EXPECT_THAT(broken(taskset, Policy::stream_priority, schedule), Contains(ScheduleRule::gpu_owner));
}

TEST(GpuScheduleRules, TheLockHasOneHolder) {
  Taskset taskset = three_tasks();
  taskset.platform.gpus[0].overheads = {};
  taskset.platform.gpus[0].overheads.time_slice = ms(2);
  const Schedule without_lock = recorded(taskset, Policy::tsg_rr);
  EXPECT_THAT(broken(taskset, Policy::mpcp, without_lock), Contains(ScheduleRule::one_holder));
  Schedule schedule = recorded(taskset, Policy::mpcp);
  interval_of(schedule, 0, JobState::enter_waiting).state = JobState::misc;
  EXPECT_THAT(broken(taskset, Policy::mpcp, schedule), Contains(ScheduleRule::one_holder));
  schedule = recorded(taskset, Policy::mpcp);
  interval_of(schedule, 2, JobState::misc).state = JobState::enter_waiting;  // nobody has it
  EXPECT_THAT(broken(taskset, Policy::mpcp, schedule), Contains(ScheduleRule::one_holder));
}

TEST(GpuScheduleRules, TheMutexHasOneHolder) {
  const Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(1), ms(4))}, 0), task("b", ms(100), {gpu(ms(1), ms(4))}, 1)});
  Taskset with_updates = taskset;
  with_updates.platform.gpus[0].overheads.runlist_update = ms(1);
  for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc}) {
    Schedule schedule = recorded(with_updates, policy);
    interval_of(schedule, 1, JobState::enter_waiting).state = JobState::entering;
    EXPECT_THAT(broken(with_updates, policy, schedule), Contains(ScheduleRule::one_holder));
    schedule = recorded(with_updates, policy);
    interval_of(schedule, 0, JobState::leaving).state = JobState::leave_waiting;
    EXPECT_THAT(broken(with_updates, policy, schedule), Contains(ScheduleRule::one_holder));
  }
}

TEST(GpuScheduleRules, HandoverOfTheLock) {
  const Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(2)), gpu(ms(1), ms(3))}, 0),
                                        task("b", ms(100), {cpu(ms(1)), gpu(ms(1), ms(3))}, 1),
                                        task("c", ms(100), {gpu(ms(1), ms(4))}, 2)});
  const Schedule by_priority = recorded(taskset, Policy::mpcp);
  const Schedule by_request = recorded(taskset, Policy::fmlp_plus);
  EXPECT_THAT(broken(taskset, Policy::fmlp_plus, by_priority), ElementsAre(ScheduleRule::handover));
  EXPECT_THAT(broken(taskset, Policy::mpcp, by_request), ElementsAre(ScheduleRule::handover));
  Taskset other = taskset;
  other.tasks[0].best_effort = true;
  EXPECT_THAT(broken(other, Policy::mpcp, by_priority), ElementsAre(ScheduleRule::handover));
}

TEST(GpuScheduleRules, TheLockIsNotKeptForTheNextSegment) {
  Taskset taskset = make_taskset({task("a", ms(100), {gpu(ms(1), ms(3)), gpu(ms(1), ms(3))}, 0),
                                  task("b", ms(100), {cpu(ms(2)), gpu(ms(1), ms(3))}, 1)});
  Schedule schedule = recorded(taskset, Policy::mpcp);
  // As if a had gone on with its second segment at 4, and b with its only one at 8.
  schedule.tasks = {
      {0, 0, 0, JobState::misc, true, ms(0), ms(1)}, {0, 0, 0, JobState::gpu, false, ms(1), ms(4)},
      {0, 0, 1, JobState::misc, true, ms(4), ms(5)}, {0, 0, 1, JobState::gpu, false, ms(5), ms(8)},
      {1, 0, 0, JobState::cpu, false, ms(0), ms(2)}, {1, 0, 1, JobState::enter_waiting, false, ms(2), ms(8)},
      {1, 0, 1, JobState::misc, true, ms(8), ms(9)}, {1, 0, 1, JobState::gpu, false, ms(9), ms(12)}};
  schedule.cores = {{0, 0, ms(0), ms(1)}, {0, 0, ms(4), ms(5)}, {1, 1, ms(0), ms(2)}, {1, 1, ms(8), ms(9)}};
  schedule.gpu = {{0, false, ms(1), ms(4)}, {0, false, ms(5), ms(8)}, {1, false, ms(9), ms(12)}};
  schedule.jobs = {{0, 0, ms(0), ms(0), ms(8), false}, {1, 0, ms(0), ms(0), ms(12), false}};
  schedule.end = ms(12);
  EXPECT_THAT(broken(taskset, Policy::mpcp, schedule), ElementsAre(ScheduleRule::handover));
}

TEST(GpuScheduleRules, HandoverOfTheMutex) {
  Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(1), ms(4))}, 0), task("b", ms(100), {gpu(ms(1), ms(4))}, 1),
                    task("c", ms(100), {gpu(ms(1), ms(4))}, 2)});
  taskset.platform.gpus[0].overheads.runlist_update = ms(1);
  const Schedule schedule = recorded(taskset, Policy::gcaps);
  swap_gpu_priorities(taskset, 1, 2);
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::handover));
}

}  // namespace
}  // namespace rtgpu
