// What happens to jobs that are late or use too much of their core, in virtual time.
#include "runtime/runtime.h"
#include "runtime/task_setup.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::AllOf;
using testing::cpu;
using ::testing::ElementsAre;
using testing::events_of;
using testing::gpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ms;
using testing::seen_of;
using testing::setup;
using testing::times_of;
using testing::virtual_options;

// A task of period 10 ms whose second job takes 35 ms, and all others 2.
class LateJob : public ::testing::Test {
 protected:
  explicit LateJob(Overrun overrun = Overrun::keep_on) : runtime_(virtual_options("mpcp")) { late_.overrun = overrun; }

  const TaskStatistics& run(Duration time = ms(65)) {
    runtime_.add_task(late_, [](Job& job) { job.spend(ms(job.number() == 1 ? 35 : 2)); });
    runtime_.run_for(time);
    report_ = runtime_.report();
    return seen_of(report_, "late");
  }

  TaskSetup late_ = setup("late", ms(10), 1);
  Runtime runtime_;
  RunReport report_;
};

class LateJobThatSkips : public LateJob {
 protected:
  LateJobThatSkips() : LateJob(Overrun::skip) {}
};

TEST_F(LateJob, IsFollowedWithoutAPause) {
  const TaskStatistics& seen = run();
  EXPECT_THAT(times_of(runtime_, "late", TraceKind::release),
              ElementsAre("0ns", "10ms", "20ms", "30ms", "40ms", "50ms", "60ms"));
  EXPECT_THAT(times_of(runtime_, "late", TraceKind::start),
              ElementsAre("0ns", "10ms", "45ms", "47ms", "49ms", "51ms", "60ms"));
  EXPECT_THAT(times_of(runtime_, "late", TraceKind::overrun), ElementsAre("45ms", "47ms", "49ms", "51ms"));
  EXPECT_THAT(times_of(runtime_, "late", TraceKind::miss), ElementsAre("45ms", "47ms", "49ms", "51ms"));
  EXPECT_EQ(seen.jobs, 7);
  EXPECT_EQ(seen.misses, 4);  // the job of 40 ms ends at 51
  EXPECT_EQ(seen.skipped, 0);
  EXPECT_EQ(seen.response.max(), ms(35));
  EXPECT_EQ(seen.longest_job, 1);
}

TEST_F(LateJobThatSkips, DropsReleasesAndKeepsItsPhase) {
  const TaskStatistics& seen = run();
  EXPECT_THAT(times_of(runtime_, "late", TraceKind::release), ElementsAre("0ns", "10ms", "50ms", "60ms"));
  EXPECT_THAT(times_of(runtime_, "late", TraceKind::start), ElementsAre("0ns", "10ms", "50ms", "60ms"));
  EXPECT_EQ(seen.jobs, 4);
  EXPECT_EQ(seen.misses, 1);
  EXPECT_EQ(seen.skipped, 3);
  EXPECT_THAT(to_string(report_), HasSubstr("late: 3 releases skipped"));
}

TEST_F(LateJobThatSkips, DoesNotCountReleasesAfterTheRun) {
  EXPECT_EQ(run(ms(25)).skipped, 1);
}

// A job that ends as the next one is released has missed nothing of it.
TEST(Overrun, ReleasesOfTheSameMomentAreNotMissed) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup late = setup("late", ms(10), 1);
  late.overrun = Overrun::skip;
  late.deadline = ms(5);
  runtime.add_task(late, [](Job& job) { job.spend(ms(job.number() == 0 ? 10 : 5)); });
  runtime.run_for(ms(15));
  EXPECT_THAT(times_of(runtime, "late", TraceKind::start), ElementsAre("0ns", "10ms"));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "late").skipped, 0);
  EXPECT_EQ(seen_of(report, "late").misses, 1);  // 5 ms after its release is in time
}

// `other` has the lock from 0 to 30 ms.
void hold_the_lock(Runtime& runtime) {
  runtime.add_task(setup("other", ms(200), 5, {gpu(Duration(), ms(30))}, 1),
                   [](Job& job) { job.gpu("long", [](Stream) {}); });
}

TaskSetup aborting(Duration period, std::vector<Segment> segments = {}) {
  TaskSetup made = setup("impatient", period, 1, std::move(segments), 0);
  made.overrun = Overrun::abort;
  return made;
}

TEST(Abort, GivesUpWaitingAtTheDeadline) {
  Runtime runtime(virtual_options("mpcp"));
  hold_the_lock(runtime);
  std::vector<GpuStatus> answers;
  runtime.add_task(aborting(ms(20), {cpu(ms(1)), gpu(ms(1), ms(2))}), [&](Job& job) {
    answers.push_back(job.gpu("work", [](Stream) {}));
    if (job.number() != 0) return;
    EXPECT_EQ(job.now(), ms(20));
    EXPECT_TRUE(job.aborted());
    EXPECT_EQ(job.enter("again"), GpuStatus::aborted);
    EXPECT_EQ(job.copy("in", {}), GpuStatus::aborted);
    EXPECT_EQ(job.now(), ms(20));
  });
  runtime.run_for(ms(45));
  EXPECT_THAT(answers, ElementsAre(GpuStatus::aborted, GpuStatus::ok, GpuStatus::ok));
  // The second one is let in at 30.
  EXPECT_THAT(times_of(runtime, "impatient", TraceKind::start), ElementsAre("0ns", "20ms", "40ms"));
  EXPECT_THAT(times_of(runtime, "impatient", TraceKind::grant), ElementsAre("30ms", "41ms"));
  EXPECT_THAT(times_of(runtime, "impatient", TraceKind::complete), ElementsAre("20ms", "33ms", "44ms"));
  EXPECT_THAT(times_of(runtime, "impatient", TraceKind::overrun), ElementsAre("20ms"));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "impatient").aborted, 1);
  EXPECT_EQ(seen_of(report, "impatient").misses, 1);  // it did not do its work by its deadline
  EXPECT_FALSE(report.is_clean());
  EXPECT_THAT(to_string(report), HasSubstr("impatient: 1 jobs aborted"));
}

// Work is refused once the deadline has passed, and submitted work runs to its end.
TEST(Abort, RefusesWorkThatHasNotBeenSubmitted) {
  Runtime runtime(virtual_options("mpcp"));
  std::vector<GpuStatus> answers;
  runtime.add_task(aborting(ms(10)), [&](Job& job) {
    answers.push_back(job.gpu("work", [&](Stream stream) {
      job.spend(ms(job.number() == 0 ? 11 : 10));
      stream.run(ms(4));
    }));
  });
  runtime.add_task(setup("next", ms(100), 0, {cpu(ms(1)), gpu(ms(1), ms(1))}, 1),
                   [](Job& job) { job.gpu("work", [](Stream) {}); });
  runtime.run_for(ms(10));
  // The first one would submit at 11 ms; the second one is let in at 13 ms, and would at 23.
  EXPECT_THAT(answers, ElementsAre(GpuStatus::aborted, GpuStatus::aborted));
  EXPECT_THAT(times_of(runtime, "impatient", TraceKind::submit), IsEmpty());
  EXPECT_THAT(times_of(runtime, "next", TraceKind::grant), ElementsAre("11ms"));
}

TEST(Abort, LetsSubmittedWorkEnd) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(aborting(ms(10)), [&](Job& job) {
    const GpuStatus status = job.gpu("work", [&](Stream stream) {
      job.spend(ms(10));  // at the deadline it is not late
      stream.run(ms(4));
    });
    EXPECT_EQ(status, GpuStatus::ok);
    EXPECT_TRUE(job.aborted());
    EXPECT_EQ(job.gpu("more", [](Stream) { ADD_FAILURE(); }), GpuStatus::aborted);
  });
  runtime.run_for(ms(5));
  EXPECT_THAT(times_of(runtime, "impatient", TraceKind::end), ElementsAre("14ms"));
  EXPECT_THAT(times_of(runtime, "impatient", TraceKind::complete), ElementsAre("14ms"));
  EXPECT_EQ(seen_of(runtime.report(), "impatient").aborted, 1);
}

TEST(Overrun, IsDecidedByTheTask) {
  Runtime runtime(virtual_options("mpcp"));
  std::vector<std::string> asked;
  TaskSetup late = setup("late", ms(10), 1);
  late.on_overrun = [&](const OverrunInfo& info) {
    asked.push_back(std::to_string(info.job) + (info.budget ? " budget " : " deadline ") + to_string(info.late));
    return info.job == 0 ? Overrun::skip : Overrun::abort;
  };
  late.cpu_budget = ms(13);
  runtime.add_task(late, [](Job& job) {
    job.spend(ms(12));
    EXPECT_EQ(job.aborted(), job.number() == 1);
    job.spend(ms(3));
    EXPECT_EQ(job.aborted(), job.number() == 1);
  });
  runtime.run_for(ms(25));
  EXPECT_THAT(asked, ElementsAre("0 deadline 2ms", "0 budget 2ms", "1 deadline 2ms", "1 budget 2ms"));
  EXPECT_THAT(times_of(runtime, "late", TraceKind::start), ElementsAre("0ns", "20ms"));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "late").skipped, 1);
  EXPECT_EQ(seen_of(report, "late").aborted, 1);
  EXPECT_EQ(seen_of(report, "late").budget_overruns, 2);
}

// That it fails is a fault of the job, wherever it was asked.
TEST(Overrun, SurvivesADecisionThatThrows) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup late = setup("late", ms(10), 1);
  late.on_overrun = [](const OverrunInfo&) -> Overrun { throw std::runtime_error("cannot decide"); };
  runtime.add_task(late, [](Job& job) { job.spend(ms(job.number() == 0 ? 12 : 2)); });
  runtime.add_task(setup("other", ms(10), 0), [](Job& job) { job.spend(ms(1)); });
  runtime.run_for(ms(25));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "late").jobs, 3);
  EXPECT_EQ(seen_of(report, "late").faults, 1);
  EXPECT_EQ(seen_of(report, "late").last_fault, "cannot decide");
  EXPECT_EQ(seen_of(report, "other").jobs, 3);
}

// By what its thread has executed: 4 ms of the higher one do not count.
TEST(Budget, IsThatOfTheThread) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("high", ms(20), 2, {cpu(ms(4))}), [](Job&) {});
  TaskSetup limited = setup("limited", ms(20), 1);
  limited.cpu_budget = ms(5);
  limited.overrun = Overrun::abort;
  std::vector<bool> aborted;
  runtime.add_task(limited, [&](Job& job) {
    job.spend(ms(5));
    EXPECT_FALSE(job.aborted());
    job.gpu("work", [](Stream stream) { stream.run(ms(3)); });
    if (job.number() == 1) job.spend(Duration::nanoseconds(1));
    aborted.push_back(job.aborted());
  });
  runtime.run_for(ms(39));
  EXPECT_THAT(aborted, ElementsAre(false, true));
  EXPECT_THAT(times_of(runtime, "limited", TraceKind::complete), ElementsAre("12ms", "32000001ns"));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "limited").budget_overruns, 1);
  EXPECT_EQ(seen_of(report, "limited").aborted, 1);
  EXPECT_EQ(seen_of(report, "limited").execution.max(), ms(5) + Duration::nanoseconds(1));
  EXPECT_THAT(to_string(report), HasSubstr("limited: 1 jobs over their CPU budget"));
}

TEST(BestEffort, HasNoDeadline) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup log = setup("log", ms(10), 1);
  log.best_effort = true;
  log.overrun = Overrun::abort;
  log.on_overrun = [](const OverrunInfo&) {
    ADD_FAILURE();
    return Overrun::abort;
  };
  runtime.add_task(log, [](Job& job) {
    job.spend(ms(25));
    EXPECT_EQ(job.gpu("work", [](Stream stream) { stream.run(ms(1)); }), GpuStatus::ok);
    EXPECT_FALSE(job.aborted());
  });
  runtime.run_for(ms(5));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "log").misses, 0);
  EXPECT_EQ(seen_of(report, "log").response.max(), ms(26));
  EXPECT_THAT(times_of(runtime, "log", TraceKind::overrun), IsEmpty());
  EXPECT_TRUE(report.is_clean());
}

}  // namespace
}  // namespace rtgpu
