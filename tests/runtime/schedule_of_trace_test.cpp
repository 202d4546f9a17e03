// Schedules made of traces: each event's meaning, on traces written by hand.
#include "runtime/trace/schedule_of_trace.h"

#include "runtime/trace/trace.h"
#include "tests/support/build.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::IsEmpty;
using testing::make_taskset;
using testing::ms;
using testing::task;

constexpr std::uint32_t kNone = UINT32_MAX;

Segment copy(Duration worst, CopyDirection direction = CopyDirection::to_device) {
  return CopySegment{{worst, worst}, direction};
}

// Events in the order in which they are given; times in ms.
class Events {
 public:
  Events& add(std::int64_t at, TraceKind kind, std::uint32_t of, std::int64_t job = 0, std::uint16_t segment = 0,
              std::int64_t value = 0) {
    trace_.events.push_back({ms(at).count(), ++order_, job, value, of, segment, kind});
    return *this;
  }
  Events& release(std::int64_t at, std::uint32_t of, std::int64_t job = 0) {
    return add(at, TraceKind::release, of, job, 0, ms(at).count());
  }
  Events& dispatch(std::int64_t at, std::uint32_t of, std::uint16_t core = 0) {
    return add(at, TraceKind::dispatch, of, 0, core);
  }
  Trace until(std::int64_t end) const {
    Trace trace = trace_;
    trace.end = ms(end);
    return trace;
  }

 private:
  Trace trace_;
  std::uint64_t order_ = 0;
};

std::string span_of(Duration begin, Duration end) {
  return ' ' + to_milliseconds(begin) + '-' + to_milliseconds(end);
}

// "a0.1 misc^ 3-4": task a, job 0, segment 1, boosted.
std::vector<std::string> states(const Taskset& taskset, const Schedule& schedule) {
  std::vector<std::string> lines;
  for (const TaskInterval& each : schedule.tasks) {
    lines.push_back(taskset.tasks[each.task].name + std::to_string(each.job) + '.' + std::to_string(each.segment) +
                    ' ' + std::string(to_string(each.state)) + (each.boosted ? "^" : "") +
                    span_of(each.begin, each.end));
  }
  return lines;
}

// "0:a 3-4": core 0.
std::vector<std::string> cores(const Taskset& taskset, const Schedule& schedule) {
  std::vector<std::string> lines;
  for (const CoreInterval& each : schedule.cores) {
    lines.push_back(std::to_string(each.core) + ':' + taskset.tasks[each.task].name + span_of(each.begin, each.end));
  }
  return lines;
}

std::vector<std::string> on_gpu(const Taskset& taskset, const Schedule& schedule) {
  std::vector<std::string> lines;
  for (const GpuInterval& each : schedule.gpu) {
    lines.push_back((each.switching ? "to " : "") + taskset.tasks[each.task].name + span_of(each.begin, each.end));
  }
  return lines;
}

std::vector<std::string> copies(const Taskset& taskset, const Schedule& schedule) {
  std::vector<std::string> lines;
  for (const CopyInterval& each : schedule.copies) {
    lines.push_back(std::to_string(each.engine) + ':' + taskset.tasks[each.task].name + span_of(each.begin, each.end));
  }
  return lines;
}

// "a0 1(2)-5!": nominally released at 1, actually at 2, complete at 5, missed.
std::vector<std::string> jobs(const Taskset& taskset, const Schedule& schedule) {
  std::vector<std::string> lines;
  for (const JobRecord& each : schedule.jobs) {
    const std::string completion = each.completion.is_infinite() ? "?" : to_milliseconds(each.completion);
    lines.push_back(taskset.tasks[each.task].name + std::to_string(each.job) + ' ' +
                    to_milliseconds(each.nominal_release) + '(' + to_milliseconds(each.release) + ")-" + completion +
                    (each.missed ? "!" : ""));
  }
  return lines;
}

Taskset one_task(std::vector<Segment> segments, std::int64_t period = 100) {
  return make_taskset({task("a", ms(period), std::move(segments))});
}

// --- States of a job

TEST(ScheduleOfTrace, EachEventOfAGpuSegmentBeginsItsState) {
  const Taskset taskset = one_task({cpu(ms(1)), gpu(ms(1), ms(1)), cpu(ms(1))});
  const Events events = Events()
                            .release(1, 0)
                            .add(2, TraceKind::start, 0, 0, 0)
                            .add(2, TraceKind::cpu, 0, 0, 0)
                            .add(3, TraceKind::arrive, 0, 0, 1)
                            .add(4, TraceKind::enter, 0, 0, 1)
                            .add(5, TraceKind::grant, 0, 0, 1)
                            .add(6, TraceKind::inside, 0, 0, 1)
                            .add(7, TraceKind::submit, 0, 0, 1)
                            .add(8, TraceKind::end, 0, 0, 1)
                            .add(9, TraceKind::leave, 0, 0, 1)
                            .add(10, TraceKind::leave_grant, 0, 0, 1)
                            .add(11, TraceKind::left, 0, 0, 1)
                            .add(11, TraceKind::cpu, 0, 0, 2)
                            .add(12, TraceKind::complete, 0, 0, 2);
  const Schedule schedule = schedule_of(events.until(12), taskset);
  EXPECT_THAT(states(taskset, schedule),
              ElementsAre("a0.0 cpu 1-3", "a0.1 to_enter 3-4", "a0.1 enter_waiting 4-5", "a0.1 entering 5-6",
                          "a0.1 misc 6-7", "a0.1 gpu 7-8", "a0.1 to_leave 8-9", "a0.1 leave_waiting 9-10",
                          "a0.1 leaving 10-11", "a0.2 cpu 11-12"));
  EXPECT_THAT(jobs(taskset, schedule), ElementsAre("a0 1(1)-12"));
  EXPECT_EQ(schedule.end, ms(12));
}

TEST(ScheduleOfTrace, EachEventOfACopyBeginsItsState) {
  const Taskset taskset = one_task({cpu(ms(1)), copy(ms(1)), copy(ms(1))});
  const Events events = Events()
                            .release(0, 0)
                            .add(1, TraceKind::copy_arrive, 0, 0, 1)
                            .add(2, TraceKind::copy_submit, 0, 0, 1, 0)
                            .add(3, TraceKind::copy_begin, 0, 0, 1, 0)
                            .add(5, TraceKind::copy_end, 0, 0, 1, 0)
                            .add(6, TraceKind::copy_arrive, 0, 0, 2)
                            .add(6, TraceKind::copy_submit, 0, 0, 2, 1)
                            .add(6, TraceKind::copy_begin, 0, 0, 2, 1)
                            .add(7, TraceKind::copy_end, 0, 0, 2, 1)
                            .add(8, TraceKind::complete, 0, 0, 2);
  const Schedule schedule = schedule_of(events.until(9), taskset);
  EXPECT_THAT(states(taskset, schedule), ElementsAre("a0.0 cpu 0-1", "a0.1 to_copy 1-2", "a0.1 copy 2-5",
                                                     "a0.1 copied 5-6", "a0.2 copy 6-7", "a0.2 copied 7-8"));
  EXPECT_THAT(copies(taskset, schedule), ElementsAre("0:a 3-5", "1:a 6-7"));
  EXPECT_EQ(schedule.end, ms(9));
}

TEST(ScheduleOfTrace, AFirstSegmentBeginsAtTheReleaseWhateverItIs) {
  const Events events = Events()
                            .release(1, 0)
                            .add(4, TraceKind::start, 0)
                            .add(4, TraceKind::arrive, 0)
                            .add(4, TraceKind::enter, 0)
                            .add(5, TraceKind::complete, 0);
  const Taskset with_gpu = one_task({gpu(ms(1), ms(1))});
  EXPECT_THAT(states(with_gpu, schedule_of(events.until(5), with_gpu)),
              ElementsAre("a0.0 to_enter 1-4", "a0.0 enter_waiting 4-5"));
  const Events copying = Events()
                             .release(1, 0)
                             .add(4, TraceKind::start, 0)
                             .add(4, TraceKind::copy_arrive, 0)
                             .add(4, TraceKind::copy_submit, 0)
                             .add(5, TraceKind::complete, 0);
  const Taskset with_copy = one_task({copy(ms(1))});
  EXPECT_THAT(states(with_copy, schedule_of(copying.until(5), with_copy)),
              ElementsAre("a0.0 to_copy 1-4", "a0.0 copy 4-5"));
}

TEST(ScheduleOfTrace, AfterASegmentTheJobGoesOnOnItsCore) {
  const Taskset taskset = one_task({gpu(ms(1), ms(1)), cpu(ms(1)), gpu(ms(1), ms(1))});
  const Events events = Events()
                            .release(0, 0)
                            .add(1, TraceKind::leave_grant, 0, 0, 0)
                            .add(2, TraceKind::left, 0, 0, 0)
                            .add(4, TraceKind::arrive, 0, 0, 2)
                            .add(5, TraceKind::leave_grant, 0, 0, 2)
                            .add(6, TraceKind::left, 0, 0, 2)
                            .add(7, TraceKind::complete, 0, 0, 2);
  EXPECT_THAT(states(taskset, schedule_of(events.until(8), taskset)),
              ElementsAre("a0.0 to_enter 0-1", "a0.0 leaving 1-2", "a0.1 cpu 2-4", "a0.2 to_enter 4-5",
                          "a0.2 leaving 5-6", "a0.2 cpu 6-7"));
}

TEST(ScheduleOfTrace, WhatFollowsAtTheSameMomentCounts) {
  const Taskset taskset = one_task({gpu(ms(1), ms(1)), gpu(ms(1), ms(1))});
  const Events events = Events()
                            .release(0, 0)
                            .add(2, TraceKind::left, 0, 0, 0)
                            .add(2, TraceKind::arrive, 0, 0, 1)
                            .add(2, TraceKind::enter, 0, 0, 1)
                            .add(2, TraceKind::grant, 0, 0, 1)
                            .add(4, TraceKind::left, 0, 0, 1)
                            .add(4, TraceKind::complete, 0, 0, 1);
  EXPECT_THAT(states(taskset, schedule_of(events.until(4), taskset)),
              ElementsAre("a0.0 to_enter 0-2", "a0.1 entering 2-4"));
}

TEST(ScheduleOfTrace, BoostsMarkTheTaskThatHasThem) {
  const Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(9))}), task("b", ms(100), {cpu(ms(9))}, 1)});
  const Events events = Events()
                            .release(0, 0)
                            .release(0, 1)
                            .add(1, TraceKind::boost, 0)
                            .add(2, TraceKind::unboost, 0)
                            .add(3, TraceKind::boost, 1)
                            .add(4, TraceKind::unboost, 1)
                            .add(4, TraceKind::boost, 0)
                            .add(5, TraceKind::complete, 0)
                            .add(5, TraceKind::unboost, 0)
                            .add(6, TraceKind::complete, 1);
  EXPECT_THAT(states(taskset, schedule_of(events.until(6), taskset)),
              ElementsAre("a0.0 cpu 0-1", "b0.0 cpu 0-3", "a0.0 cpu^ 1-2", "a0.0 cpu 2-4", "b0.0 cpu^ 3-4",
                          "a0.0 cpu^ 4-5", "b0.0 cpu 4-6"));
}

TEST(ScheduleOfTrace, WorkDroppedWithItsJobEndsOnTheDeviceOnly) {
  const Taskset taskset = one_task({gpu(ms(1), ms(1)), cpu(ms(1))});
  const Events events = Events()
                            .release(0, 0)
                            .add(1, TraceKind::submit, 0, 0, 0)
                            .add(1, TraceKind::begin, 0, 0, 0)
                            .add(2, TraceKind::left, 0, 0, 0)  // cancelled
                            .add(2, TraceKind::end, 0, 0, 0)
                            .add(3, TraceKind::complete, 0, 0, 0, 1);
  const Schedule schedule = schedule_of(events.until(3), taskset);
  EXPECT_THAT(states(taskset, schedule), ElementsAre("a0.0 to_enter 0-1", "a0.0 gpu 1-2", "a0.1 cpu 2-3"));
  EXPECT_THAT(on_gpu(taskset, schedule), ElementsAre("a 1-2"));
  EXPECT_THAT(jobs(taskset, schedule), ElementsAre("a0 0(0)-3"));
}

// --- Jobs

TEST(ScheduleOfTrace, AJobThatIsReleasedBeforeTheLastIsCompleteBeginsAtItsCompletion) {
  const Taskset taskset = one_task({cpu(ms(1))}, 10);
  // Traced when the second job starts, with the time of its release.
  Trace trace = Events()
                    .release(0, 0, 0)
                    .add(10, TraceKind::release, 0, 1, 0, ms(10).count())
                    .add(13, TraceKind::complete, 0, 0)
                    .add(14, TraceKind::start, 0, 1)
                    .add(15, TraceKind::complete, 0, 1)
                    .until(15);
  const Schedule schedule = schedule_of(trace, taskset);
  EXPECT_THAT(states(taskset, schedule), ElementsAre("a0.0 cpu 0-13", "a1.0 cpu 13-15"));
  EXPECT_THAT(jobs(taskset, schedule), ElementsAre("a0 0(0)-13!", "a1 10(10)-15"));
}

TEST(ScheduleOfTrace, AReleaseAtTheCompletionBeforeItIsInNeitherOrderLost) {
  const Taskset taskset = one_task({cpu(ms(1))}, 10);
  const Events before = Events().release(0, 0, 0).release(10, 0, 1).add(10, TraceKind::complete, 0, 0);
  const Events after = Events().release(0, 0, 0).add(10, TraceKind::complete, 0, 0).release(10, 0, 1);
  for (const Events& events : {before, after}) {
    Events all = events;
    const Schedule schedule = schedule_of(all.add(11, TraceKind::complete, 0, 1).until(11), taskset);
    EXPECT_THAT(states(taskset, schedule), ElementsAre("a0.0 cpu 0-10", "a1.0 cpu 10-11"));
    EXPECT_THAT(jobs(taskset, schedule), ElementsAre("a0 0(0)-10", "a1 10(10)-11"));
  }
}

TEST(ScheduleOfTrace, ResponsesCountFromTheNominalRelease) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(1))}), task("b", ms(10), {cpu(ms(1))}, 1)});
  taskset.tasks[1].best_effort = true;
  const Events events = Events()
                            .add(2, TraceKind::release, 0, 0, 0, ms(1).count())
                            .add(3, TraceKind::release, 1, 0, 0, ms(1).count())
                            .add(11, TraceKind::complete, 0, 0)
                            .add(12, TraceKind::release, 0, 1, 0, ms(11).count())
                            .add(22, TraceKind::complete, 0, 1)
                            .add(25, TraceKind::complete, 1, 0);
  EXPECT_THAT(jobs(taskset, schedule_of(events.until(25), taskset)),
              ElementsAre("a0 1(2)-11", "a1 11(12)-22!", "b0 1(3)-25"));
}

TEST(ScheduleOfTrace, JobsThatTheEndCutOffComeLast) {
  const Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(1))}), task("b", ms(10), {cpu(ms(1))}, 1)});
  const Events events =
      Events().release(0, 0, 0).release(8, 1, 0).release(10, 0, 1).add(9, TraceKind::complete, 1, 0).release(15, 1, 1);
  Trace trace = events.until(17);
  std::ranges::stable_sort(trace.events, std::ranges::less{}, &TraceEvent::time_ns);
  const Schedule schedule = schedule_of(trace, taskset);
  EXPECT_THAT(jobs(taskset, schedule), ElementsAre("b0 8(8)-9", "a0 0(0)-?!", "a1 10(10)-?", "b1 15(15)-?"));
  EXPECT_THAT(states(taskset, schedule), ElementsAre("a0.0 cpu 0-17", "b0.0 cpu 8-9", "b1.0 cpu 15-17"));
}

// --- Devices

TEST(ScheduleOfTrace, TheGpuSwitchesRunsAndIsInterrupted) {
  const Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(1), ms(9))}), task("b", ms(100), {gpu(ms(1), ms(9))})});
  const Events events = Events()
                            .add(1, TraceKind::context_switch, 1)
                            .add(2, TraceKind::begin, 1)
                            .add(4, TraceKind::preempt, 1)
                            .add(4, TraceKind::context_switch, 0)
                            .add(5, TraceKind::begin, 0)
                            .add(5, TraceKind::slice, 0)
                            .add(7, TraceKind::end, 0)
                            .add(8, TraceKind::begin, 1)
                            .add(9, TraceKind::begin, 0)  // closes what was open
                            .add(9, TraceKind::end, 1)    // is not on the GPU any more
                            .add(10, TraceKind::context_switch, 1)
                            .add(11, TraceKind::preempt, 1);
  EXPECT_THAT(on_gpu(taskset, schedule_of(events.until(12), taskset)),
              ElementsAre("to b 1-2", "b 2-4", "to a 4-5", "a 5-7", "b 8-9", "a 9-10", "to b 10-11"));
}

TEST(ScheduleOfTrace, WorkThatIsPutBackAtOnceHasAnotherTurn) {
  const Taskset taskset = one_task({gpu(ms(1), ms(9)), gpu(ms(1), ms(1))});
  const Events events = Events()
                            .add(1, TraceKind::begin, 0, 0, 0)
                            .add(3, TraceKind::end, 0, 0, 0)
                            .add(3, TraceKind::begin, 0, 0, 1)
                            .add(4, TraceKind::end, 0, 0, 1);
  EXPECT_THAT(on_gpu(taskset, schedule_of(events.until(5), taskset)), ElementsAre("a 1-3", "a 3-4"));
}

TEST(ScheduleOfTrace, WhatIsOpenEndsWithTheRun) {
  const Taskset taskset = one_task({gpu(ms(1), ms(9))});
  const Events events = Events().dispatch(1, 0).add(2, TraceKind::begin, 0).add(3, TraceKind::copy_begin, 0, 0, 0, 1);
  const Schedule schedule = schedule_of(events.until(6), taskset);
  EXPECT_THAT(cores(taskset, schedule), ElementsAre("0:a 1-6"));
  EXPECT_THAT(on_gpu(taskset, schedule), ElementsAre("a 2-6"));
  EXPECT_THAT(copies(taskset, schedule), ElementsAre("1:a 3-6"));
}

// --- Cores

TEST(ScheduleOfTrace, DispatchesSayWhoHasACore) {
  Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(1))}), task("b", ms(100), {cpu(ms(1))}, 1)});
  const Events events = Events()
                            .release(0, 0)
                            .dispatch(1, 1, 1)
                            .dispatch(1, 0, 0)
                            .dispatch(2, kNone, 0)
                            .dispatch(3, 0, 0)
                            .dispatch(3, kNone, 0)  // for no time
                            .dispatch(4, 0, 0)
                            .dispatch(5, 0, 0)
                            .dispatch(6, kNone, 1)
                            .dispatch(7, kNone, 0);
  EXPECT_THAT(cores(taskset, schedule_of(events.until(8), taskset)), ElementsAre("0:a 1-2", "1:b 1-6", "0:a 4-7"));
}

// high and low on core 0, far on core 1; high's work is on the GPU from 2 to 6.
Events of_two_cores() {
  return Events()
      .release(0, 2)
      .release(0, 1)
      .release(1, 0)
      .add(2, TraceKind::submit, 0, 0, 1)
      .add(6, TraceKind::end, 0, 0, 1)
      .add(7, TraceKind::complete, 0)
      .add(9, TraceKind::complete, 2)
      .add(9, TraceKind::complete, 1);
}
Taskset high_low_and_far() {
  return make_taskset({task("high", ms(100), {cpu(ms(1)), gpu(ms(0), ms(4))}), task("low", ms(100), {cpu(ms(9))}),
                       task("far", ms(100), {cpu(ms(9))}, 1)});
}

TEST(ScheduleOfTrace, WithoutDispatchesPrioritiesSayWhoHasACore) {
  const Taskset taskset = high_low_and_far();
  const Trace trace = of_two_cores().until(9);
  EXPECT_THAT(cores(taskset, schedule_of(trace, taskset)),
              ElementsAre("0:low 0-1", "1:far 0-9", "0:high 1-2", "0:low 2-6", "0:high 6-7", "0:low 7-9"));
}

TEST(ScheduleOfTrace, WhoWaitsBusilyKeepsItsCore) {
  Taskset taskset = high_low_and_far();
  const Trace trace = of_two_cores().until(9);
  const auto keeps = ElementsAre("0:low 0-1", "1:far 0-9", "0:high 1-7", "0:low 7-9");
  EXPECT_THAT(cores(taskset, schedule_of(trace, taskset, WaitChoice::busy)), keeps);
  taskset.tasks[0].wait = WaitMode::busy;
  EXPECT_THAT(cores(taskset, schedule_of(trace, taskset)), keeps);
  EXPECT_EQ(cores(taskset, schedule_of(trace, taskset, WaitChoice::suspend)).size(), 6U);
}

TEST(ScheduleOfTrace, WhoSpinsKeepsItsCore) {
  Taskset taskset = high_low_and_far();
  const Trace trace = Events()
                          .release(0, 1)
                          .release(0, 0)
                          .add(1, TraceKind::enter, 0, 0, 1)
                          .add(2, TraceKind::grant, 0, 0, 1)
                          .add(3, TraceKind::leave, 0, 0, 1)
                          .add(4, TraceKind::complete, 0)
                          .until(5);
  EXPECT_THAT(cores(taskset, schedule_of(trace, taskset)),
              ElementsAre("0:high 0-1", "0:low 1-2", "0:high 2-3", "0:low 3-5"));
  taskset.tasks[0].lock_wait = LockWait::spin;
  EXPECT_THAT(cores(taskset, schedule_of(trace, taskset)), ElementsAre("0:high 0-4", "0:low 4-5"));
}

TEST(ScheduleOfTrace, BoostsAndBestEffortDecideWhoHasACore) {
  Taskset taskset = high_low_and_far();
  const Trace trace = Events()
                          .release(0, 0)
                          .release(0, 1)
                          .add(1, TraceKind::boost, 1)
                          .add(2, TraceKind::unboost, 1)
                          .add(3, TraceKind::boost, 2)  // of the other core
                          .add(4, TraceKind::complete, 0)
                          .until(5);
  EXPECT_THAT(cores(taskset, schedule_of(trace, taskset)),
              ElementsAre("0:high 0-1", "0:low 1-2", "0:high 2-4", "0:low 4-5"));
  taskset.tasks[0].best_effort = true;
  EXPECT_THAT(cores(taskset, schedule_of(trace, taskset)), ElementsAre("0:low 0-5"));
}

// --- Traces with holes

TEST(ScheduleOfTrace, AnEmptyTraceIsAnEmptySchedule) {
  const Taskset taskset = high_low_and_far();
  const Schedule schedule = schedule_of(Events().until(7), taskset);
  EXPECT_THAT(schedule.tasks, IsEmpty());
  EXPECT_THAT(schedule.cores, IsEmpty());
  EXPECT_THAT(schedule.jobs, IsEmpty());
  EXPECT_EQ(schedule.end, ms(7));
}

TEST(ScheduleOfTrace, WithoutItsReleaseAJobHasStatesAndNoRecord) {
  const Taskset taskset = one_task({cpu(ms(1)), gpu(ms(1), ms(1))}, 10);
  const Events events = Events()
                            .add(1, TraceKind::start, 0, 3)
                            .add(2, TraceKind::enter, 0, 3, 1)
                            .add(3, TraceKind::complete, 0, 3)
                            .add(4, TraceKind::end, 0, 3, 1);  // late
  const Schedule schedule = schedule_of(events.until(5), taskset);
  EXPECT_THAT(states(taskset, schedule), ElementsAre("a3.0 cpu 1-2", "a3.1 enter_waiting 2-3"));
  EXPECT_THAT(schedule.jobs, IsEmpty());
}

TEST(ScheduleOfTrace, WithoutItsCompletionAJobLastsUntilTheNextStarts) {
  const Taskset taskset = one_task({cpu(ms(1)), gpu(ms(1), ms(1))}, 10);
  const Events events = Events()
                            .release(0, 0, 0)
                            .release(10, 0, 1)
                            .release(20, 0, 2)
                            .add(21, TraceKind::start, 0, 2)
                            .add(22, TraceKind::enter, 0, 1, 1)  // of a job that is past
                            .add(23, TraceKind::complete, 0, 2);
  const Schedule schedule = schedule_of(events.until(30), taskset);
  EXPECT_THAT(states(taskset, schedule), ElementsAre("a0.0 cpu 0-21", "a2.0 cpu 21-23"));
  EXPECT_THAT(jobs(taskset, schedule), ElementsAre("a2 20(20)-23"));
}

TEST(ScheduleOfTrace, WhatDoesNotExistIsPassedOver) {
  const Taskset taskset = one_task({cpu(ms(1))}, 10);
  const Events events = Events()
                            .release(0, 0)
                            .release(0, 7)
                            .add(1, TraceKind::enter, 0, 0, 9)
                            .add(1, TraceKind::boost, 4)
                            .add(1, TraceKind::begin, 1)
                            .add(1, TraceKind::copy_begin, 0, 0, 0, -1)
                            .add(1, TraceKind::copy_begin, 0, 0, 0, 1'000'000)
                            .add(1, TraceKind::copy_end, 0, 0, 9, INT64_MAX)
                            .dispatch(1, 0, 3)
                            .dispatch(1, 5, 0)
                            .add(2, static_cast<TraceKind>(200), 0)
                            .add(3, TraceKind::complete, 0, 0, 999)
                            .release(9, 0, 1);  // after the end
  const Schedule schedule = schedule_of(events.until(5), taskset);
  EXPECT_THAT(states(taskset, schedule), ElementsAre("a0.0 cpu 0-3"));
  EXPECT_THAT(schedule.cores, IsEmpty());
  EXPECT_THAT(schedule.gpu, IsEmpty());
  EXPECT_THAT(schedule.copies, IsEmpty());
  EXPECT_THAT(jobs(taskset, schedule), ElementsAre("a0 0(0)-3"));
}

TEST(ScheduleOfTrace, AnyEventsGiveIntervalsInOrderWithinTheRun) {
  const Taskset taskset = high_low_and_far();
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&random](std::uint64_t limit) { return random() % limit; };
    Events events;
    for (std::int64_t at = 0; at < 200; at += static_cast<std::int64_t>(below(3))) {
      events.add(at, static_cast<TraceKind>(below(kTraceKindCount + 1)), static_cast<std::uint32_t>(below(4)), at / 20,
                 static_cast<std::uint16_t>(below(3)), static_cast<std::int64_t>(below(3)));
    }
    const Schedule schedule = schedule_of(events.until(190), taskset);
    std::vector<Duration> reached(taskset.tasks.size());
    for (const TaskInterval& each : schedule.tasks) {
      ASSERT_LT(each.begin, each.end);
      ASSERT_GE(each.begin, reached.at(each.task));
      ASSERT_LE(each.end, schedule.end);
      ASSERT_LT(each.segment, taskset.tasks[each.task].segments.size());
      reached[each.task] = each.end;
    }
    for (const GpuInterval& each : schedule.gpu) ASSERT_LT(each.task, taskset.tasks.size());
    for (const CoreInterval& each : schedule.cores) ASSERT_LT(each.task, taskset.tasks.size());
  }
}

}  // namespace
}  // namespace rtgpu
