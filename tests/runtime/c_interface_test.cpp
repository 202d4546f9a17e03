// The C interface: that it passes everything on, and says what is wrong.
#include "runtime/c/rtgpu.h"
#include "runtime/gpu_status.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::HasSubstr;

struct Destroy {
  void operator()(rtgpu_runtime* runtime) const { rtgpu_destroy(runtime); }
};
using CRuntime = std::unique_ptr<rtgpu_runtime, Destroy>;

CRuntime in_virtual_time(const char* policy) {
  rtgpu_options options{};
  options.policy = policy;
  options.virtual_time = 1;
  return CRuntime(rtgpu_create(&options, nullptr, 0));
}

constexpr std::int64_t kMs = 1'000'000;

rtgpu_task task_named(const char* name, int priority) {
  rtgpu_task task{};
  task.name = name;
  task.period_ns = 10 * kMs;
  task.priority = priority;
  return task;
}

TEST(CInterface, RunsJobsInVirtualTime) {
  const CRuntime runtime = in_virtual_time("mpcp");
  const rtgpu_task task = task_named("work", 1);
  std::vector<std::int64_t> ends;
  const auto job = [](rtgpu_job* of, void* user) {
    rtgpu_job_spend(of, 2 * kMs);
    ASSERT_EQ(rtgpu_job_enter(of, "kernel"), RTGPU_GPU_OK);
    rtgpu_job_run(of, 3 * kMs);
    ASSERT_EQ(rtgpu_job_leave(of), RTGPU_GPU_OK);
    static_cast<std::vector<std::int64_t>*>(user)->push_back(rtgpu_job_now_ns(of) - rtgpu_job_release_ns(of));
  };
  ASSERT_EQ(rtgpu_add_task(runtime.get(), &task, job, &ends), RTGPU_OK);
  ASSERT_EQ(rtgpu_run_for(runtime.get(), 20 * kMs), RTGPU_OK) << rtgpu_last_error(runtime.get());
  EXPECT_THAT(ends, ::testing::ElementsAre(5 * kMs, 5 * kMs, 5 * kMs));
  rtgpu_task_report report{};
  ASSERT_EQ(rtgpu_task_report_of(runtime.get(), 0, &report), RTGPU_OK);
  EXPECT_STREQ(report.name, "work");
  EXPECT_EQ(report.jobs, 3);
  EXPECT_EQ(report.max_response_ns, 5 * kMs);
  EXPECT_EQ(report.bound_ns, -1);
  EXPECT_THAT(rtgpu_report(runtime.get()), HasSubstr("work"));
}

TEST(CInterface, AdmitsATasksetAndReportsItsBound) {
  const CRuntime runtime = in_virtual_time("mpcp");
  const char* json = R"({"rtgpu": 1, "time_unit": "ms", "platform": {"cpus": 1, "gpus": [{}]},
      "tasks": [{"name": "a", "period": 10, "priority": 1, "segments": [{"cpu": 2}, {"gpu": {"misc": 1, "exec": 3}}]}]})";
  ASSERT_EQ(rtgpu_add_taskset(runtime.get(), json), RTGPU_OK) << rtgpu_last_error(runtime.get());
  int schedulable = 0;
  ASSERT_EQ(rtgpu_admit(runtime.get(), &schedulable), RTGPU_OK);
  EXPECT_EQ(schedulable, 1);
  ASSERT_EQ(rtgpu_run_for(runtime.get(), 100 * kMs), RTGPU_OK);
  rtgpu_task_report report{};
  ASSERT_EQ(rtgpu_task_report_of(runtime.get(), 0, &report), RTGPU_OK);
  EXPECT_EQ(report.bound_ns, 6 * kMs);
  EXPECT_EQ(report.max_response_ns, 6 * kMs);
}

TEST(CInterface, ComputesKernels) {
  rtgpu_options options{};
  options.device = "host:compute";
  options.no_real_time = 1;
  options.allow_degraded = 1;
  const CRuntime runtime(rtgpu_create(&options, nullptr, 0));
  ASSERT_NE(runtime, nullptr);
  const rtgpu_task task = task_named("sum", 1);
  std::atomic<std::int64_t> sum = 0;
  const auto job = [](rtgpu_job* of, void* user) {
    if (rtgpu_job_enter(of, "sum") != RTGPU_GPU_OK) return;
    rtgpu_job_launch(
        of, 100,
        [](void* of_kernel, std::int64_t block, int) { *static_cast<std::atomic<std::int64_t>*>(of_kernel) += block; },
        user);
    rtgpu_job_leave(of);
  };
  ASSERT_EQ(rtgpu_add_task(runtime.get(), &task, job, &sum), RTGPU_OK);
  ASSERT_EQ(rtgpu_run_for(runtime.get(), 0), RTGPU_OK) << rtgpu_last_error(runtime.get());
  EXPECT_EQ(sum, 99 * 100 / 2);
}

TEST(CInterface, TriggersReleaseJobs) {
  const CRuntime runtime = in_virtual_time("mpcp");
  rtgpu_task triggered = task_named("triggered", 2);
  triggered.triggered = 1;
  std::vector<std::int64_t> releases;
  const auto note = [](rtgpu_job* of, void* user) {
    static_cast<std::vector<std::int64_t>*>(user)->push_back(rtgpu_job_release_ns(of));
  };
  ASSERT_EQ(rtgpu_add_task(runtime.get(), &triggered, note, &releases), RTGPU_OK);
  const rtgpu_task source = task_named("source", 1);
  const auto trigger = [](rtgpu_job* of, void* user) {
    rtgpu_job_spend(of, kMs);
    rtgpu_trigger(static_cast<rtgpu_runtime*>(user), 0);
  };
  ASSERT_EQ(rtgpu_add_task(runtime.get(), &source, trigger, runtime.get()), RTGPU_OK);
  ASSERT_EQ(rtgpu_run_for(runtime.get(), 25 * kMs), RTGPU_OK) << rtgpu_last_error(runtime.get());
  EXPECT_THAT(releases, ::testing::ElementsAre(kMs, 11 * kMs, 21 * kMs));
}

TEST(CInterface, SaysWhatIsWrong) {
  std::array<char, 200> error{};
  rtgpu_options options{};
  options.policy = "mcpc";
  EXPECT_EQ(rtgpu_create(&options, error.data(), error.size()), nullptr);
  EXPECT_THAT(error.data(), HasSubstr("mpcp"));
  std::array<char, 5> shorter{};
  EXPECT_EQ(rtgpu_create(&options, shorter.data(), shorter.size()), nullptr);
  EXPECT_EQ(std::string(shorter.data()).size(), 4U);

  const CRuntime runtime = in_virtual_time("mpcp");
  const auto nothing = [](rtgpu_job*, void*) {};
  rtgpu_task task = task_named("same", 1);
  ASSERT_EQ(rtgpu_add_task(runtime.get(), &task, nothing, nullptr), RTGPU_OK);
  EXPECT_EQ(rtgpu_add_task(runtime.get(), &task, nothing, nullptr), RTGPU_BAD_SETUP);
  EXPECT_THAT(rtgpu_last_error(runtime.get()), HasSubstr("same"));
  task.name = "other";
  EXPECT_EQ(rtgpu_add_task(runtime.get(), &task, nullptr, nullptr), RTGPU_BAD_SETUP);
  task.period_ns = 0;
  EXPECT_EQ(rtgpu_add_task(runtime.get(), &task, nothing, nullptr), RTGPU_BAD_SETUP);
  EXPECT_EQ(rtgpu_add_taskset(runtime.get(), "{"), RTGPU_BAD_SETUP);
  rtgpu_task_report report{};
  EXPECT_EQ(rtgpu_task_report_of(runtime.get(), 7, &report), RTGPU_BAD_SETUP);
}

// What a job found that asked for its CUDA stream.
struct SeenStream {
  CUstream_st* stream = nullptr;
  rtgpu_gpu_status status = RTGPU_GPU_OK;
};

void ask_for_stream(rtgpu_job* job, void* user) {
  auto& seen = *static_cast<SeenStream*>(user);
  if (rtgpu_job_enter(job, "work") != RTGPU_GPU_OK) return;
  seen.stream = rtgpu_job_cuda_stream(job);
  seen.status = rtgpu_job_leave(job);
}

TEST(CInterface, HostDevicesHaveNoCudaStream) {
  for (const char* device : {"host", "host:compute"}) {
    rtgpu_options options{};
    options.device = device;
    options.no_real_time = 1;
    options.allow_degraded = 1;
    const CRuntime runtime(rtgpu_create(&options, nullptr, 0));
    ASSERT_NE(runtime, nullptr);
    int other = 0;
    SeenStream seen;
    seen.stream = reinterpret_cast<CUstream_st*>(&other);
    const rtgpu_task task = task_named("work", 1);
    ASSERT_EQ(rtgpu_add_task(runtime.get(), &task, ask_for_stream, &seen), RTGPU_OK);
    ASSERT_EQ(rtgpu_run_for(runtime.get(), 0), RTGPU_OK) << rtgpu_last_error(runtime.get());
    EXPECT_EQ(seen.stream, nullptr);
    EXPECT_EQ(seen.status, RTGPU_GPU_NOT_SUPPORTED);
  }
}

// Whether this machine has a driver or not.
TEST(CInterface, SaysThatThereIsNoSuchCudaDevice) {
  rtgpu_options options{};
  options.device = "cuda:999";
  std::array<char, 400> error{};
  EXPECT_EQ(rtgpu_create(&options, error.data(), error.size()), nullptr);
  EXPECT_THAT(error.data(), ::testing::AnyOf(HasSubstr("CUDA"), HasSubstr("cuda:999")));
}

TEST(CInterface, StatusesAreThoseOfTheRuntime) {
  EXPECT_EQ(static_cast<int>(RTGPU_GPU_NOT_OWN_JOB), static_cast<int>(GpuStatus::not_own_job));
  EXPECT_EQ(static_cast<int>(RTGPU_GPU_NOT_SUPPORTED), static_cast<int>(GpuStatus::not_supported));
  EXPECT_EQ(static_cast<int>(RTGPU_GPU_FORKED), static_cast<int>(GpuStatus::forked));
  EXPECT_EQ(rtgpu_gpu_status_text(RTGPU_GPU_ABORTED), to_string(GpuStatus::aborted));
}

}  // namespace
}  // namespace rtgpu
