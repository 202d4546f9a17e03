// The CUDA device on the fake driver, in virtual time: what it does with work, and what a user sees.
#include "analysis/simulation/schedule.h"
#include "analysis/simulation/trials.h"
#include "rtgpu/policy.h"
#include "runtime/device/make_device.h"
#include "runtime/runtime.h"
#include "runtime/trace/schedule_of_trace.h"
#include "taskset/taskset.h"
#include "tests/runtime/cuda_runs.h"
#include "tests/runtime/same_schedule.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using cuda::FakeCuda;
using cuda::FakeLaunch;
using testing::CountingKernel;
using testing::cpu;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ms;
using testing::plain_gpu;
using testing::seen_of;
using testing::setup;
using testing::times_of;
using testing::virtual_cuda_options;

TEST(CudaDevice, IsWhatTheDriverSays) {
  FakeCuda fake;
  fake.set("sms=20");
  fake.set("copy_engines=5");
  fake.set("levels=3");
  const Runtime runtime(virtual_cuda_options(fake, "stream-priority"));
  EXPECT_EQ(runtime.device().name, "Fake GPU 0 (cuda:0)");
  EXPECT_EQ(runtime.device().sms, 20);
  EXPECT_EQ(runtime.device().copy_engines, 2);  // one of each direction is enough
  EXPECT_EQ(runtime.device().stream_levels, 3);
  // So does the analysis.
  EXPECT_EQ(runtime.taskset().platform.gpus.front().sms, 20);
  EXPECT_EQ(runtime.taskset().platform.gpus.front().stream_priorities, 3);
  EXPECT_EQ(runtime.taskset().platform.gpus.front().memory, 1073741824);
}

// Everything goes back to the driver.
TEST(CudaDevice, LeavesNothingBehind) {
  FakeCuda fake;
  {
    Runtime runtime(virtual_cuda_options(fake, "mpcp"));
    TaskSetup task = setup("task", ms(10), 1, {gpu(Duration(), ms(1))});
    task.memory = 4096;
    task.sms = 4;
    runtime.add_task(task, testing::use_gpu_well);
    runtime.run_for(ms(20));
    runtime.run_for(ms(20));
    EXPECT_EQ(seen_of(runtime.report(), "task").gpu_failures, 0);
    EXPECT_GT(fake.things_left(), 0U);
  }
  EXPECT_EQ(fake.things_left(), 0U);
}

// With a lock on the GPU, the hardware has nothing to choose: runs are those of the simulator.
class CudaSameAsSimulator : public ::testing::TestWithParam<const char*> {};

TEST_P(CudaSameAsSimulator, OnRandomTasksets) {
  constexpr int kCases = 9;
  int compared = 0;
  for (int number = 0; number < kCases; ++number) {
    const std::uint64_t seed = 9'000 + static_cast<std::uint64_t>(number);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    Taskset taskset = testing::random_case(engine, number);
    taskset.platform.gpus.front().overheads.launch = Duration();  // a real device takes what it takes
    TrialChoices choices;
    if (number % 3 != 0) choices.releases = Releases::sporadic;
    if (number % 4 != 0) choices.execution = Execution::random;
    choices.seed = seed;
    const Scenario scenario = scenario_of_trial(taskset, choices, static_cast<std::uint64_t>(number % 4));
    const std::optional<Schedule> expected = testing::simulated(taskset, *parse_policy(GetParam()), scenario, ms(120));
    if (!expected) continue;
    FakeCuda fake;
    fake.set(taskset.platform.gpus.front().copy_engines > 1 ? "copy_engines=2" : "copy_engines=1");
    Runtime runtime(virtual_cuda_options(fake, GetParam(), taskset.platform.gpus.front()));
    runtime.add_taskset(taskset, scenario);
    runtime.run_for(ms(120));
    testing::expect_same(*expected, schedule_of(runtime.trace(), taskset));
    if (HasFailure()) return;
    ++compared;
  }
  EXPECT_GE(compared, kCases / 2);
}

INSTANTIATE_TEST_SUITE_P(Policies, CudaSameAsSimulator, ::testing::Values("mpcp", "fmlp+"), [](const auto& parameter) {
  return parameter.param == std::string("mpcp") ? "mpcp" : "fmlpp";
});

// Work that is launched into the task's own stream, by whatever means.
TEST(CudaStream, TakesWorkOfTheApplication) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  CountingKernel kernel(fake, "count", ms(2));
  kernel.counts.assign(10, 0);
  // What it declares is not launched as well.
  runtime.add_task(setup("task", ms(50), 1, {cpu(ms(1)), gpu(Duration(), ms(9))}), [&](Job& job) {
    const GpuStatus status =
        job.gpu("count", [&](Stream stream) { EXPECT_EQ(kernel.launch(stream, 0, 10), cuda::CUresult::success); });
    EXPECT_EQ(status, GpuStatus::ok);
  });
  runtime.run_for(ms(40));
  EXPECT_THAT(kernel.counts, Each(1));
  EXPECT_THAT(times_of(runtime, "task", TraceKind::complete), ElementsAre("3ms"));
}

// One slice at a time is on the device, and the policy lets a higher task in between two.
TEST(CudaStream, SlicesGoOneByOneAndLetOthersIn) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  CountingKernel low(fake, "low", ms(2));
  low.counts.assign(100, 0);
  runtime.add_task(setup("low", ms(100), 1, {}, 0), [&](Job& job) {
    const auto launch = [&](Stream stream, Slice part) { low.launch(stream, part.first_block, part.blocks); };
    EXPECT_EQ(job.gpu("sliced", sliced(100, 30), launch), GpuStatus::ok);
  });
  TaskSetup high = setup("high", ms(100), 2, {gpu(Duration(), ms(1))}, 1);
  high.offset = ms(3);
  runtime.add_task(high, testing::use_gpu_well);
  runtime.run_for(ms(50));
  EXPECT_THAT(low.counts, Each(1));
  std::vector<std::string> order;
  for (const FakeLaunch& launch : fake.launches()) {
    if (launch.end > launch.begin) order.push_back(launch.kernel + " " + std::to_string(launch.grid[0]));
  }
  // 30 blocks are one wave on 16 SMs with two blocks each.
  EXPECT_THAT(order, ElementsAre("low 30", "low 30", "rtgpu_spend 32", "low 30", "low 10"));
  EXPECT_THAT(times_of(runtime, "high", TraceKind::complete), ElementsAre("5ms"));
  EXPECT_THAT(times_of(runtime, "low", TraceKind::complete), ElementsAre("9ms"));
}

// As a taskset declares them, without code of the application.
TEST(CudaStream, DeclaredSlicesLetOthersIn) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  Segment segment = gpu(Duration(), ms(9));
  std::get<GpuSegment>(segment).slices = 4;
  runtime.add_task(setup("low", ms(100), 1, {segment}, 0), testing::use_gpu_well);
  TaskSetup high = setup("high", ms(100), 2, {gpu(Duration(), ms(1))}, 1);
  high.offset = ms(3);
  runtime.add_task(high, testing::use_gpu_well);
  const std::size_t before = fake.calls("cuLaunchKernel");
  runtime.run_for(ms(50));
  EXPECT_EQ(fake.calls("cuLaunchKernel"), before + 5);
  EXPECT_THAT(times_of(runtime, "high", TraceKind::complete), ElementsAre("5500us"));  // the second slice ends at 4.5
  EXPECT_THAT(times_of(runtime, "low", TraceKind::complete), ElementsAre("10ms"));
}

TEST(CudaStream, WorkThatThrowsIsAwaitedBeforeOthersGetIn) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  CountingKernel kernel(fake, "count", ms(4));
  kernel.counts.assign(1, 0);
  runtime.add_task(setup("throws", ms(50), 2, {}, 0), [&](Job& job) {
    job.gpu("work", [&](Stream stream) {
      kernel.launch(stream, 0, 1);
      throw std::runtime_error("on purpose");
    });
  });
  runtime.add_task(setup("next", ms(50), 1, {gpu(Duration(), ms(1))}, 1), testing::use_gpu_well);
  runtime.run_for(ms(20));
  EXPECT_EQ(seen_of(runtime.report(), "throws").faults, 1);
  EXPECT_THAT(times_of(runtime, "next", TraceKind::complete), ElementsAre("5ms"));
}

TEST(CudaStream, IsNotThereOnAHostDevice) {
  Runtime runtime(testing::virtual_options("mpcp"));
  GpuStatus status = GpuStatus::ok;
  runtime.add_task(setup("task", ms(10), 1), [&](Job& job) {
    status = job.gpu("work", [](Stream stream) { EXPECT_EQ(stream.cuda(), nullptr); });
  });
  runtime.run_for(ms(1));
  EXPECT_EQ(status, GpuStatus::not_supported);
}

TEST(CudaStream, DoesNotRunKernelsOfTheHost) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  std::vector<GpuStatus> statuses;
  runtime.add_task(setup("task", ms(10), 1), [&](Job& job) {
    statuses.push_back(job.gpu("whole", [](Stream stream) { stream.launch(4, [](const Block&) {}); }));
    statuses.push_back(
        job.gpu("sliced", sliced(4, 2), [](Stream stream, Slice) { stream.launch(4, [](const Block&) {}); }));
    statuses.push_back(job.gpu("next", [](Stream stream) { stream.run(Duration::microseconds(1)); }));
  });
  runtime.run_for(ms(1));
  EXPECT_THAT(statuses, ElementsAre(GpuStatus::not_supported, GpuStatus::failed, GpuStatus::ok));
}

// Of each level that the device has, and the hardware goes by them: at the ends of thread blocks.
TEST(CudaStream, HasThePriorityOfItsLevelUnderStreamPriority) {
  FakeCuda fake;
  Gpu gpu_of;
  gpu_of.sms = 16;
  Runtime runtime(virtual_cuda_options(fake, "stream-priority", gpu_of));
  CountingKernel low(fake, "low", ms(2));
  low.counts.assign(96, 0);
  runtime.add_task(setup("low", ms(100), 1, {}, 0), [&](Job& job) {
    EXPECT_EQ(job.gpu("work", [&](Stream stream) { low.launch(stream, 0, 96); }), GpuStatus::ok);  // three waves
  });
  TaskSetup high = setup("high", ms(100), 2, {gpu(Duration(), ms(1))}, 1);
  high.offset = Duration::microseconds(500);
  runtime.add_task(high, testing::use_gpu_well);
  runtime.run_for(ms(50));
  EXPECT_THAT(times_of(runtime, "high", TraceKind::complete), ElementsAre("3ms"));
  EXPECT_THAT(times_of(runtime, "low", TraceKind::complete), ElementsAre("7ms"));
  for (const FakeLaunch& launch : fake.launches()) {
    if (launch.kernel == "low") {
      EXPECT_EQ(launch.priority, -4);  // the second of six: -5, -4, ..., 0
    }
  }
}

// Small kernels run beside others of a higher level, and end before them: nobody waits for the policy's order.
TEST(CudaStream, WorkMayOvertakeUnderStreamPriority) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "stream-priority"));
  TaskSetup high = setup("high", ms(100), 2, {gpu(Duration(), ms(9))}, 0);
  high.sms = 8;  // so that the other one really runs beside it
  runtime.add_task(high, testing::use_gpu_well);
  runtime.add_task(setup("low", ms(100), 1, {gpu(Duration(), ms(2))}, 1), testing::use_gpu_well);
  runtime.run_for(ms(50));
  EXPECT_THAT(times_of(runtime, "high", TraceKind::complete), ElementsAre("9ms"));
  EXPECT_THAT(times_of(runtime, "low", TraceKind::complete), ElementsAre("2ms"));
}

TEST(CudaStream, LevelsThatTheDeviceDoesNotGrantAreReported) {
  for (const int levels : {2, 3, 6}) {
    SCOPED_TRACE(levels);
    FakeCuda fake;
    fake.set("levels=" + std::to_string(levels));
    fake.set("granted_levels=1");
    Runtime runtime(virtual_cuda_options(fake, "stream-priority"));
    for (int task = 0; task < 3; ++task) {
      const std::string name = "task " + std::to_string(task);
      runtime.add_task(setup(name, ms(10), 3 - task, {gpu(Duration(), ms(1))}, task), testing::use_gpu_well);
    }
    runtime.run_for(ms(1));
    const std::vector<std::string> notes = runtime.report().notes;
    EXPECT_THAT(notes, ::testing::Contains("stream 0: asked for priority " + std::to_string(1 - levels) + ", got 0"));
    const bool shares = levels == 2;
    EXPECT_EQ(!notes.empty() && notes.front().find("3 tasks share 2 stream levels") == 0, shares);
  }
}

TEST(CudaDevice, RefusesPoliciesThatTakeTheGpuAway) {
  FakeCuda fake;
  for (const char* policy : {"gcaps", "gcaps-wc", "tsg-rr"}) {
    const std::string said = testing::refusal_of([&] { const Runtime runtime(virtual_cuda_options(fake, policy)); });
    EXPECT_THAT(said, HasSubstr("found policy " + std::string(policy) + " on Fake GPU 0"));
    EXPECT_THAT(said, HasSubstr("mpcp, fmlp+ or stream-priority"));
  }
}

TEST(CudaPartitions, KernelsRunBesideEachOther) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "stream-priority"));
  std::uint32_t share = 0;
  TaskSetup first = setup("first", ms(100), 2, {}, 0);
  first.sms = 5;  // comes in twos
  runtime.add_task(first, [&](Job& job) {
    EXPECT_EQ(job.gpu("work",
                      [&](Stream stream) {
                        share = stream.sms().count;
                        stream.run(ms(3));
                      }),
              GpuStatus::ok);
  });
  TaskSetup second = setup("second", ms(100), 1, {gpu(Duration(), ms(3))}, 1);
  second.sms = 4;
  runtime.add_task(second, testing::use_gpu_well);
  runtime.add_task(setup("without a GPU", ms(100), 3, {cpu(ms(1))}, 2), [](Job&) {});
  runtime.run_for(ms(10));
  EXPECT_EQ(share, 6U);
  EXPECT_THAT(times_of(runtime, "first", TraceKind::complete), ElementsAre("3ms"));
  EXPECT_THAT(times_of(runtime, "second", TraceKind::complete), ElementsAre("3ms"));
  EXPECT_THAT(runtime.report().notes,
              ::testing::IsSupersetOf(
                  {std::string("first: asked for 5 SMs, got 6"),
                   std::string("2 partitions by green contexts in units of 2 SMs: 6 (5 asked for), 4 (4 asked for); "
                               "6 left to the others")}));
}

TEST(CudaPartitions, KernelsKeepToTheirSharesWithoutGreenContexts) {
  FakeCuda fake;
  fake.set("green=0");
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  SmShare share;
  TaskSetup task = setup("task", ms(100), 2, {}, 0);
  task.sms = 5;
  runtime.add_task(task, [&](Job& job) { job.gpu("work", [&](Stream stream) { share = stream.sms(); }); });
  runtime.run_for(ms(10));
  EXPECT_EQ(share.count, 5U);
  EXPECT_EQ(share.total, 16U);
  EXPECT_THAT(runtime.report().notes, ElementsAre(HasSubstr("persistent blocks"), HasSubstr("device clock")));
}

TEST(CudaPartitions, AreMadeOnceAndBeforeTheStreams) {
  FakeCuda fake;
  CudaOptions options;
  options.library = FakeCuda::path();
  const Result<std::unique_ptr<Device>> device = make_device("cuda", {}, options);
  ASSERT_TRUE(device);
  EXPECT_TRUE((*device)->add_stream({.level = 5}));
  const Result<StreamId> beyond = (*device)->add_stream({.level = 6});
  ASSERT_FALSE(beyond);
  EXPECT_THAT(to_string(beyond.errors().front()), HasSubstr("found stream level 6; expected 0 to 5"));
  const Result<std::vector<Partition>> late = (*device)->add_partitions(std::vector<int>{4});
  ASSERT_FALSE(late);
  EXPECT_THAT(to_string(late.errors().front()), HasSubstr("all at once, before the first stream"));
}

TEST(CudaCopies, GoInPartsAndInTheOrderOfPriorities) {
  FakeCuda fake;
  fake.set("copy_ns_per_kib=1000000");
  RuntimeOptions options = virtual_cuda_options(fake, "mpcp");
  options.cuda.copy_chunk = 2048;
  Runtime runtime(options);
  std::vector<std::byte> host(7 * 1024, std::byte{42});
  std::vector<std::byte> back(7 * 1024);
  const auto add = [&](const char* name, int priority, Duration offset, auto body) {
    TaskSetup task = setup(name, ms(100), priority, {}, 3 - priority);
    task.memory = 8192;
    task.offset = offset;
    runtime.add_task(task, body);
  };
  add("low", 1, ms(1), [&](Job& job) {
    EXPECT_EQ(job.copy("there", {job.memory().data(), host.data(), 1024}), GpuStatus::ok);
  });
  add("high", 2, ms(2), [&](Job& job) {
    EXPECT_EQ(job.copy("there", {job.memory().data(), host.data(), 1024}), GpuStatus::ok);
  });
  add("first", 3, ms(0), [&](Job& job) {
    EXPECT_EQ(job.copy("there", {job.memory().data(), host.data(), host.size()}), GpuStatus::ok);
    CopyRequest request{back.data(), job.memory().data(), back.size()};
    request.direction = CopyDirection::to_host;
    EXPECT_EQ(job.copy("back", request), GpuStatus::ok);
  });
  runtime.run_for(ms(50));
  EXPECT_EQ(back, host);
  EXPECT_EQ(fake.calls("cuMemcpyHtoDAsync"), 4U + 2U);
  EXPECT_THAT(times_of(runtime, "high", TraceKind::copy_end), ElementsAre("8ms"));  // before the one that came earlier
  EXPECT_THAT(times_of(runtime, "low", TraceKind::copy_end), ElementsAre("9ms"));
}

// Nothing on a job's path allocates at the driver, loads, or waits there.
TEST(CudaDevice, MakesNoForbiddenCallDuringARun) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  TaskSetup task = setup("task", ms(10), 1, {});
  task.memory = 4096;
  std::vector<std::byte> host(64);
  runtime.add_task(task, [&](Job& job) {
    job.gpu("whole", [](Stream stream) { stream.run(Duration::microseconds(10)); });
    job.gpu("sliced", sliced(4, 1), [](Stream stream, Slice) { stream.run(Duration::microseconds(10)); });
    job.copy("there", {job.memory().data(), host.data(), host.size()});
  });
  runtime.run_for(ms(1));
  const auto forbidden = [&] {
    std::size_t calls = 0;
    for (const char* name : {"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuMemAlloc", "cuMemFree",
                             "cuMemHostAlloc", "cuModuleLoadData", "cuStreamCreateWithPriority", "cuEventCreate"}) {
      calls += fake.calls(name);
    }
    return calls;
  };
  const std::size_t before = forbidden();
  const std::size_t launches = fake.calls("cuLaunchKernel");
  runtime.run_for(ms(100));
  EXPECT_EQ(forbidden(), before);
  EXPECT_EQ(fake.calls("cuLaunchKernel"), launches + 11U * 5U);
}

}  // namespace
}  // namespace rtgpu
