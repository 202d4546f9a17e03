// What the runtime says before a run, by the analysis, and after it.
#include "runtime/admission.h"

#include "runtime/runtime.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <cstdint>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::AllOf;
using testing::cpu;
using testing::gpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ms;
using ::testing::Not;
using testing::plain_gpu;
using testing::refusal_of;
using testing::seen_of;
using testing::setup;
using testing::use_gpu;
using testing::virtual_options;

// camera on core 0: 1 + 5 of its own and at most 10 of lidar's lock.
void add_camera_and_lidar(Runtime& runtime) {
  runtime.add_task(setup("camera", ms(20), 2, {gpu(ms(1), ms(5))}, 0), use_gpu);
  runtime.add_task(setup("lidar", ms(50), 1, {gpu(ms(2), ms(8))}, 1), use_gpu);
}

TEST(Admission, BoundsWhatRuns) {
  Runtime runtime(virtual_options("mpcp"));
  add_camera_and_lidar(runtime);
  const Admission admission = runtime.admit();
  EXPECT_TRUE(admission.schedulable) << admission.explain();
  EXPECT_EQ(admission.bound(0), ms(16));
  EXPECT_THAT(admission.explain(), HasSubstr("camera: at most 16ms of 20ms\n"));
  runtime.run_for(ms(200));
  const RunReport report = runtime.report();
  ASSERT_EQ(report.tasks.size(), 2U);
  EXPECT_EQ(report.tasks[0].bound, ms(16));
  EXPECT_FALSE(report.any_bound_exceeded());
  EXPECT_TRUE(report.is_clean());
  EXPECT_EQ(report.policy, Policy::mpcp);
  EXPECT_TRUE(report.virtual_time);
  EXPECT_EQ(seen_of(report, "camera").jobs, 11);
  EXPECT_EQ(seen_of(report, "lidar").jobs, 5);
  EXPECT_GE(seen_of(report, "camera").response.max(), ms(6));
  EXPECT_LE(seen_of(report, "camera").response.max(), ms(16));
  EXPECT_THAT(to_string(report), AllOf(HasSubstr("mpcp on gpu0"), HasSubstr("virtual time"), HasSubstr("camera"),
                                       Not(HasSubstr("EXCEEDED"))));
}

// Jobs that take more than they declare.
TEST(Admission, SaysWhenABoundIsExceeded) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("camera", ms(20), 1, {cpu(ms(2))}),
                   [](Job& job) { job.spend(ms(job.number() == 3 ? 5 : 1)); });
  EXPECT_EQ(runtime.admit().bound(0), ms(2));
  runtime.run_for(ms(100));
  const RunReport report = runtime.report();
  EXPECT_TRUE(report.any_bound_exceeded());
  EXPECT_EQ(report.misses(), 0);
  EXPECT_EQ(seen_of(report, "camera").response.max(), ms(5));
  EXPECT_EQ(seen_of(report, "camera").longest_job, 3);
  EXPECT_EQ(seen_of(report, "camera").response.min(), ms(2));
  EXPECT_THAT(to_string(report), HasSubstr("camera: BOUND EXCEEDED in job 3"));
}

TEST(Admission, SaysWhyNot) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("camera", ms(20), 2, {cpu(ms(15))}), [](Job&) {});
  runtime.add_task(setup("lidar", ms(25), 1, {cpu(ms(10))}), [](Job&) {});
  const Admission admission = runtime.admit();
  EXPECT_FALSE(admission.schedulable);
  EXPECT_THAT(admission.explain(),
              AllOf(HasSubstr("camera: at most 15ms of 20ms\n"), HasSubstr("lidar: no bound within 25ms")));
}

// Best-effort tasks too: what they do on the GPU may be in the way of others.
TEST(Admission, NeedsExecutionTimesOfAllTasks) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("declared", ms(20), 3, {cpu(ms(1))}), [](Job&) {});
  runtime.add_task(setup("unknown", ms(20), 2), [](Job&) {});
  TaskSetup log = setup("log", ms(20), 1);
  log.best_effort = true;
  runtime.add_task(log, [](Job&) {});
  const Admission admission = runtime.admit();
  EXPECT_FALSE(admission.schedulable);
  ASSERT_EQ(admission.errors.size(), 1U);
  EXPECT_EQ(admission.errors[0].code, ErrorCode::missing);
  EXPECT_THAT(admission.explain(), HasSubstr("no execution times of unknown, log;"));
}

TEST(Admission, SaysByHowMuchMemoryDoesNotFit) {
  Gpu platform = plain_gpu();
  platform.memory = 1000;
  Runtime runtime(virtual_options("mpcp", platform));
  TaskSetup camera = setup("camera", ms(20), 2, {cpu(ms(1))});
  camera.memory = 700;
  TaskSetup lidar = setup("lidar", ms(20), 1, {cpu(ms(1))});
  lidar.memory = 350;
  runtime.add_task(camera, [](Job&) {});
  // It may be refused as soon as the task is added, or at admission and at the run.
  const std::string at_once = refusal_of([&] { runtime.add_task(lidar, [](Job&) {}); });
  if (!at_once.empty()) {
    EXPECT_THAT(at_once, AllOf(HasSubstr("1050"), HasSubstr("1000")));
    return;
  }
  const Admission admission = runtime.admit();
  EXPECT_FALSE(admission.schedulable);
  const auto says_it =
      AllOf(HasSubstr("camera 700"), HasSubstr("lidar 350"), HasSubstr("at most 1000"), HasSubstr("50 less"));
  EXPECT_THAT(admission.explain(), says_it);
  EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(10)); }), says_it);
}

TEST(Admission, FitsMemoryToTheByte) {
  Gpu platform = plain_gpu();
  platform.memory = 1000;
  Runtime runtime(virtual_options("mpcp", platform));
  TaskSetup camera = setup("camera", ms(20), 2, {cpu(ms(1))});
  camera.memory = 1000;
  runtime.add_task(camera, [](Job&) {});
  EXPECT_TRUE(runtime.admit().schedulable);
  runtime.run_for(ms(10));
  EXPECT_EQ(seen_of(runtime.report(), "camera").jobs, 1);
}

TEST(Admission, RefusesAPolicyThatDoesNotExist) {
  EXPECT_THAT(refusal_of([] { Runtime runtime(virtual_options("mpcq")); }),
              AllOf(HasSubstr("'mpcq'"), HasSubstr("Did you mean 'mpcp'?")));
}

// Each setting that the policy needs and the platform does not say.
TEST(Admission, NeedsWhatThePolicyNeeds) {
  for (const char* policy : {"stream-priority", "tsg-rr"}) {
    Runtime runtime(virtual_options(policy, Gpu{}));
    runtime.add_task(setup("camera", ms(20), 2, {gpu(ms(1), ms(1))}), use_gpu);
    EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(10)); }), Not(IsEmpty())) << policy;
    EXPECT_FALSE(runtime.admit().schedulable) << policy;
  }
}

}  // namespace
}  // namespace rtgpu
