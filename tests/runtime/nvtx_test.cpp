// What a profiler sees of jobs. A program of its own, since NVTX loads a profiler's library once in a process.
#include "runtime/trace/nvtx.h"

#include "runtime/runtime.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"
#include "tests/support/nvtx_injection/nvtx_injection.h"

#include <functional>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::gpu;
using testing::ms;
using testing::setup;
using testing::take_nvtx_log;
using testing::use_nvtx_injection;
using testing::virtual_options;

// The log of one job of one task.
class Nvtx : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    present = use_nvtx_injection();
    const Runtime runtime(virtual_options("mpcp"));
    at_first = take_nvtx_log();
  }
  void SetUp() override {
    if (!present) {
      GTEST_SKIP() << "built without NVTX";
    }
    attach_nvtx();  // again, without effect
  }

  static std::string log_of_job(const std::function<void(Job&)>& body, Overrun overrun = Overrun::keep_on) {
    Runtime runtime(virtual_options("mpcp"));
    TaskSetup task = setup("task", ms(10), 1);
    task.overrun = overrun;
    task.launches = 1;
    runtime.add_task(task, body);
    runtime.run_for(ms(9));
    return take_nvtx_log();
  }

  static bool present;
  static std::string at_first;
};
bool Nvtx::present = false;
std::string Nvtx::at_first;

TEST_F(Nvtx, IsLoadedAtSetUp) {
  EXPECT_TRUE(has_nvtx());
  EXPECT_EQ(at_first, "loaded");
}

TEST_F(Nvtx, HasARangeForEachSegment) {
  EXPECT_EQ(log_of_job([](Job& job) {
              job.gpu("infer", [](Stream stream) {
                EXPECT_EQ(take_nvtx_log(), "+infer/1");  // open while the work is launched
                stream.run(ms(1));
              });
              job.gpu("post", sliced(4, 2), [](Stream, Slice) {});
              job.copy("out", {});
            }),
            "-/1 +post/1 -/1 +out/1 -/1");
}

TEST_F(Nvtx, ClosesARangeHoweverItsSegmentEnds) {
  const std::string expected = "+work/1 -/1";
  EXPECT_EQ(log_of_job([](Job& job) { job.gpu("work", [](Stream) { throw std::runtime_error("broken"); }); }),
            expected);
  EXPECT_EQ(log_of_job([](Job& job) {
              job.enter("work");
              job.leave();
            }),
            expected);
  EXPECT_EQ(log_of_job([](Job& job) { job.enter("work"); }), expected);  // and does not leave
  EXPECT_EQ(log_of_job([](Job& job) {
              job.enter("work");
              throw std::runtime_error("broken");
            }),
            expected);
  EXPECT_EQ(log_of_job([](Job& job) { job.gpu("work", [](Stream) { pthread_exit(nullptr); }); }), expected);
  EXPECT_EQ(log_of_job([](Job& job) {
              job.gpu("work", [](Stream stream) {  // more than the task may launch
                stream.run(ms(1));
                stream.run(ms(1));
              });
            }),
            expected);
  EXPECT_EQ(log_of_job([](Job& job) { job.gpu("work", [&](Stream) { job.leave(); }); }), expected);
  EXPECT_EQ(log_of_job([](Job& job) { job.gpu("work", [&](Stream) { job.spend(ms(11)); }); }, Overrun::abort),
            expected);
}

TEST_F(Nvtx, IsToldNothingOfWhatIsRefused) {
  EXPECT_EQ(log_of_job([](Job& job) {
              EXPECT_EQ(job.leave(), GpuStatus::not_inside);
              EXPECT_EQ(job.enter("outer"), GpuStatus::ok);
              EXPECT_EQ(job.enter("inner"), GpuStatus::already_inside);
              EXPECT_EQ(job.copy("inner", {}), GpuStatus::already_inside);
              std::thread([&] {
                EXPECT_EQ(job.enter("other"), GpuStatus::not_own_job);
                EXPECT_EQ(job.leave(), GpuStatus::not_own_job);
              }).join();
              EXPECT_EQ(take_nvtx_log(), "+outer/1");
              job.leave();
            }),
            "-/1");
  EXPECT_EQ(log_of_job(
                [](Job& job) {
                  job.spend(ms(11));
                  EXPECT_EQ(job.enter("late"), GpuStatus::aborted);
                },
                Overrun::abort),
            "");
}

// `low` waits for the GPU until its deadline.
TEST_F(Nvtx, ClosesTheRangeOfAWaitThatIsGivenUp) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("high", ms(50), 2, {}, 0),
                   [](Job& job) { job.gpu("high", [](Stream stream) { stream.run(ms(20)); }); });
  TaskSetup low = setup("low", ms(50), 1, {cpu(ms(1))}, 1);
  low.deadline = ms(5);
  low.overrun = Overrun::abort;
  runtime.add_task(low, [](Job& job) { EXPECT_EQ(job.gpu("low", [](Stream) {}), GpuStatus::aborted); });
  runtime.run_for(ms(40));
  EXPECT_EQ(take_nvtx_log(), "+high/1 +low/1 -/1 -/1");
}

TEST_F(Nvtx, NamesDeclaredWorkAfterItsTask) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_taskset(testing::make_taskset({testing::task("task", ms(10), {gpu(ms(1), ms(1))})}));
  runtime.run_for(ms(9));
  EXPECT_EQ(take_nvtx_log(), "+task/1 -/1");
}

TEST_F(Nvtx, RangesNestAndHaveTheirNames) {
  {
    const NvtxRange outer("as it is, however long this may be: a name that ends in a zero is not copied");
    const NvtxRange inner(std::string_view("inner and more").substr(0, 5));
  }
  EXPECT_EQ(take_nvtx_log(),
            "+as it is, however long this may be: a name that ends in a zero is not copied/1 +inner/2 -/2 -/1");
  { const NvtxRange longest(std::string_view(std::string(64, 'x'))); }
  EXPECT_EQ(take_nvtx_log(), "+" + std::string(63, 'x') + "/1 -/1");
  { const NvtxRange none(static_cast<const char*>(nullptr)); }
  EXPECT_EQ(take_nvtx_log(), "+/1 -/1");
}

}  // namespace
}  // namespace rtgpu
