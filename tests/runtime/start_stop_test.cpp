// Runs that begin and end: many of them, and from wherever they are stopped.
#include "runtime/runtime.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <semaphore>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using testing::ms;
using testing::seen_of;
using testing::setup;
using testing::times_of;
using testing::use_gpu_well;
using testing::virtual_options;

std::ptrdiff_t threads_now() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

void add_short_tasks(Runtime& runtime) {
  runtime.add_task(setup("camera", ms(10), 2, {cpu(ms(1)), gpu(ms(1), ms(1))}, 0), use_gpu_well);
  runtime.add_task(setup("lidar", ms(20), 1, {gpu(ms(1), ms(2))}, 1), use_gpu_well);
}

// On any machine, as a process without privileges.
RuntimeOptions real_options() {
  RuntimeOptions options;
  options.realtime.scheduler = Scheduler::normal;
  options.realtime.allow_degraded = true;
  options.realtime.share_cores = true;
  options.realtime.lock_memory = false;
  return options;
}

TEST(Runs, LeaveNoThreadBehind) {
  std::thread([] {}).join();  // a sanitizer may keep one of its own from the first one on
  const std::ptrdiff_t before = threads_now();
  Runtime same(virtual_options("mpcp"));
  add_short_tasks(same);
  for (int count = 0; count < 30; ++count) {
    same.run_for(ms(10));
    ASSERT_EQ(seen_of(same.report(), "camera").jobs, 2);
    ASSERT_EQ(seen_of(same.report(), "lidar").jobs, 1);
    Runtime another(virtual_options("gcaps"));
    add_short_tasks(another);
    another.run_for(ms(10));
    ASSERT_EQ(seen_of(another.report(), "camera").jobs, 2);
  }
  // The kernel lists a thread that has been joined for a moment longer.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (threads_now() > before && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  EXPECT_LE(threads_now(), before);
}

TEST(Runs, BeginWithinATimeOfNothing) {
  Runtime runtime(virtual_options("mpcp"));
  add_short_tasks(runtime);
  runtime.run_for({});  // the release at 0 is the last one
  EXPECT_EQ(seen_of(runtime.report(), "camera").jobs, 1);
  EXPECT_EQ(runtime.report().length, ms(5));
}

TEST(Runs, AreMovedWithTheirRuntime) {
  Runtime first(virtual_options("mpcp"));
  TaskHandle& handle = first.add_task(setup("camera", ms(10), 1), [](Job& job) { job.spend(ms(2)); });
  Runtime second = std::move(first);
  second.run_for(ms(35));
  EXPECT_EQ(handle.name(), "camera");
  EXPECT_EQ(handle.jobs(), 4);
  EXPECT_EQ(handle.max_response(), ms(2));
}

// What is stopped before it begins has no jobs; the run after that is as any other.
TEST(Stop, BeforeARun) {
  Runtime runtime(virtual_options("mpcp"));
  add_short_tasks(runtime);
  runtime.stop();
  runtime.stop();
  runtime.run_for(ms(20));
  EXPECT_EQ(seen_of(runtime.report(), "camera").jobs, 0);
  EXPECT_EQ(runtime.report().length, Duration());
  runtime.run_for(ms(20));
  EXPECT_EQ(seen_of(runtime.report(), "camera").jobs, 3);
}

// Jobs that have begun come to their end.
TEST(Stop, FromAJob) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("camera", ms(10), 2, {}, 0), [&](Job& job) {
    job.spend(ms(1));
    if (job.number() == 2) runtime.stop();
    use_gpu_well(job);
  });
  runtime.add_task(setup("lidar", ms(18), 1, {cpu(ms(5)), gpu(ms(1), ms(2))}, 1), use_gpu_well);
  TaskSetup sporadic = setup("sporadic", ms(10), 0);
  sporadic.released_by = ReleasedBy::trigger;
  runtime.add_task(sporadic, [](Job&) {});
  runtime.run_for(ms(200));
  EXPECT_THAT(times_of(runtime, "camera", TraceKind::complete), ElementsAre("1ms", "11ms", "21ms"));
  EXPECT_THAT(times_of(runtime, "lidar", TraceKind::complete), ElementsAre("8ms", "26ms"));
  EXPECT_EQ(runtime.report().length, ms(26));
}

TEST(Stop, FromAnotherThread) {
  Runtime runtime(real_options());
  std::binary_semaphore has_begun{0};
  TaskHandle& handle = runtime.add_task(setup("camera", ms(1), 1), [&](Job& job) {
    if (job.number() == 0) has_begun.release();
    EXPECT_EQ(job.gpu("work", [](Stream stream) { stream.run(Duration::microseconds(50)); }), GpuStatus::ok);
  });
  TaskSetup sporadic = setup("sporadic", Duration::microseconds(100), 0);
  sporadic.released_by = ReleasedBy::trigger;
  std::binary_semaphore was_triggered{0};
  TaskHandle& triggered = runtime.add_task(sporadic, [&](Job&) { was_triggered.release(); });
  std::thread stopper([&] {
    has_begun.acquire();
    triggered.trigger();
    was_triggered.acquire();
    runtime.stop();
  });
  runtime.run_for(Duration::infinite());
  stopper.join();
  const RunReport report = runtime.report();
  EXPECT_GE(handle.jobs(), 1);
  EXPECT_EQ(seen_of(report, "camera").jobs, handle.jobs());
  EXPECT_EQ(seen_of(report, "sporadic").jobs, 1);
  EXPECT_FALSE(report.virtual_time);
}

// Whoever triggers and stops need not know when a run ends.
TEST(Stop, AndTriggersAsRunsEnd) {
  Runtime runtime(real_options());
  TaskSetup sporadic = setup("sporadic", Duration::microseconds(100), 0);
  sporadic.released_by = ReleasedBy::trigger;
  std::binary_semaphore has_begun{0};
  TaskHandle& handle = runtime.add_task(sporadic, [&](Job& job) {
    if (job.number() == 0) has_begun.release();
  });
  for (int count = 0; count < 20; ++count) {
    std::thread outside([&] {
      while (!has_begun.try_acquire()) handle.trigger();
      runtime.stop();
      for (int more = 0; more < 1000; ++more) handle.trigger();
    });
    runtime.run_for(Duration::infinite());
    EXPECT_GE(handle.jobs(), 1);
    outside.join();
  }
}

}  // namespace
}  // namespace rtgpu
