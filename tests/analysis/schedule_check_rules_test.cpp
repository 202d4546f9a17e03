// Each rule of the schedule checker can be broken: a legal schedule is changed, or held against another taskset or
// policy, and the checker has to say which rule that breaks. Here jobs, cores and copies.
#include "analysis/simulation/schedule_check.h"
#include "tests/analysis/schedule_check_cases.h"
#include "tests/support/build.h"

#include <algorithm>
#include <utility>
#include <variant>

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
using ::testing::IsEmpty;
using testing::make_taskset;
using testing::ms;
using testing::recorded;
using testing::task;
using testing::three_tasks;
using testing::work_of;

TEST(ScheduleRules, WhatIsNotCoveredIsNotCalledLegal) {
  Taskset taskset = three_tasks();
  EXPECT_THAT(broken(taskset, Policy::federated, {}), ElementsAre(ScheduleRule::covered));  // how many SMs?
  taskset.platform.gpus.emplace_back();
  EXPECT_THAT(broken(taskset, Policy::gcaps, {}), ElementsAre(ScheduleRule::covered));
}

TEST(ScheduleRules, SaysWhoWhenAndWhat) {
  const Taskset taskset = three_tasks();
  Schedule schedule = recorded(taskset, Policy::mpcp);
  std::erase_if(schedule.cores, [](const CoreInterval& each) { return each.core == 1 && each.begin == Duration(); });
  const auto violations = check_schedule(taskset, Policy::mpcp, WaitChoice::file, schedule);
  ASSERT_FALSE(violations.empty());
  const auto core = std::ranges::find(violations, ScheduleRule::core, &ScheduleViolation::rule);
  ASSERT_NE(core, violations.end());
  EXPECT_EQ(to_string(*core, taskset), "at 0ns: c: core: wants core 1 and is the highest, but nobody runs there");
}

TEST(ScheduleRules, Interval) {
  const Taskset taskset = three_tasks();
  const Schedule legal = recorded(taskset, Policy::gcaps);
  const auto with = [&](auto change) {
    Schedule schedule = legal;
    change(schedule);
    return broken(taskset, Policy::gcaps, schedule);
  };
  EXPECT_THAT(with([](Schedule& s) { s.cores[0].end = s.cores[0].begin; }), ElementsAre(ScheduleRule::interval));
  EXPECT_THAT(with([](Schedule& s) { s.cores[0].core = 2; }), ElementsAre(ScheduleRule::interval));
  EXPECT_THAT(with([](Schedule& s) { s.gpu[0].task = 3; }), ElementsAre(ScheduleRule::interval));
  EXPECT_THAT(with([](Schedule& s) { s.gpu.back().end = s.end + ms(1); }), ElementsAre(ScheduleRule::interval));
  EXPECT_THAT(with([](Schedule& s) { s.tasks[0].state = JobState::copy; }), ElementsAre(ScheduleRule::interval));
  EXPECT_THAT(with([](Schedule& s) { s.tasks[0].segment = 7; }), ElementsAre(ScheduleRule::interval));
  EXPECT_THAT(with([](Schedule& s) { s.jobs[0].task = kNoTask; }), ElementsAre(ScheduleRule::interval));
  EXPECT_THAT(with([](Schedule& s) { s.copies.push_back({1, 0, ms(0), ms(1)}); }), ElementsAre(ScheduleRule::interval));
}

TEST(ScheduleRules, Overlap) {
  const Taskset taskset = three_tasks();
  const Schedule legal = recorded(taskset, Policy::gcaps);
  Schedule schedule = legal;
  schedule.tasks.push_back(schedule.tasks[0]);
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), ElementsAre(ScheduleRule::overlap));
  schedule = legal;
  schedule.gpu.push_back({0, false, schedule.gpu[0].begin, schedule.gpu[0].begin + ms(1)});
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), ElementsAre(ScheduleRule::overlap));
  schedule = legal;
  schedule.cores.push_back({schedule.cores[0].core, 1, schedule.cores[0].begin, schedule.cores[0].end});
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), ElementsAre(ScheduleRule::overlap));
}

TEST(ScheduleRules, Release) {
  Taskset taskset = three_tasks();
  const Schedule schedule = recorded(taskset, Policy::gcaps, {}, ms(250));
  taskset.tasks[1].period = taskset.tasks[1].deadline = ms(100) + Duration::nanoseconds(1);
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule),
              ElementsAre(ScheduleRule::release, ScheduleRule::release));  // of the second and the third job
  taskset = three_tasks();
  Schedule late = recorded(taskset, Policy::gcaps, {ms(5)});
  for (JobRecord& job : late.jobs) {
    if (job.task == 0) job.nominal_release -= ms(2);
  }
  EXPECT_THAT(broken(taskset, Policy::gcaps, late), ElementsAre(ScheduleRule::release));
  taskset.tasks[0].jitter = ms(2);
  EXPECT_THAT(broken(taskset, Policy::gcaps, late), IsEmpty());
}

TEST(ScheduleRules, JobRecord) {
  const Taskset taskset = three_tasks();
  Schedule schedule = recorded(taskset, Policy::gcaps);
  schedule.jobs[0].missed = true;
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), ElementsAre(ScheduleRule::job_record));
  schedule = recorded(taskset, Policy::gcaps);
  schedule.jobs.push_back(schedule.jobs[0]);
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::job_record));
}

TEST(ScheduleRules, Coverage) {
  const Taskset taskset = three_tasks();
  const Schedule legal = recorded(taskset, Policy::gcaps);
  Schedule schedule = legal;
  schedule.jobs[0].completion += Duration::nanoseconds(1);
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), ElementsAre(ScheduleRule::coverage));
  schedule = legal;
  schedule.jobs[0].completion -= Duration::nanoseconds(1);
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), ElementsAre(ScheduleRule::coverage));
  schedule = legal;
  schedule.jobs.erase(schedule.jobs.begin());
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::coverage));
  schedule = legal;
  std::erase_if(schedule.tasks,
                [](const TaskInterval& each) { return each.task == 2 && each.state == JobState::misc; });
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::coverage));
}

TEST(ScheduleRules, StateOrder) {
  const Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(2)), gpu(ms(2), ms(4)), cpu(ms(2))})});
  Schedule schedule = recorded(taskset, Policy::gcaps);
  for (TaskInterval& each : schedule.tasks) {
    if (each.state == JobState::cpu) each.segment = 2 - each.segment;
  }
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule),
              ElementsAre(ScheduleRule::state_order, ScheduleRule::state_order));  // to segment 1, to segment 0
}

TEST(ScheduleRules, ExecutionTimesOfSegments) {
  const Taskset taskset = three_tasks();
  const Schedule schedule = recorded(taskset, Policy::gcaps);
  const auto against = [&](auto change) {
    Taskset other = taskset;
    change(other);
    return broken(other, Policy::gcaps, schedule);
  };
  const auto time_is = [](ExecutionTime& time, Duration is) { time = {is, is}; };
  for (const int by : {-1, 1}) {
    const Duration some = Duration::microseconds(by);
    EXPECT_THAT(against([&](Taskset& t) { time_is(std::get<CpuSegment>(t.tasks[0].segments[0]).time, ms(2) + some); }),
                ElementsAre(ScheduleRule::execution_time));
    EXPECT_THAT(against([&](Taskset& t) { time_is(work_of(t, 0, 1).misc, ms(1) + some); }),
                ElementsAre(ScheduleRule::execution_time));
    EXPECT_THAT(against([&](Taskset& t) { time_is(*work_of(t, 0, 1).exec, ms(4) + some); }),
                ElementsAre(ScheduleRule::execution_time));
  }
  // Less than the best case is all right where that is said.
  Taskset longer = taskset;
  time_is(*work_of(longer, 0, 1).exec, ms(5));
  EXPECT_THAT(broken(longer, Policy::gcaps, schedule, {.below_best_case = true}), IsEmpty());
}

TEST(ScheduleRules, ExecutionTimesOfCallsAndLaunches) {
  Taskset taskset = three_tasks();
  work_of(taskset, 2).slices = 3;
  taskset.platform.gpus[0].overheads.launch = ms(1);
  const Schedule schedule = recorded(taskset, Policy::gcaps);
  Taskset other = taskset;
  other.platform.gpus[0].overheads.runlist_update -= Duration::nanoseconds(1);
  EXPECT_THAT(broken(other, Policy::gcaps, schedule), Contains(ScheduleRule::execution_time).Times(6));
  other.platform.gpus[0].overheads.runlist_update = ms(2);
  EXPECT_THAT(broken(other, Policy::gcaps, schedule), IsEmpty());
  EXPECT_THAT(broken(other, Policy::gcaps, schedule, {.shorter_calls = false}),
              Contains(ScheduleRule::execution_time).Times(6));
  other = taskset;
  other.platform.gpus[0].overheads.launch -= Duration::nanoseconds(1);
  EXPECT_THAT(broken(other, Policy::gcaps, schedule), ElementsAre(ScheduleRule::execution_time));
}

TEST(ScheduleRules, CoreIsGivenToTheHighest) {
  Taskset taskset = three_tasks();
  Schedule schedule = recorded(taskset, Policy::mpcp);
  std::swap(taskset.tasks[0].priority, taskset.tasks[1].priority);
  EXPECT_THAT(broken(taskset, Policy::mpcp, schedule), Contains(ScheduleRule::core));
  // Best-effort tasks are below all others, whatever their priority.
  std::swap(taskset.tasks[0].priority, taskset.tasks[1].priority);
  taskset.tasks[0].best_effort = true;
  EXPECT_THAT(broken(taskset, Policy::mpcp, schedule), Contains(ScheduleRule::core));
}

TEST(ScheduleRules, CoreDoesNotIdleAndIsNotGivenToWhoDoesNotWantIt) {
  const Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(2)), gpu(ms(1), ms(4))})});
  const Schedule legal = recorded(taskset, Policy::gcaps);
  Schedule schedule = legal;
  schedule.cores[0].end -= ms(1);  // it does not run in the last of its three milliseconds
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::core));
  schedule = legal;
  schedule.cores[0].end += ms(1);  // it runs while it suspends
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), ElementsAre(ScheduleRule::core));
  Taskset busy = taskset;
  busy.tasks[0].wait = WaitMode::busy;
  EXPECT_THAT(broken(busy, Policy::gcaps, legal), ElementsAre(ScheduleRule::core));
  EXPECT_THAT(check_schedule(taskset, Policy::gcaps, WaitChoice::busy, legal), ::testing::SizeIs(1));
}

TEST(ScheduleRules, CoreOfASpinningWaiter) {
  Taskset taskset = three_tasks();
  taskset.tasks[0].lock_wait = LockWait::spin;
  const Schedule schedule = recorded(taskset, Policy::mpcp);  // a waits for c
  taskset.tasks[0].lock_wait = LockWait::suspend;
  EXPECT_THAT(broken(taskset, Policy::mpcp, schedule), Contains(ScheduleRule::core));
}

TEST(ScheduleRules, BoostIsWhereThePolicySaysSo) {
  const Taskset taskset = three_tasks();
  const auto flipped = [&](Policy policy, JobState state) {
    Schedule schedule = recorded(taskset, policy);
    TaskInterval& interval = interval_of(schedule, 1, state);
    interval.boosted = !interval.boosted;
    return broken(taskset, policy, schedule);
  };
  for (const JobState state : {JobState::cpu, JobState::entering, JobState::misc, JobState::gpu, JobState::leaving}) {
    EXPECT_THAT(flipped(Policy::gcaps, state), ElementsAre(ScheduleRule::boost)) << static_cast<int>(state);
    if (state == JobState::leaving) continue;  // takes no time under mpcp
    EXPECT_THAT(flipped(Policy::mpcp, state), ElementsAre(ScheduleRule::boost)) << static_cast<int>(state);
  }
  EXPECT_THAT(flipped(Policy::tsg_rr, JobState::misc), ElementsAre(ScheduleRule::boost));
}

TEST(ScheduleRules, BoostPutsTheHolderAboveItsCore) {
  // b has the lock when a is released, and its misc goes on.
  const Taskset taskset =
      make_taskset({task("a", ms(100), {cpu(ms(5))}), task("b", ms(100), {gpu(ms(4), ms(1)), cpu(ms(1))})});
  const Schedule boosted = recorded(taskset, Policy::mpcp, {ms(1), ms(0)});
  EXPECT_THAT(broken(taskset, Policy::gcaps, boosted), Contains(ScheduleRule::core));
  const Schedule not_boosted = recorded(taskset, Policy::gcaps, {ms(1), ms(0)});
  EXPECT_THAT(broken(taskset, Policy::mpcp, not_boosted), Contains(ScheduleRule::core));
}

Taskset copying() {
  const auto copy = [](CopyDirection direction) { return Segment(CopySegment{{ms(4), ms(4)}, direction}); };
  return make_taskset({task("a", ms(100), {cpu(ms(2)), copy(CopyDirection::to_device)}, 0),
                       task("b", ms(100), {cpu(ms(1)), copy(CopyDirection::to_host)}, 1),
                       task("c", ms(100), {copy(CopyDirection::to_device)}, 2)});
}

TEST(ScheduleRules, CopyEngine) {
  const Taskset taskset = copying();
  const Schedule legal = recorded(taskset, Policy::gcaps);
  Taskset other = taskset;
  other.platform.gpus[0].copy_engines = 2;  // then b does not wait for c
  EXPECT_THAT(broken(other, Policy::gcaps, legal), Contains(ScheduleRule::copy_engine));
  Schedule schedule = legal;
  schedule.copies[0].end -= ms(1);
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::copy_engine));
  schedule = legal;
  schedule.copies[0].task = 1;  // which does not copy yet
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::copy_engine));
  schedule = legal;  // c is interrupted
  schedule.copies[0].end = ms(2);
  schedule.copies.push_back({0, 0, ms(2), ms(4)});
  EXPECT_THAT(broken(taskset, Policy::gcaps, schedule), Contains(ScheduleRule::copy_engine));
  other = taskset;
  std::get<CopySegment>(other.tasks[2].segments[0]).time = {ms(3), ms(3)};
  EXPECT_THAT(broken(other, Policy::gcaps, legal), ElementsAre(ScheduleRule::execution_time));
}

TEST(ScheduleRules, CopyOrder) {
  Taskset taskset = copying();
  taskset.platform.gpus[0].stream_priorities = 3;
  const Schedule by_priority = recorded(taskset, Policy::gcaps);
  const Schedule by_submission = recorded(taskset, Policy::stream_priority);
  EXPECT_THAT(broken(taskset, Policy::stream_priority, by_priority), ElementsAre(ScheduleRule::copy_order));
  EXPECT_THAT(broken(taskset, Policy::gcaps, by_submission), ElementsAre(ScheduleRule::copy_order));
}

}  // namespace
}  // namespace rtgpu
