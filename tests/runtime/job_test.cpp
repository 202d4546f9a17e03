// What jobs do, in virtual time: every expected time is worked out by hand.
#include "runtime/job.h"

#include "runtime/runtime.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <string>
#include <thread>
#include <utility>
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
using testing::plain_gpu;
using testing::seen_of;
using testing::setup;
using testing::times_of;
using testing::use_gpu_well;
using testing::virtual_options;

Segment copy(Duration time, CopyDirection direction = CopyDirection::to_device) {
  CopySegment segment;
  segment.time = {time, time};
  segment.direction = direction;
  return segment;
}

Segment in_blocks(Duration misc, Duration exec, Duration block) {
  GpuSegment segment;
  segment.misc = {misc, misc};
  segment.exec = ExecutionTime{exec, exec};
  segment.block = block;
  return segment;
}

// camera, of the higher priority, comes to the GPU while lidar has it, on another core.
void add_camera_and_lidar(Runtime& runtime, Duration camera_cpu, const Segment& lidar_gpu) {
  runtime.add_task(setup("camera", ms(100), 2, {cpu(camera_cpu), gpu(ms(1), ms(5)), cpu(ms(1))}, 0), use_gpu_well);
  runtime.add_task(setup("lidar", ms(100), 1, {cpu(ms(1)), lidar_gpu, cpu(ms(1))}, 1), use_gpu_well);
}

TEST(Job, WaitsForTheLockOfMpcp) {
  Gpu platform = plain_gpu();
  platform.overheads.lock = ms(1);
  Runtime runtime(virtual_options("mpcp", platform));
  add_camera_and_lidar(runtime, ms(2), gpu(ms(2), ms(10)));
  runtime.run_for(ms(50));
  EXPECT_THAT(events_of(runtime, "lidar"),
              ElementsAre("release@0ns", "start@0ns", "cpu@0ns", "arrive@1ms", "enter@1ms", "grant@1ms", "inside@2ms",
                          "submit@4ms", "begin@4ms", "end@14ms", "leave@14ms", "leave grant@14ms", "left@14ms",
                          "cpu@14ms", "complete@15ms"));
  EXPECT_THAT(events_of(runtime, "camera"),
              ElementsAre("release@0ns", "start@0ns", "cpu@0ns", "arrive@2ms", "enter@2ms", "grant@14ms", "inside@15ms",
                          "submit@16ms", "begin@16ms", "end@21ms", "leave@21ms", "leave grant@21ms", "left@21ms",
                          "cpu@21ms", "complete@22ms"));
}

// Each update of the runlist takes 1 ms; the GPU is camera's from the end of its enter call to that of its leave call.
TEST(Job, PreemptsUnderGcaps) {
  Gpu platform = plain_gpu();
  platform.overheads.runlist_update = ms(1);
  Runtime runtime(virtual_options("gcaps", platform));
  add_camera_and_lidar(runtime, ms(4), gpu(ms(2), ms(10)));
  runtime.run_for(ms(50));
  EXPECT_THAT(events_of(runtime, "camera"),
              ElementsAre("release@0ns", "start@0ns", "cpu@0ns", "arrive@4ms", "enter@4ms", "grant@4ms", "inside@5ms",
                          "submit@6ms", "begin@6ms", "end@11ms", "leave@11ms", "leave grant@11ms", "left@12ms",
                          "cpu@12ms", "complete@13ms"));
  EXPECT_THAT(events_of(runtime, "lidar"),
              ElementsAre("release@0ns", "start@0ns", "cpu@0ns", "arrive@1ms", "enter@1ms", "grant@1ms", "inside@2ms",
                          "submit@4ms", "begin@4ms", "preempt@5ms", "begin@12ms", "end@21ms", "leave@21ms",
                          "leave grant@21ms", "left@22ms", "cpu@22ms", "complete@23ms"));
}

TEST(Job, GetsInAtTheEndOfABlockWithStreamPriority) {
  Runtime runtime(virtual_options("stream-priority"));
  add_camera_and_lidar(runtime, ms(4), in_blocks(ms(2), ms(10), ms(4)));
  runtime.run_for(ms(50));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::submit), ElementsAre("5ms"));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::begin), ElementsAre("7ms"));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::complete), ElementsAre("13ms"));
  EXPECT_THAT(times_of(runtime, "lidar", TraceKind::begin), ElementsAre("3ms", "12ms"));
  EXPECT_THAT(times_of(runtime, "lidar", TraceKind::preempt), ElementsAre("7ms"));
  EXPECT_THAT(times_of(runtime, "lidar", TraceKind::complete), ElementsAre("19ms"));
}

void use_gpu_in_4_slices(Job& job) {
  std::vector<Slice> slices;
  const GpuStatus status = job.gpu("work", sliced(8, 2), [&](Stream stream, Slice slice) {
    slices.push_back(slice);
    stream.launch(
        slice.blocks, [](const Block&) {}, slice.first_block);
  });
  EXPECT_EQ(status, GpuStatus::ok);
  EXPECT_THAT(slices, ElementsAre(Slice{0, 2, 0, 4}, Slice{2, 2, 1, 4}, Slice{4, 2, 2, 4}, Slice{6, 2, 3, 4}));
}

TEST(Job, LetsAHigherOneInAtTheEndOfASlice) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("camera", ms(100), 2, {cpu(ms(4)), gpu(ms(1), ms(5))}, 0), use_gpu_well);
  runtime.add_task(setup("lidar", ms(100), 1, {cpu(ms(1)), gpu(ms(2), ms(8))}, 1), use_gpu_in_4_slices);
  runtime.run_for(ms(50));
  // lidar's slices of 2 ms would end at 5, 7, 9 and 11 ms.
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::grant), ElementsAre("5ms"));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::begin), ElementsAre("6ms"));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::complete), ElementsAre("11ms"));
  EXPECT_THAT(times_of(runtime, "lidar", TraceKind::begin), ElementsAre("3ms", "11ms"));
  EXPECT_THAT(times_of(runtime, "lidar", TraceKind::preempt), ElementsAre("5ms"));
  EXPECT_THAT(times_of(runtime, "lidar", TraceKind::complete), ElementsAre("17ms"));
}

TEST(Job, PaysForTheLaunchOfEachFurtherSlice) {
  Gpu platform = plain_gpu();
  platform.overheads.launch = ms(1);
  Runtime runtime(virtual_options("mpcp", platform));
  runtime.add_task(setup("lidar", ms(100), 1, {gpu(ms(2), ms(8))}), use_gpu_in_4_slices);
  runtime.run_for(ms(50));
  EXPECT_THAT(times_of(runtime, "lidar", TraceKind::complete), ElementsAre("13ms"));
}

TEST(Job, SpendsWhatItsSegmentsDeclare) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("camera", ms(100), 1, {cpu(ms(5)), gpu(ms(3), ms(4)), cpu(ms(2))}), [](Job& job) {
    job.spend(ms(2));
    EXPECT_EQ(job.now(), ms(2));
    EXPECT_EQ(job.enter("work"), GpuStatus::ok);
    EXPECT_EQ(job.now(), ms(5));
    job.spend(ms(1));  // of the misc
    EXPECT_EQ(job.leave(), GpuStatus::ok);
    EXPECT_EQ(job.now(), ms(12));
    job.spend(ms(6));  // more than declared
  });
  runtime.run_for(ms(50));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::submit), ElementsAre("8ms"));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::complete), ElementsAre("18ms"));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "camera").execution.max(), ms(14));
}

TEST(Job, TakesLessThanNoTimeAsNone) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("camera", ms(10), 1), [](Job& job) {
    job.spend(job.now() - job.deadline());
    job.spend(ms(1));
  });
  runtime.run_for(ms(15));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::complete), ElementsAre("1ms", "11ms"));
}

TEST(Job, KnowsItsTimes) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup camera = setup("camera", ms(20), 1, {cpu(ms(3))});
  camera.offset = ms(4);
  camera.deadline = ms(15);
  std::vector<std::string> seen;
  runtime.add_task(camera, [&](Job& job) {
    seen.push_back(std::to_string(job.number()) + " " + to_string(job.release()) + " " + to_string(job.deadline()) +
                   " " + to_string(job.now()));
    EXPECT_FALSE(job.aborted());
    EXPECT_THAT(job.memory(), IsEmpty());
  });
  runtime.run_for(ms(44));
  EXPECT_THAT(seen, ElementsAre("0 4ms 19ms 4ms", "1 24ms 39ms 24ms", "2 44ms 59ms 44ms"));
}

void copy_in(Job& job) {
  EXPECT_EQ(job.copy("in", {}), GpuStatus::ok);
}

void add_three_that_copy(Runtime& runtime) {
  runtime.add_task(setup("high", ms(100), 3, {cpu(ms(2)), copy(ms(3))}, 0), copy_in);
  runtime.add_task(setup("mid", ms(100), 2, {cpu(ms(1)), copy(ms(3))}, 1), copy_in);
  runtime.add_task(setup("low", ms(100), 1, {copy(ms(4)), cpu(ms(1))}, 2), copy_in);
}

TEST(Job, CopiesByPriority) {
  Runtime runtime(virtual_options("mpcp"));
  add_three_that_copy(runtime);
  runtime.run_for(ms(50));
  EXPECT_THAT(events_of(runtime, "low"), ElementsAre("release@0ns", "start@0ns", "copy arrive@0ns", "copy submit@0ns",
                                                     "copy begin@0ns", "copy end@4ms", "cpu@4ms", "complete@5ms"));
  EXPECT_THAT(times_of(runtime, "high", TraceKind::copy_submit), ElementsAre("2ms"));
  EXPECT_THAT(times_of(runtime, "high", TraceKind::copy_begin), ElementsAre("4ms"));
  EXPECT_THAT(times_of(runtime, "high", TraceKind::complete), ElementsAre("7ms"));
  EXPECT_THAT(times_of(runtime, "mid", TraceKind::complete), ElementsAre("10ms"));
}

TEST(Job, CopiesInOrderOfSubmissionWithStreamPriority) {
  Runtime runtime(virtual_options("stream-priority"));
  add_three_that_copy(runtime);
  runtime.run_for(ms(50));
  EXPECT_THAT(times_of(runtime, "mid", TraceKind::complete), ElementsAre("7ms"));
  EXPECT_THAT(times_of(runtime, "high", TraceKind::complete), ElementsAre("10ms"));
}

TEST(Job, CopiesOnAnEngineForEachDirection) {
  Gpu platform = plain_gpu();
  platform.copy_engines = 2;
  Runtime runtime(virtual_options("mpcp", platform));
  CopyRequest out;
  out.direction = CopyDirection::to_host;
  out.time = ms(2);  // said by the job, not by its task
  runtime.add_task(setup("in", ms(100), 2, {copy(ms(4))}, 0), copy_in);
  runtime.add_task(setup("out", ms(100), 1, {}, 1), [&](Job& job) { EXPECT_EQ(job.copy("out", out), GpuStatus::ok); });
  runtime.run_for(ms(50));
  EXPECT_THAT(times_of(runtime, "in", TraceKind::complete), ElementsAre("4ms"));
  EXPECT_THAT(times_of(runtime, "out", TraceKind::complete), ElementsAre("2ms"));
}

TEST(Job, EntersAndLeavesInSoManyWords) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("camera", ms(100), 1), [](Job& job) {
    EXPECT_EQ(job.enter("work"), GpuStatus::ok);
    job.spend(ms(1));
    job.stream().run(ms(2));
    job.stream().run(ms(3));
    EXPECT_EQ(job.leave(), GpuStatus::ok);
    EXPECT_EQ(job.now(), ms(6));
    EXPECT_EQ(job.enter("nothing"), GpuStatus::ok);
    EXPECT_EQ(job.leave(), GpuStatus::ok);
  });
  runtime.run_for(ms(50));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::enter), ElementsAre("0ns", "6ms"));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::submit), ElementsAre("1ms"));  // nothing is not submitted
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::complete), ElementsAre("6ms"));
}

TEST(Job, RefusesMoreLaunchesThanThereIsRoomFor) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup greedy = setup("greedy", ms(100), 2, {}, 0);
  greedy.launches = 2;
  int launches = 3;
  runtime.add_task(greedy, [&](Job& job) {
    const GpuStatus status = job.gpu("work", [&](Stream stream) {
      job.spend(ms(3));
      for (int count = 0; count < launches; ++count) stream.run(ms(10));
    });
    EXPECT_EQ(status, launches == 2 ? GpuStatus::ok : GpuStatus::too_much_work);
    launches = 2;
  });
  runtime.add_task(setup("modest", ms(100), 1, {cpu(ms(1)), gpu(ms(1), ms(1))}, 1), use_gpu_well);
  runtime.run_for(ms(150));
  // It leaves without having run anything, and the next job is as if nothing had been.
  EXPECT_THAT(times_of(runtime, "modest", TraceKind::grant), ElementsAre("3ms", "123ms"));
  EXPECT_THAT(times_of(runtime, "greedy", TraceKind::complete), ElementsAre("3ms", "123ms"));
  EXPECT_THAT(times_of(runtime, "greedy", TraceKind::submit), ElementsAre("103ms"));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "greedy").gpu_failures, 1);
  EXPECT_FALSE(report.is_clean());
  EXPECT_THAT(to_string(report), HasSubstr("greedy: 1 GPU segments or copies failed"));
}

TEST(Job, NeedsRoomForALaunch) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup none = setup("none", ms(100), 1, {gpu(ms(1), ms(5))});
  none.launches = 0;
  EXPECT_THAT(testing::refusal_of([&] { runtime.add_task(none, use_gpu_well); }),
              AllOf(HasSubstr("'none'"), HasSubstr("launches")));
}

// Jobs of a task that is triggered by the jobs of another one, at 1, 2 and 3 ms and at 101, 102 and 103 ms.
class Triggered : public ::testing::Test {
 protected:
  Triggered() : runtime_(virtual_options("mpcp")) {
    TaskSetup sporadic = setup("sporadic", ms(10), 2, {cpu(ms(4))}, 0);
    sporadic.released_by = ReleasedBy::trigger;
    TaskHandle& handle = runtime_.add_task(sporadic, [](Job&) {});
    runtime_.add_task(setup("source", ms(100), 1, {}, 1), [&handle](Job& job) {
      for (int count = 0; count < 3; ++count) {
        job.spend(ms(1));
        handle.trigger();
      }
    });
  }
  Runtime runtime_;
};

TEST_F(Triggered, KeepsTheirSeparation) {
  runtime_.run_for(ms(200));
  EXPECT_THAT(times_of(runtime_, "sporadic", TraceKind::release),
              ElementsAre("1ms", "11ms", "21ms", "101ms", "111ms", "121ms"));
  EXPECT_THAT(times_of(runtime_, "sporadic", TraceKind::start),
              ElementsAre("1ms", "11ms", "21ms", "101ms", "111ms", "121ms"));
  // After a long time of nothing as at any other time.
  const RunReport report = runtime_.report();
  const TaskStatistics& seen = seen_of(report, "sporadic");
  EXPECT_EQ(seen.jobs, 6);
  EXPECT_EQ(seen.response.count(), 6);
  EXPECT_EQ(seen.response.min(), ms(4));
  EXPECT_EQ(seen.response.max(), ms(4));
  EXPECT_EQ(seen.release_latency.max(), Duration());
}

TEST_F(Triggered, AreNotReleasedAfterTheRun) {
  runtime_.run_for(ms(15));
  EXPECT_THAT(times_of(runtime_, "sporadic", TraceKind::release), ElementsAre("1ms", "11ms"));
  runtime_.run_for(ms(2));  // nor in the next one
  EXPECT_THAT(times_of(runtime_, "sporadic", TraceKind::release), ElementsAre("1ms"));
}

TEST(Job, CountsTriggersWhileItRuns) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup sporadic = setup("sporadic", ms(10), 1);
  sporadic.released_by = ReleasedBy::trigger;
  TaskHandle* handle = nullptr;
  handle = &runtime.add_task(sporadic, [&](Job& job) {
    job.spend(ms(3));
    if (job.number() == 0) handle->trigger();  // at 4 ms: too early by 7
    job.spend(job.number() == 0 ? ms(15) : ms(1));
  });
  runtime.add_task(setup("source", ms(100), 2), [&](Job& job) {
    job.spend(ms(1));
    handle->trigger();
  });
  runtime.run_for(ms(90));
  EXPECT_THAT(times_of(runtime, "sporadic", TraceKind::release), ElementsAre("1ms", "11ms"));
  EXPECT_THAT(times_of(runtime, "sporadic", TraceKind::start), ElementsAre("1ms", "19ms"));
  EXPECT_EQ(handle->jobs(), 2);
  EXPECT_EQ(handle->misses(), 2);
  EXPECT_EQ(handle->max_response(), ms(18));
}

TEST(Job, CannotBeTriggeredWithoutARun) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup sporadic = setup("sporadic", ms(10), 1);
  sporadic.released_by = ReleasedBy::trigger;
  TaskHandle& handle = runtime.add_task(sporadic, [](Job&) {});
  handle.trigger();
  runtime.run_for(ms(20));
  handle.trigger();
  runtime.run_for(ms(20));
  EXPECT_EQ(handle.jobs(), 0);
}

TEST(Job, BelongsToItsThread) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("camera", ms(100), 1), [](Job& job) {
    std::vector<GpuStatus> answers;
    const auto from_elsewhere = [&](auto act) { std::thread([&] { answers.push_back(act()); }).join(); };
    from_elsewhere([&] { return job.enter("work"); });
    from_elsewhere([&] { return job.copy("in", {}); });
    from_elsewhere([&] { return job.gpu("work", [](Stream) { ADD_FAILURE(); }); });
    EXPECT_EQ(job.enter("work"), GpuStatus::ok);
    job.stream().run(ms(2));
    from_elsewhere([&] { return job.leave(); });
    from_elsewhere([&] {
      job.spend(ms(1));
      return GpuStatus::not_own_job;
    });
    EXPECT_EQ(job.leave(), GpuStatus::ok);  // all that has changed nothing
    EXPECT_THAT(answers, ::testing::Each(GpuStatus::not_own_job));
    EXPECT_EQ(answers.size(), 5U);
  });
  runtime.run_for(ms(10));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::complete), ElementsAre("2ms"));
  EXPECT_TRUE(runtime.report().is_clean());
}

}  // namespace
}  // namespace rtgpu
