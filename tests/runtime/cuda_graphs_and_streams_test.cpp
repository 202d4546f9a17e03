// Graphs as the work of segments, and streams of the application, on the fake CUDA driver.
#include "runtime/runtime.h"
#include "tests/runtime/cuda_runs.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using cuda::CUresult;
using cuda::CUstream;
using cuda::FakeCuda;
using ::testing::AllOf;
using ::testing::Contains;
using testing::CountingKernel;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using testing::ms;
using testing::refusal_of;
using testing::setup;
using testing::times_of;
using testing::virtual_cuda_options;

// The driver of the application: that of the process.
class Application {
 public:
  Application() : driver_(cuda::Driver::load(FakeCuda::path())) {
    (*driver_)->cuDevicePrimaryCtxRetain(&context_, 0);
    (*driver_)->cuCtxSetCurrent(context_);
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application() { (*driver_)->cuDevicePrimaryCtxRelease(0); }
  ::CUstream_st* stream(unsigned flags, int priority) const {
    CUstream made = nullptr;
    EXPECT_EQ((*driver_)->cuStreamCreateWithPriority(&made, flags, priority), CUresult::success);
    return reinterpret_cast<::CUstream_st*>(made);
  }

 private:
  Result<cuda::Driver> driver_;
  cuda::CUcontext context_ = nullptr;
};

Stream stream_of(StreamTarget& target, ::CUstream_st* cuda) {
  target.cuda = cuda;
  return Stream(target);
}

TEST(CudaGraphSegment, IsCapturedBeforeTheRunAndLaunchedInIt) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  CountingKernel kernel(fake, "count", ms(2));
  kernel.counts.assign(4, 0);
  StreamTarget target;
  TaskSetup task = setup("task", ms(10), 1, {});
  task.graphs.push_back({[&](::CUstream_st* stream) {
    kernel.launch(stream_of(target, stream), 0, 2);
    kernel.launch(stream_of(target, stream), 2, 2);
  }});
  std::vector<GpuStatus> launched;
  runtime.add_task(task, [&](Job& job) {
    const GpuStatus status = job.gpu("graph", [&](Stream stream) {
      launched.push_back(stream.launch_graph(0));
      launched.push_back(stream.launch_graph(1));
    });
    EXPECT_EQ(status, GpuStatus::ok);
  });
  runtime.run_for(ms(15));
  EXPECT_THAT(launched, ElementsAre(GpuStatus::ok, GpuStatus::not_supported, GpuStatus::ok, GpuStatus::not_supported));
  EXPECT_THAT(kernel.counts, Each(2));  // twice, and not when it was captured
  EXPECT_THAT(times_of(runtime, "task", TraceKind::complete), ElementsAre("4ms", "14ms"));
  EXPECT_EQ(fake.calls("cuGraphUpload"), 1U);
  EXPECT_THAT(runtime.report().notes, Each(HasSubstr("device clock")));
}

TEST(CudaGraphSegment, LaunchThatFails) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  CountingKernel kernel(fake, "count", ms(1));
  kernel.counts.assign(1, 0);
  StreamTarget target;
  TaskSetup task = setup("task", ms(10), 1, {});
  task.graphs.push_back({[&](::CUstream_st* stream) { kernel.launch(stream_of(target, stream), 0, 1); }});
  std::vector<GpuStatus> launched;
  runtime.add_task(task, [&](Job& job) {
    fake.set(job.number() == 0 ? "fail=cuGraphLaunch:2" : "fail=cuGraphLaunch:719");
    job.gpu("graph", [&](Stream stream) { launched.push_back(stream.launch_graph(0)); });
  });
  runtime.run_for(ms(15));
  EXPECT_THAT(launched, ElementsAre(GpuStatus::failed, GpuStatus::device_lost));
  EXPECT_TRUE(runtime.report().device_lost);
}

TEST(CudaGraphSegment, WhatCannotBeMadeIsRefusedBeforeTheRun) {
  FakeCuda fake;
  const auto refused = [&](const TaskGraph& graph, const std::string& device) {
    RuntimeOptions options = virtual_cuda_options(fake, "mpcp");
    options.device = device;
    Runtime runtime(options);
    TaskSetup task = setup("task", ms(10), 1, {});
    task.graphs.push_back(graph);
    runtime.add_task(task, [](Job&) {});
    return refusal_of([&] { runtime.run_for(ms(1)); });
  };
  const TaskGraph empty{[](::CUstream_st*) {}};
  EXPECT_THAT(refused(empty, "cuda"), HasSubstr("a graph without nodes"));
  EXPECT_THAT(refused({}, "cuda"), HasSubstr("a graph of 'task' that is neither captured nor made"));
  EXPECT_THAT(refused(empty, "host"), AllOf(HasSubstr("a CUDA graph on gpu0"), HasSubstr("a CUDA device")));
}

// Kernels that are captured on streams of another priority keep it, and that is said.
TEST(CudaGraphSegment, ForeignPrioritiesAreReported) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "stream-priority"));
  const Application application;
  const Result<cuda::Driver> driver = cuda::Driver::load(FakeCuda::path());
  ASSERT_TRUE(driver);
  CountingKernel kernel(fake, "count", ms(1));
  kernel.counts.assign(2, 0);
  auto* const other = application.stream(cuda::kStreamNonBlocking, 0);
  StreamTarget target;
  TaskSetup task = setup("task", ms(10), 1, {gpu(Duration(), ms(2))});
  task.graphs.push_back({[&](::CUstream_st* stream) {
    cuda::CUevent fork = nullptr;
    cuda::CUevent join = nullptr;
    (*driver)->cuEventCreate(&fork, cuda::kEventDisableTiming);
    (*driver)->cuEventCreate(&join, cuda::kEventDisableTiming);
    (*driver)->cuEventRecord(fork, reinterpret_cast<CUstream>(stream));
    (*driver)->cuStreamWaitEvent(reinterpret_cast<CUstream>(other), fork, 0);
    kernel.launch(stream_of(target, other), 0, 1);
    (*driver)->cuEventRecord(join, reinterpret_cast<CUstream>(other));
    (*driver)->cuStreamWaitEvent(reinterpret_cast<CUstream>(stream), join, 0);
    kernel.launch(stream_of(target, stream), 1, 1);
  }});
  runtime.add_task(task, [&](Job& job) { job.gpu("graph", [](Stream stream) { stream.launch_graph(0); }); });
  runtime.run_for(ms(5));
  EXPECT_THAT(kernel.counts, Each(1));
  EXPECT_THAT(runtime.report().notes,
              Contains(HasSubstr("stream 0: 1 of 2 kernels of the graph have priority 0 instead of -5")));
}

TEST(CudaOwnStream, IsUsedAndStaysTheApplications) {
  FakeCuda fake;
  const Application application;
  auto* const own = application.stream(cuda::kStreamNonBlocking, -3);
  {
    Runtime runtime(virtual_cuda_options(fake, "mpcp"));
    TaskSetup task = setup("task", ms(10), 1, {});
    task.cuda_stream = own;
    ::CUstream_st* given = nullptr;
    runtime.add_task(task, [&](Job& job) {
      job.gpu("work", [&](Stream stream) {
        given = stream.cuda();
        stream.run(ms(1));
      });
    });
    runtime.run_for(ms(5));
    EXPECT_EQ(given, own);
    EXPECT_THAT(times_of(runtime, "task", TraceKind::complete), ElementsAre("1ms"));
    EXPECT_THAT(runtime.report().notes, Contains(HasSubstr("the stream has priority -3 instead of -5")));
  }
  EXPECT_EQ(fake.things_left(), 2U);  // the stream, and the application's hold on the context
}

TEST(CudaOwnStream, StreamsThatHoldOthersUpAreRefused) {
  FakeCuda fake;
  fake.set("default_stream=1");
  const Application application;
  const auto refused = [&](::CUstream_st* stream, std::optional<int> sms = {}) {
    Runtime runtime(virtual_cuda_options(fake, "mpcp"));
    TaskSetup task = setup("task", ms(10), 1, {});
    task.cuda_stream = stream;
    task.sms = sms;
    runtime.add_task(task, [](Job&) {});
    return refusal_of([&] { runtime.run_for(ms(1)); });
  };
  EXPECT_THAT(refused(reinterpret_cast<::CUstream_st*>(std::uintptr_t{1})), HasSubstr("legacy default stream"));
  EXPECT_THAT(refused(application.stream(cuda::kStreamDefault, 0)), HasSubstr("cudaStreamNonBlocking"));
  EXPECT_THAT(refused(application.stream(cuda::kStreamNonBlocking, 0), 4), HasSubstr("SMs of its own"));
}

TEST(CudaOwnStream, IsNothingForAHostDevice) {
  Runtime runtime(testing::virtual_options("mpcp"));
  TaskSetup task = setup("task", ms(10), 1, {});
  task.cuda_stream = reinterpret_cast<::CUstream_st*>(std::uintptr_t{1024});
  runtime.add_task(task, [](Job&) {});
  EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(1)); }), HasSubstr("a CUDA stream on gpu0"));
}

}  // namespace
}  // namespace rtgpu
