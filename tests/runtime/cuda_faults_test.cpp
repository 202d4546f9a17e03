// What a user sees when a CUDA driver or device is not as it should be. On the fake driver.
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/make_device.h"
#include "runtime/runtime.h"
#include "tests/runtime/cuda_runs.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <cstddef>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using cuda::FakeCuda;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using testing::ms;
using testing::refusal_of;
using testing::seen_of;
using testing::setup;
using testing::times_of;
using testing::virtual_cuda_options;

struct OpenCase {
  std::vector<std::string> settings;
  std::string device;
  ErrorCode code;
  std::vector<std::string> says;
};

class CudaOpen : public ::testing::TestWithParam<OpenCase> {};

TEST_P(CudaOpen, SaysWhyItCannot) {
  FakeCuda fake;
  for (const std::string& setting : GetParam().settings) fake.set(setting);
  CudaOptions options;
  options.library = FakeCuda::path();
  const Result<std::unique_ptr<Device>> device = make_device(GetParam().device, {}, options);
  ASSERT_FALSE(device);
  const Error& error = device.errors().front();
  EXPECT_EQ(error.code, GetParam().code);
  for (const std::string& part : GetParam().says) EXPECT_THAT(to_string(error), HasSubstr(part));
  EXPECT_EQ(fake.things_left(), 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, CudaOpen,
    ::testing::Values(
        OpenCase{{"version=12020"}, "cuda", ErrorCode::environment, {"a driver for CUDA 12.2", "12.4 or later"}},
        OpenCase{{"devices=0"}, "cuda", ErrorCode::environment, {"a CUDA driver without a device", "nvidia-smi"}},
        OpenCase{{"init=803"}, "cuda", ErrorCode::environment, {"SYSTEM_DRIVER_MISMATCH", "restart the machine"}},
        OpenCase{{"devices=2"}, "cuda:2", ErrorCode::environment, {"device cuda:2", "cuda:0 to cuda:1"}},
        OpenCase{{}, "cuda:1", ErrorCode::environment, {"cuda:0, the only one"}},
        OpenCase{{"fail=cuDeviceGet:101"}, "cuda", ErrorCode::environment, {"INVALID_DEVICE (101)", "cuDeviceGet"}},
        OpenCase{{"fail=cuDevicePrimaryCtxRetain:46"},
                 "cuda",
                 ErrorCode::environment,
                 {"DEVICE_UNAVAILABLE (46)", "cuDevicePrimaryCtxRetain", "who uses the device"}},
        OpenCase{
            {"fail=cuDeviceGetName:1"}, "cuda", ErrorCode::environment, {"cuDeviceGetName", "a device that answers"}},
        OpenCase{
            {"fail=cuModuleLoadData:218"}, "cuda", ErrorCode::environment, {"INVALID_PTX (218)", "cuModuleLoadData"}},
        OpenCase{
            {"fail=cuModuleGetFunction:500"}, "cuda", ErrorCode::environment, {"NOT_FOUND", "cuModuleGetFunction"}},
        OpenCase{
            {"fail=cuOccupancyMaxActiveBlocksPerMultiprocessor:1"}, "cuda", ErrorCode::environment, {"cuOccupancy"}},
        OpenCase{{"fail=cuStreamCreateWithPriority:2"},
                 "cuda",
                 ErrorCode::environment,
                 {"OUT_OF_MEMORY (2)", "cuStreamCreateWithPriority"}},
        OpenCase{{"fail=cuEventCreate:2"}, "cuda", ErrorCode::environment, {"OUT_OF_MEMORY (2)", "cuEventCreate"}},
        OpenCase{
            {"fail=cuLaunchKernel:209"}, "cuda", ErrorCode::environment, {"NO_BINARY_FOR_GPU", "a first launch"}}));

TEST(CudaOptions, AreChecked) {
  FakeCuda fake;
  const auto refused = [&](const CudaOptions& wrong) {
    RuntimeOptions options = virtual_cuda_options(fake, "mpcp");
    const std::string library = options.cuda.library;
    options.cuda = wrong;
    options.cuda.library = library;
    return refusal_of([&] { const Runtime runtime(options); });
  };
  CudaOptions wrong;
  wrong.copy_chunk = 0;
  EXPECT_THAT(refused(wrong), HasSubstr("copies in parts of 0 bytes"));
  wrong = {};
  wrong.look_most = Duration::microseconds(1);
  EXPECT_THAT(refused(wrong), HasSubstr("0 < look_least <= look_most"));
}

TEST(CudaSetUp, SaysHowTheContextWaitsIfOthersMadeItBefore) {
  FakeCuda fake;
  fake.set("fail=cuDevicePrimaryCtxSetFlags:708");
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  EXPECT_THAT(runtime.report().notes, ElementsAre(HasSubstr("wait as the driver chooses, not block")));
}

TEST(CudaSetUp, SaysWhichWayOfWaitingOthersChose) {
  for (const auto& [flags, wait, said] : {std::tuple(cuda::kContextSchedSpin, ContextWait::block, "spin, not block"),
                                          std::tuple(cuda::kContextSchedYield, ContextWait::spin, "yield, not spin"),
                                          std::tuple(cuda::kContextSchedSpin, ContextWait::spin, "")}) {
    FakeCuda fake;
    const Result<cuda::Driver> application = cuda::Driver::load(FakeCuda::path());
    ASSERT_TRUE(application);
    ASSERT_EQ((*application)->cuDevicePrimaryCtxSetFlags(0, flags), cuda::CUresult::success);
    fake.set("fail=cuDevicePrimaryCtxSetFlags:708");
    RuntimeOptions options = virtual_cuda_options(fake, "mpcp");
    options.cuda.context_wait = wait;
    Runtime runtime(options);
    const std::vector<std::string> notes = runtime.report().notes;
    EXPECT_EQ(notes.size(), said[0] == 0 ? 0U : 1U);
    if (!notes.empty()) {
      EXPECT_THAT(notes.front(), HasSubstr(said));
    }
  }
}

TEST(CudaSetUp, MemoryThatIsNotThere) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  TaskSetup task = setup("task", ms(10), 1, {gpu(Duration(), ms(1))});
  task.memory = 1000;
  runtime.add_task(task, testing::use_gpu);
  fake.set("memory=999");  // others took it meanwhile
  EXPECT_THAT(
      refusal_of([&] { runtime.run_for(ms(10)); }),
      AllOf(HasSubstr("1000 bytes of device memory (CUDA_ERROR_OUT_OF_MEMORY (2)"), HasSubstr("999 of 999 bytes")));
}

TEST(CudaSetUp, PartitionsThatTheDriverRefuses) {
  FakeCuda fake;
  fake.set("split=915");
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  TaskSetup task = setup("task", ms(10), 1, {gpu(Duration(), ms(1))});
  task.sms = 4;
  runtime.add_task(task, testing::use_gpu);
  EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(10)); }), HasSubstr("INVALID_RESOURCE_CONFIGURATION (915)"));
}

TEST(CudaSetUp, AllSmsSetAsideLeaveNoneForOthers) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  TaskSetup task = setup("all", ms(10), 2, {gpu(Duration(), ms(1))});
  task.sms = 16;
  runtime.add_task(task, testing::use_gpu);
  runtime.add_task(setup("other", ms(10), 1, {gpu(Duration(), ms(1))}), testing::use_gpu);
  const std::string said = refusal_of([&] { runtime.run_for(ms(10)); });
  EXPECT_THAT(said, HasSubstr("partition"));
}

// A launch that fails ends the segment, and nothing else.
TEST(CudaFault, ALaunchThatFails) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  std::vector<GpuStatus> statuses;
  runtime.add_task(setup("task", ms(10), 1, {}), [&](Job& job) {
    if (job.number() == 1) fake.set("fail=cuLaunchKernel:701");
    statuses.push_back(job.gpu("work", [](Stream stream) { stream.run(ms(1)); }));
  });
  runtime.run_for(ms(25));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::ok, GpuStatus::failed, GpuStatus::ok));
  EXPECT_FALSE(runtime.report().device_lost);
}

// Between slices: those that would follow are not launched.
TEST(CudaFault, ASliceThatFails) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  std::vector<GpuStatus> statuses;
  std::vector<int> launched;
  runtime.add_task(setup("task", ms(20), 1, {}), [&](Job& job) {
    statuses.push_back(job.gpu("work", sliced(4, 1), [&](Stream stream, Slice slice) {
      launched.push_back(slice.index);
      if (slice.index == 1) fake.set("fail=cuLaunchKernel:2");
      if (slice.index == 2 && job.number() == 1) throw std::runtime_error("on purpose");
      stream.run(ms(1));
    }));
  });
  runtime.run_for(ms(25));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::failed, GpuStatus::failed));
  EXPECT_THAT(launched, ElementsAre(0, 1, 0, 1));
}

TEST(CudaFault, ASliceThatThrows) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  std::vector<GpuStatus> statuses;
  runtime.add_task(setup("task", ms(20), 1, {}), [&](Job& job) {
    statuses.push_back(job.gpu("work", sliced(4, 1), [&](Stream stream, Slice slice) {
      stream.run(ms(1));
      if (slice.index == 2) throw std::runtime_error("on purpose");
    }));
  });
  runtime.run_for(ms(5));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::failed));
  EXPECT_EQ(seen_of(runtime.report(), "task").faults, 0);
  EXPECT_THAT(times_of(runtime, "task", TraceKind::complete), ElementsAre("2ms"));
}

// A fault that stays ends the run in a reported state, and nobody waits for ever.
TEST(CudaFault, AnErrorThatStays) {
  for (const char* policy : {"mpcp", "fmlp+", "stream-priority"}) {
    SCOPED_TRACE(policy);
    FakeCuda fake;
    Runtime runtime(virtual_cuda_options(fake, policy));
    std::vector<GpuStatus> statuses;
    runtime.add_task(setup("faulty", ms(10), 2, {}, 0), [&](Job& job) {
      if (job.number() == 1) fake.set("fault_at_launch=700");
      statuses.push_back(job.gpu("work", [](Stream stream) { stream.run(ms(1)); }));
    });
    runtime.add_task(setup("other", ms(10), 1, {gpu(Duration(), ms(2))}, 1), testing::use_gpu);
    runtime.run_for(ms(25));
    EXPECT_THAT(statuses, ElementsAre(GpuStatus::ok, GpuStatus::device_lost, GpuStatus::device_lost));
    const RunReport report = runtime.report();
    EXPECT_TRUE(report.device_lost);
    EXPECT_THAT(report.notes, Contains(HasSubstr("the device was lost: CUDA_ERROR_ILLEGAL_ADDRESS (700)")));
    EXPECT_EQ(seen_of(report, "other").gpu_failures, 2);
    EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(10)); }),
                AllOf(HasSubstr("the device no longer answers"), HasSubstr("Start the process again")));
  }
}

// It cannot be taken off the GPU: the watchdog ends the run.
TEST(CudaFault, WorkThatHangs) {
  FakeCuda fake;
  {
    Runtime runtime(virtual_cuda_options(fake, "mpcp"));
    std::vector<GpuStatus> statuses;
    TaskSetup task = setup("hanging", ms(50), 2, {}, 0);
    task.watchdog = ms(7);
    runtime.add_task(task, [&](Job& job) {
      fake.set("hang_at_launch=1");
      statuses.push_back(job.gpu("work", [](Stream stream) { stream.run(ms(1)); }));
    });
    runtime.add_task(setup("next", ms(50), 1, {gpu(Duration(), ms(3))}, 1), testing::use_gpu);
    runtime.run_for(ms(60));
    EXPECT_THAT(statuses, ElementsAre(GpuStatus::device_lost, GpuStatus::device_lost));
    EXPECT_THAT(times_of(runtime, "hanging", TraceKind::complete), ElementsAre("14ms", "50ms"));
    EXPECT_TRUE(runtime.report().device_lost);
    EXPECT_THAT(runtime.report().notes, Contains(HasSubstr("did not end")));
  }
  EXPECT_GT(fake.things_left(), 0U);  // giving back would wait for the work
}

// Work that is too long fails at its end, or at that of its slice, and the others go on.
TEST(CudaFault, WorkThatIsTooLong) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  std::vector<GpuStatus> statuses;
  TaskSetup task = setup("long", ms(50), 2, {}, 0);
  task.watchdog = ms(7);
  runtime.add_task(task, [&](Job& job) {
    statuses.push_back(job.gpu("whole", [](Stream stream) { stream.run(ms(9)); }));
    statuses.push_back(job.gpu("sliced", sliced(20, 1), [](Stream stream, Slice) { stream.run(ms(2)); }));
  });
  runtime.add_task(setup("next", ms(50), 1, {gpu(Duration(), ms(3))}, 1), testing::use_gpu_well);
  runtime.run_for(ms(40));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::failed, GpuStatus::failed));
  // The higher task has its second segment first, whose fourth slice ends at 17 ms.
  EXPECT_THAT(times_of(runtime, "long", TraceKind::complete), ElementsAre("20ms"));
  EXPECT_THAT(times_of(runtime, "next", TraceKind::complete), ElementsAre("12ms"));
  EXPECT_FALSE(runtime.report().device_lost);
}

// What is seen late is late, and no more.
TEST(CudaFault, CompletionThatIsSeenLate) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  fake.set("late_ns=500000");
  runtime.add_task(setup("task", ms(10), 1, {gpu(Duration(), ms(2))}), testing::use_gpu_well);
  runtime.run_for(ms(5));
  EXPECT_THAT(times_of(runtime, "task", TraceKind::complete), ElementsAre("2500us"));
}

TEST(CudaFault, ACopyThatFails) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  std::vector<std::byte> host(16);
  std::vector<GpuStatus> statuses;
  TaskSetup task = setup("task", ms(10), 1, {});
  task.memory = 16;
  runtime.add_task(task, [&](Job& job) {
    if (job.number() == 0) fake.set("fail=cuMemcpyHtoDAsync:1");
    statuses.push_back(job.copy("there", {job.memory().data(), host.data(), host.size()}));
  });
  runtime.run_for(ms(15));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::failed, GpuStatus::ok));
}

// The driver does not work in a child process: no call reaches it there.
TEST(CudaFault, AForkedChildIsToldSo) {
  FakeCuda fake;
  CudaOptions options;
  options.library = FakeCuda::path();
  Result<std::unique_ptr<cuda::CudaDevice>> device = cuda::CudaDevice::open(0, options);
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->usable(), GpuStatus::ok);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool told = (*device)->usable() == GpuStatus::forked;
    const std::size_t left = fake.things_left();
    device->reset();  // does not touch the driver
    _exit(told && fake.things_left() == left ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ((*device)->usable(), GpuStatus::ok);
}

// On the real machine's threads: who waits busily looks itself, others are told.
TEST(CudaRealTime, EndsOfWorkAreSeen) {
  for (const WaitMode wait : {WaitMode::busy, WaitMode::suspend}) {
    FakeCuda fake;
    RuntimeOptions options = testing::real_cuda_options(fake, "mpcp");
    Runtime runtime(options);
    int done = 0;
    TaskSetup task = setup("task", ms(5), 1, {});
    task.wait = wait;
    runtime.add_task(task, [&](Job& job) {
      const GpuStatus whole = job.gpu("whole", [](Stream stream) { stream.run(Duration::microseconds(300)); });
      const GpuStatus in_slices =
          job.gpu("sliced", sliced(3, 1), [](Stream stream, Slice) { stream.run(Duration::microseconds(100)); });
      if (whole == GpuStatus::ok && in_slices == GpuStatus::ok) ++done;
    });
    runtime.run_for(ms(20));
    EXPECT_EQ(done, 5);
    const RunReport report = runtime.report();
    const TaskStatistics& seen = seen_of(report, "task");
    EXPECT_GE(seen.response.min(), Duration::microseconds(600));
  }
}

}  // namespace
}  // namespace rtgpu
