// Work and copies on a CUDA device that are given up, and what comes after: on the fake driver.
#include "runtime/device/cuda/copy_queue.h"
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/machine/virtual_machine.h"
#include "runtime/runtime.h"
#include "tests/runtime/cuda_fake_driver.h"
#include "tests/runtime/cuda_runs.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using cuda::CUresult;
using cuda::CUstream;
using cuda::FakeCuda;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ms;
using testing::refusal_of;
using testing::seen_of;
using testing::setup;
using testing::times_of;
using testing::virtual_cuda_options;
using Kind = DeviceEvent::Kind;

// What happened, as "copied 1".
std::vector<std::string> text_of(const DeviceEvents& events) {
  constexpr std::array kNames = {"switched", "boundary", "complete",    "copied",
                                 "copying",  "failed",   "copy_failed", "lost"};
  std::vector<std::string> text;
  for (const DeviceEvent& event : events) {
    text.push_back(kNames.at(static_cast<std::size_t>(event.kind)) +
                   (event.stream == kNoStream ? std::string() : " " + std::to_string(event.stream)));
  }
  return text;
}

// A queue for three streams, in parts of 8 bytes that end when the test says so.
class CudaCopyQueue : public cuda::CudaFakeDriver {
 protected:
  void SetUp() override {
    CudaFakeDriver::SetUp();
    copies = stream();
    queue.emplace(*driver, cuda::HandleOf<CUstream>(copies, cuda::GivesBack<CUstream>(call().cuStreamDestroy)),
                  cuda::HandleOf<cuda::CUevent>(event(), cuda::GivesBack<cuda::CUevent>(call().cuEventDestroy)), 8);
    queue->reset(3);
    fake.set("hold=1");
    device = memory(64);
  }

  CopyRequest to_device(std::size_t bytes, std::uint64_t key) const {
    CopyRequest request{reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(device)), host.data(), bytes};
    request.key = key;
    return request;
  }
  // A part ends, and what follows is started.
  std::vector<std::string> after_part() {
    fake.complete(copies);
    return after_attending();
  }
  std::vector<std::string> after_attending() {
    EXPECT_EQ(queue->attend(now), CUresult::success);
    DeviceEvents events;
    queue->tell(events, 0, now);
    EXPECT_EQ(queue->attend(now), CUresult::success);
    return text_of(events);
  }
  std::size_t parts() const { return fake.calls("cuMemcpyHtoDAsync"); }

  std::optional<cuda::CopyQueue> queue;
  CUstream copies = nullptr;
  cuda::CUdeviceptr device = 0;
  std::array<std::byte, 64> host{};
  Duration now;
};

TEST_F(CudaCopyQueue, ACopyInFlightThatIsGivenUpFailsAfterItsPart) {
  EXPECT_TRUE(queue->submit(0, to_device(24, 1), now));
  EXPECT_FALSE(queue->submit(1, to_device(8, 2), now));
  EXPECT_THAT(after_attending(), IsEmpty());
  EXPECT_FALSE(queue->abandon(0, now));
  EXPECT_THAT(after_attending(), IsEmpty());  // its part is still there
  EXPECT_EQ(parts(), 1U);
  EXPECT_THAT(after_part(), ElementsAre("copy_failed 0", "copying 1"));
  EXPECT_THAT(after_part(), ElementsAre("copied 1"));
  EXPECT_EQ(parts(), 2U);
  EXPECT_TRUE(queue->in_flight_since().is_infinite());
}

TEST_F(CudaCopyQueue, ACopyThatWaitsOrHasNotBegunIsDropped) {
  EXPECT_TRUE(queue->submit(0, to_device(8, 1), now));
  EXPECT_FALSE(queue->submit(1, to_device(8, 3), now));
  EXPECT_FALSE(queue->submit(2, to_device(8, 2), now));
  EXPECT_TRUE(queue->abandon(2, now));  // waits
  EXPECT_TRUE(queue->abandon(0, now));  // was to be started
  EXPECT_THAT(after_attending(), ElementsAre("copying 1"));
  EXPECT_THAT(after_part(), ElementsAre("copied 1"));
  EXPECT_EQ(parts(), 1U);
}

TEST_F(CudaCopyQueue, ACopyThatHasEndedButWasNotToldIsDropped) {
  EXPECT_TRUE(queue->submit(0, to_device(8, 1), now));
  EXPECT_EQ(queue->attend(now), CUresult::success);
  fake.complete(copies);
  EXPECT_EQ(queue->attend(now), CUresult::success);
  EXPECT_TRUE(queue->abandon(0, now));
  EXPECT_THAT(after_attending(), IsEmpty());
  EXPECT_TRUE(queue->submit(0, to_device(8, 2), now));  // it is free again
}

TEST_F(CudaCopyQueue, SaysWhatMakesTheDeviceLost) {
  EXPECT_TRUE(queue->submit(0, to_device(8, 1), now));
  fake.set("fail=cuMemcpyHtoDAsync:700");
  EXPECT_EQ(queue->attend(now), CUresult::illegal_address);
  EXPECT_FALSE(queue->submit(1, to_device(8, 1), now));
  EXPECT_THAT(after_attending(), ElementsAre("copy_failed 0", "copying 1"));
  fake.set("fail=cuEventQuery:719");
  EXPECT_EQ(queue->attend(now), CUresult::launch_failed);
}

struct NobodyListens final : DeviceListener {
  void on_device_event(const DeviceEvent& /*event*/) override {}
};

// Three slices of declared work on a device, which end when the test says so.
class CudaSlicesInFlight : public ::testing::Test {
 protected:
  void SetUp() override {
    CudaOptions options;
    options.library = FakeCuda::path();
    Result<std::unique_ptr<cuda::CudaDevice>> opened = cuda::CudaDevice::open(0, options);
    ASSERT_TRUE(opened);
    device = std::move(*opened);
    device->enter_thread();
    stream = *device->add_stream({});
    fake.set("hold=1");
    device->start(machine, nobody, {Boundary::slice, {}});
    for (int slice = 0; slice < 3; ++slice) {
      batch.add({{}, 0, 0, ms(1)});
      batch.end_slice();
    }
    before = fake.calls("cuLaunchKernel");
    ASSERT_EQ(device->launch(stream, batch, now), GpuStatus::ok);
    device->submit(stream, batch, now);
    device->select(stream, {}, now);
  }
  void TearDown() override { fake.set("hold=0"); }

  void end_slice() { fake.complete(reinterpret_cast<CUstream>(device->cuda_stream(stream))); }
  std::vector<std::string> after_attending() {
    device->attend(now);
    return text_of(device->advance(now));
  }
  std::size_t launched() const { return fake.calls("cuLaunchKernel") - before; }

  FakeCuda fake;
  VirtualMachine machine{1};
  NobodyListens nobody;
  std::unique_ptr<cuda::CudaDevice> device;
  StreamId stream = 0;
  WorkBatch batch{8};
  std::size_t before = 0;
  Duration now;
};

TEST_F(CudaSlicesInFlight, GoOnOneByOneToTheirEnd) {
  for (std::size_t slice = 1; slice < 3; ++slice) {
    EXPECT_THAT(after_attending(), IsEmpty());
    EXPECT_EQ(launched(), slice);
    end_slice();
    EXPECT_THAT(after_attending(), IsEmpty());
  }
  EXPECT_THAT(after_attending(), IsEmpty());
  end_slice();
  EXPECT_THAT(after_attending(), ElementsAre("complete 0"));
  EXPECT_EQ(launched(), 3U);
}

TEST_F(CudaSlicesInFlight, GivenUpFailWhenTheirSliceHasEnded) {
  EXPECT_FALSE(device->abandon(stream, now));
  EXPECT_THAT(after_attending(), IsEmpty());
  end_slice();
  EXPECT_THAT(after_attending(), ElementsAre("failed 0"));
  EXPECT_THAT(after_attending(), IsEmpty());
  EXPECT_EQ(launched(), 1U);
  EXPECT_TRUE(device->next_event(now).is_infinite());
}

TEST_F(CudaSlicesInFlight, GivenUpBetweenTwoAreGoneAtOnce) {
  device->want_boundary(true, now);
  end_slice();
  EXPECT_THAT(after_attending(), ElementsAre("boundary 0"));
  device->select(kNoStream, {}, now);  // somebody else's turn
  EXPECT_THAT(after_attending(), IsEmpty());
  EXPECT_TRUE(device->abandon(stream, now));
  device->select(stream, {}, now);
  EXPECT_THAT(after_attending(), IsEmpty());
  EXPECT_EQ(launched(), 1U);
}

// A slice that the driver does not take back from the loss of the device.
TEST_F(CudaSlicesInFlight, ANextSliceThatCannotBeLaunchedLosesTheDevice) {
  end_slice();
  EXPECT_THAT(after_attending(), IsEmpty());
  fake.set("fail=cuLaunchKernel:719");
  EXPECT_THAT(after_attending(), ElementsAre("lost"));
  EXPECT_THAT(after_attending(), IsEmpty());  // told once
  EXPECT_EQ(device->usable(), GpuStatus::device_lost);
  EXPECT_THAT(device->notes(), ElementsAre(HasSubstr("LAUNCH_FAILED (719)")));
}

TEST_F(CudaSlicesInFlight, AnEventThatTellsOfAFaultLosesTheDevice) {
  fake.set("fail=cuEventQuery:700");
  EXPECT_TRUE(device->look(stream, now));  // whoever waits busily
  EXPECT_THAT(after_attending(), ElementsAre("lost"));
  EXPECT_THAT(device->notes(), ElementsAre(HasSubstr("ILLEGAL_ADDRESS (700)")));
}

TEST_F(CudaSlicesInFlight, WorkThatDoesNotEndBeforeTheRunDoesLosesTheDevice) {
  device->stop();
  EXPECT_EQ(device->usable(), GpuStatus::device_lost);
  EXPECT_THAT(device->notes(), ElementsAre("the device was lost: its work did not end"));
}

// A copy on the engine cannot be taken off it, like a kernel.
TEST(CudaWatchdog, OfACopyInFlight) {
  FakeCuda fake;
  fake.set("copy_ns_per_kib=1000000");
  {
    Runtime runtime(virtual_cuda_options(fake, "mpcp"));
    std::vector<std::byte> host(9 * 1024);
    TaskSetup task = setup("copies", ms(50), 1, {});
    task.memory = 9 * 1024;
    task.watchdog = ms(4);
    GpuStatus status = GpuStatus::ok;
    runtime.add_task(task, [&](Job& job) {
      status = job.copy("there", {job.memory().data(), host.data(), host.size()});
    });
    runtime.run_for(ms(20));
    EXPECT_EQ(status, GpuStatus::device_lost);
    EXPECT_THAT(times_of(runtime, "copies", TraceKind::complete), ElementsAre("8ms"));  // it had as long again to end
    EXPECT_THAT(runtime.report().notes, Contains("the device was lost: its work did not end"));
    EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(1)); }), HasSubstr("the device no longer answers"));
  }
  EXPECT_GT(fake.things_left(), 0U);  // giving back would wait for the copy
}

// A declared copy occupies nothing but the order: it fails, and the next one goes on.
TEST(CudaWatchdog, OfADeclaredCopy) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  TaskSetup slow = setup("slow", ms(50), 2, {}, 0);
  slow.watchdog = ms(4);
  std::vector<GpuStatus> statuses;
  const auto copy_for = [&](Duration time) {
    return [&statuses, time](Job& job) {
      CopyRequest request;
      request.time = time;
      statuses.push_back(job.copy("declared", request));
    };
  };
  runtime.add_task(slow, copy_for(ms(9)));
  TaskSetup next = setup("next", ms(50), 1, {}, 1);
  next.offset = ms(1);
  runtime.add_task(next, copy_for(ms(2)));
  runtime.run_for(ms(20));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::failed, GpuStatus::ok));
  EXPECT_THAT(times_of(runtime, "next", TraceKind::complete), ElementsAre("6ms"));
  EXPECT_FALSE(runtime.report().device_lost);
}

// A job that is late while its slices are in flight is asked to end afterwards: what is submitted is not recalled.
TEST(CudaOverrun, AJobIsAbortedAfterItsSlices) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  TaskSetup task = setup("task", ms(10), 1, {});
  task.deadline = ms(5);
  task.overrun = Overrun::abort;
  std::vector<GpuStatus> statuses;
  int launched = 0;
  runtime.add_task(task, [&](Job& job) {
    statuses.push_back(job.gpu("sliced", sliced(4, 1), [&](Stream stream, Slice) {
      ++launched;
      stream.run(ms(2));
    }));
    statuses.push_back(job.gpu("after", [](Stream stream) { stream.run(ms(1)); }));
  });
  runtime.run_for(ms(9));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::ok, GpuStatus::aborted));
  EXPECT_EQ(launched, 4);
  EXPECT_EQ(seen_of(runtime.report(), "task").aborted, 1);
  EXPECT_THAT(times_of(runtime, "task", TraceKind::complete), ElementsAre("8ms"));
}

// Errors that did not lose the device leave nothing behind for the next run.
TEST(CudaRuns, ARunAfterOneWithErrors) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  bool fails = true;
  std::vector<GpuStatus> statuses;
  std::vector<std::byte> host(16);
  TaskSetup task = setup("task", ms(10), 1, {});
  task.memory = 16;
  runtime.add_task(task, [&](Job& job) {
    if (fails) fake.set("fail=cuLaunchKernel:701");
    statuses.push_back(job.gpu("work", sliced(2, 1), [](Stream stream, Slice) { stream.run(ms(1)); }));
    if (fails) fake.set("fail=cuMemcpyHtoDAsync:1");
    statuses.push_back(job.copy("there", {job.memory().data(), host.data(), host.size()}));
  });
  runtime.run_for(ms(5));
  fails = false;
  runtime.run_for(ms(5));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::failed, GpuStatus::failed, GpuStatus::ok, GpuStatus::ok));
  EXPECT_EQ(seen_of(runtime.report(), "task").gpu_failures, 0);
  EXPECT_THAT(runtime.report().notes, Each(HasSubstr("device clock")));
}

}  // namespace
}  // namespace rtgpu
