// GPU work that hangs or fails, and devices that no longer answer. In virtual time.
#include "runtime/device/host/timed_device.h"
#include "runtime/runtime.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::AllOf;
using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ms;
using ::testing::Not;
using testing::plain_gpu;
using testing::refusal_of;
using testing::seen_of;
using testing::setup;
using testing::times_of;
using testing::use_gpu;
using testing::virtual_options;

constexpr Duration kForEver = Duration::infinite();

// The first job hangs on the GPU, the others take 2 ms.
void hang_once(Job& job) {
  const GpuStatus status = job.gpu("work", [&](Stream stream) { stream.run(job.number() == 0 ? kForEver : ms(2)); });
  EXPECT_EQ(status, job.number() == 0 ? GpuStatus::failed : GpuStatus::ok);
}

TaskSetup hanging(Duration watchdog, int priority = 2) {
  TaskSetup made = setup("hanging", ms(50), priority, {}, 0);
  made.watchdog = watchdog;
  return made;
}

TEST(Watchdog, EndsWorkThatHangs) {
  for (const char* policy : {"mpcp", "fmlp+", "gcaps", "gcaps-wc", "stream-priority"}) {
    SCOPED_TRACE(policy);
    Runtime runtime(virtual_options(policy));
    runtime.add_task(hanging(ms(7)), hang_once);
    runtime.add_task(setup("next", ms(50), 1, {cpu(ms(1)), gpu(Duration(), ms(3))}, 1), use_gpu);
    runtime.run_for(ms(60));
    EXPECT_THAT(times_of(runtime, "hanging", TraceKind::end), ElementsAre("7ms", "52ms"));
    EXPECT_THAT(times_of(runtime, "hanging", TraceKind::complete), ElementsAre("7ms", "52ms"));
    EXPECT_THAT(times_of(runtime, "next", TraceKind::begin), ElementsAre("7ms", "52ms"));
    EXPECT_THAT(times_of(runtime, "next", TraceKind::complete), ElementsAre("10ms", "55ms"));
    const RunReport report = runtime.report();
    EXPECT_EQ(seen_of(report, "hanging").gpu_failures, 1);
    EXPECT_EQ(seen_of(report, "next").gpu_failures, 0);
    EXPECT_FALSE(report.device_lost);
    EXPECT_FALSE(report.is_clean());
  }
}

// It counts while the work runs: not while it waits, and not again from the start after each interruption.
TEST(Watchdog, CountsTheTimeOnTheGpu) {
  Runtime runtime(virtual_options("gcaps"));
  runtime.add_task(setup("often", ms(5), 3, {gpu(Duration(), ms(2))}, 1), use_gpu);
  runtime.add_task(hanging(ms(10)), hang_once);
  runtime.run_for(ms(30));
  // `often` has the GPU for the first 2 of every 5 ms: 10 ms of the rest are over at 2 + 3 * 5 + 1.
  EXPECT_THAT(times_of(runtime, "hanging", TraceKind::complete), ElementsAre("18ms"));
  EXPECT_EQ(seen_of(runtime.report(), "often").misses, 0);
}

TEST(Watchdog, CountsTimeSlices) {
  Gpu platform = plain_gpu();
  Runtime runtime(virtual_options("tsg-rr", platform));
  runtime.add_task(hanging(Duration::microseconds(4500)), hang_once);
  TaskSetup other = setup("other", ms(50), 1, {}, 1);
  other.watchdog = Duration::microseconds(7500);
  runtime.add_task(other, [](Job& job) {
    job.spend(Duration::microseconds(500));
    EXPECT_EQ(job.gpu("work", [](Stream stream) { stream.run(kForEver); }), GpuStatus::failed);
  });
  runtime.run_for(ms(20));
  // By turns of 1 ms: after 8.5 ms hanging has run for 4.5, and other for 4 of its 7.5.
  EXPECT_THAT(times_of(runtime, "hanging", TraceKind::complete), ElementsAre("8500us"));
  EXPECT_THAT(times_of(runtime, "other", TraceKind::complete), ElementsAre("12ms"));
}

TEST(Watchdog, DoesNotCountMovingToTheContext) {
  Gpu platform = plain_gpu();
  platform.overheads.context_switch = ms(1);
  Runtime runtime(virtual_options("tsg-rr", platform));
  runtime.add_task(hanging(ms(3)), hang_once);
  runtime.add_task(setup("other", ms(50), 1, {cpu(Duration::microseconds(500)), gpu(Duration(), ms(1))}, 1), use_gpu);
  runtime.run_for(ms(20));
  // The GPU moves to the other one from 1 to 2, and back from 3 to 4.
  EXPECT_THAT(times_of(runtime, "hanging", TraceKind::begin), ElementsAre("0ns", "4ms"));
  EXPECT_THAT(times_of(runtime, "hanging", TraceKind::complete), ElementsAre("6ms"));
}

TEST(Watchdog, LeavesAloneWhatEndsJustInTime) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(hanging(ms(7)), [](Job& job) {
    EXPECT_EQ(job.gpu("work", [](Stream stream) { stream.run(ms(7)); }), GpuStatus::ok);
  });
  runtime.run_for(ms(20));
  EXPECT_TRUE(runtime.report().is_clean());
}

// Nothing can end it: the run says so rather than going on for ever.
TEST(Hang, WithoutAWatchdogIsReported) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(hanging(kForEver), [](Job& job) {
    job.gpu("work", [](Stream stream) { stream.run(kForEver); });
    ADD_FAILURE();
  });
  runtime.add_task(setup("next", ms(50), 1, {cpu(ms(1)), gpu(Duration(), ms(3))}, 1), [](Job& job) {
    job.gpu("work", [](Stream) {});
    ADD_FAILURE();
  });
  EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(20)); }),
              AllOf(HasSubstr("nothing can happen any more"), HasSubstr("hanging, next"), HasSubstr("watchdog")));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "hanging").jobs, 0);
  EXPECT_FALSE(seen_of(report, "hanging").thread_died);  // it was ended
}

// A run that got stuck leaves nothing behind.
TEST(Hang, DoesNotSpoilTheNextRun) {
  Runtime runtime(virtual_options("mpcp"));
  int runs = 0;
  runtime.add_task(hanging(kForEver), [&](Job& job) {
    EXPECT_EQ(job.gpu("work", [&](Stream stream) { stream.run(runs == 0 ? kForEver : ms(2)); }), GpuStatus::ok);
  });
  EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(20)); }), Not(IsEmpty()));
  ++runs;
  runtime.run_for(ms(20));
  EXPECT_THAT(times_of(runtime, "hanging", TraceKind::complete), ElementsAre("2ms"));
}

DeviceProperties plain_device() {
  return TimedDevice::properties_of(plain_gpu());
}

// Cannot take work back.
class StubbornDevice final : public TimedDevice {
 public:
  StubbornDevice() : TimedDevice(plain_device()) {}
  bool abandon(StreamId /*stream*/, Duration /*now*/) override { return false; }
};

TEST(LostDevice, EndsEveryWaitAndTheRun) {
  for (const char* policy : {"mpcp", "gcaps", "tsg-rr", "stream-priority"}) {
    SCOPED_TRACE(policy);
    Runtime runtime(virtual_options(policy), std::make_unique<StubbornDevice>());
    std::vector<std::string> answers;
    const auto note = [&](Job& job, GpuStatus status) {
      answers.push_back(std::string(to_string(status)) + " at " + to_string(job.now()));
    };
    runtime.add_task(hanging(ms(7)), [&](Job& job) {
      note(job, job.gpu("work", [](Stream stream) { stream.run(kForEver); }));
      note(job, job.copy("in", {}));
    });
    runtime.add_task(setup("next", ms(50), 1, {cpu(ms(1)), gpu(Duration(), ms(3))}, 1),
                     [&](Job& job) { note(job, job.gpu("work", [](Stream) {})); });
    runtime.run_for(ms(60));
    const std::string lost(to_string(GpuStatus::device_lost));
    const std::string expected = policy == std::string("tsg-rr") ? "" : lost + " at 7ms";
    if (!expected.empty()) {
      EXPECT_THAT(answers, ::testing::UnorderedElementsAre(expected, expected, expected, lost + " at 50ms",
                                                           lost + " at 50ms", lost + " at 51ms"));
    }
    EXPECT_EQ(answers.size(), 6U);
    const RunReport report = runtime.report();
    EXPECT_TRUE(report.device_lost);
    EXPECT_FALSE(report.is_clean());
    EXPECT_EQ(seen_of(report, "hanging").jobs, 2);
    EXPECT_EQ(seen_of(report, "next").jobs, 2);
    EXPECT_THAT(to_string(report), HasSubstr("the device no longer answers"));
  }
}

// Jobs without the GPU go on as they should: nobody keeps a boost that nothing ends.
TEST(LostDevice, LeavesTheCoresAlone) {
  Runtime runtime(virtual_options("mpcp"), std::make_unique<StubbornDevice>());
  runtime.add_task(setup("control", ms(10), 3, {cpu(ms(2))}, 0), [](Job&) {});
  runtime.add_task(hanging(ms(7)), [](Job& job) {
    job.gpu("work", [](Stream stream) { stream.run(kForEver); });
    job.spend(ms(10));
  });
  runtime.run_for(ms(30));
  EXPECT_EQ(seen_of(runtime.report(), "control").response.max(), ms(2));
  EXPECT_THAT(times_of(runtime, "hanging", TraceKind::complete), ElementsAre("23ms"));
}

// lidar waits for its leave call as the device is lost, and is granted it later, when it has gone on long since.
TEST(LostDevice, BoostsNobody) {
  Gpu platform = plain_gpu();
  platform.overheads.runlist_update = ms(2);
  Runtime runtime(virtual_options("gcaps", platform), std::make_unique<StubbornDevice>());
  TaskSetup control = setup("control", ms(20), 4, {cpu(ms(2))}, 1);
  control.offset = ms(9);
  runtime.add_task(control, [](Job&) {});
  TaskSetup camera = hanging(ms(1), 3);
  runtime.add_task(camera, [](Job& job) {
    job.spend(ms(4));
    job.gpu("work", [](Stream stream) { stream.run(kForEver); });
  });
  runtime.add_task(setup("radar", ms(50), 2, {cpu(ms(5)), gpu(ms(1), ms(1))}, 2), use_gpu);
  runtime.add_task(setup("lidar", ms(50), 1, {gpu(Duration(), ms(3))}, 1), [](Job& job) {
    job.gpu("work", [](Stream) {});
    EXPECT_EQ(job.now(), ms(7));
    job.spend(ms(10));
  });
  runtime.run_for(ms(30));
  EXPECT_THAT(times_of(runtime, "radar", TraceKind::inside), ElementsAre("8ms"));
  EXPECT_THAT(times_of(runtime, "control", TraceKind::complete), ElementsAre("11ms", "31ms"));
  EXPECT_TRUE(runtime.report().device_lost);
}

// Nothing that a job has submitted can be taken back, so its place is free when that has ended.
TEST(LostDevice, IsNotOneThatOnlyCannotTakeWorkBack) {
  Runtime runtime(virtual_options("mpcp"), std::make_unique<StubbornDevice>());
  runtime.add_task(setup("camera", ms(50), 1, {gpu(ms(1), ms(4))}), use_gpu);
  runtime.run_for(ms(60));
  EXPECT_TRUE(runtime.report().is_clean());
}

TEST(LostDevice, HangsWithoutAWatchdogAreReported) {
  Runtime runtime(virtual_options("mpcp"), std::make_unique<StubbornDevice>());
  runtime.add_task(hanging(kForEver), [](Job& job) {
    job.gpu("work", [](Stream stream) { stream.run(kForEver); });
    ADD_FAILURE();
  });
  EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(20)); }), HasSubstr("nothing can happen any more"));
}

// The first work of a stream fails at its end.
class FaultyDevice final : public TimedDevice {
 public:
  explicit FaultyDevice(StreamId faulty) : TimedDevice(plain_device()), faulty_(faulty) {}
  DeviceEvents advance(Duration now) override {
    DeviceEvents events;
    for (DeviceEvent event : TimedDevice::advance(now)) {
      if (event.kind == DeviceEvent::Kind::complete && event.stream == faulty_ && !std::exchange(failed_, true)) {
        event.kind = DeviceEvent::Kind::failed;
      }
      events.add(event);
    }
    return events;
  }

 private:
  StreamId faulty_;
  bool failed_ = false;
};

TEST(FailedWork, FailsItsSegmentAlone) {
  for (const char* policy : {"mpcp", "gcaps", "stream-priority"}) {
    SCOPED_TRACE(policy);
    Runtime runtime(virtual_options(policy), std::make_unique<FaultyDevice>(0));
    std::vector<GpuStatus> answers;
    runtime.add_task(setup("camera", ms(50), 2, {gpu(ms(1), ms(4))}, 0),
                     [&](Job& job) { answers.push_back(job.gpu("work", [](Stream) {})); });
    runtime.add_task(setup("next", ms(50), 1, {cpu(ms(2)), gpu(Duration(), ms(3))}, 1),
                     [&](Job& job) { EXPECT_EQ(job.gpu("work", [](Stream) {}), GpuStatus::ok); });
    runtime.run_for(ms(60));
    EXPECT_THAT(answers, ElementsAre(GpuStatus::failed, GpuStatus::ok));
    EXPECT_THAT(times_of(runtime, "camera", TraceKind::complete), ElementsAre("5ms", "55ms"));
    EXPECT_THAT(times_of(runtime, "next", TraceKind::complete), ElementsAre("8ms", "58ms"));
    const RunReport report = runtime.report();
    EXPECT_EQ(seen_of(report, "camera").gpu_failures, 1);
    EXPECT_FALSE(report.is_clean());
  }
}

}  // namespace
}  // namespace rtgpu
