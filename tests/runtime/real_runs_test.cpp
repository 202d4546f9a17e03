// Runs on the machine at hand, without privileges: what virtual time cannot show. No time is asserted that a loaded
// machine could exceed.
#include "runtime/runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;

RuntimeOptions without_privileges() {
  RuntimeOptions options;
  options.realtime.scheduler = Scheduler::normal;
  options.realtime.share_cores = true;
  options.realtime.lock_memory = false;
  return options;
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe(ends_.data()), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends_) close(end);
  }
  int out() const { return ends_[0]; }
  void write_byte() const {
    const char byte = 'x';
    EXPECT_EQ(write(ends_[1], &byte, 1), 1);
  }
  void read_byte() const {
    char byte = 0;
    EXPECT_EQ(read(ends_[0], &byte, 1), 1);
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(ReleaseByFile, AJobForEachByteAPeriodApart) {
  const Pipe pipe;
  Runtime runtime(without_privileges());
  std::vector<Duration> releases;
  std::atomic<int> written = 0;
  runtime.add_task(
      {.name = "reader", .period = 2ms, .priority = 2, .released_by = ReleasedBy::file, .release_file = pipe.out()},
      [&](Job& job) {
        pipe.read_byte();
        releases.push_back(job.release());
        if (releases.size() == 5) runtime.stop();
      });
  runtime.add_task({.name = "writer", .period = 1ms, .priority = 1}, [&](Job&) {
    if (++written <= 5) pipe.write_byte();
  });
  runtime.run_for(Duration::infinite());
  ASSERT_EQ(releases.size(), 5U);
  for (std::size_t index = 1; index < releases.size(); ++index) {
    EXPECT_GE(releases[index] - releases[index - 1], Duration(2ms)) << index;
  }
}

TEST(ReleaseByFile, StopEndsTheWait) {
  const Pipe pipe;
  Runtime runtime(without_privileges());
  runtime.add_task(
      {.name = "reader", .period = 1ms, .priority = 2, .released_by = ReleasedBy::file, .release_file = pipe.out()},
      [&](Job&) { ADD_FAILURE() << "nothing was written"; });
  runtime.add_task({.name = "stopper", .period = 1s, .priority = 1}, [&](Job&) { runtime.stop(); });
  runtime.run_for(Duration::infinite());
  EXPECT_EQ(runtime.report().tasks[0].seen.jobs, 0);
}

TEST(ReleaseByFile, NeedsAFileAndRealTime) {
  Runtime runtime(without_privileges());
  const auto nothing = [](Job&) {};
  EXPECT_THROW(runtime.add_task({.name = "reader", .period = 1ms, .released_by = ReleasedBy::file}, nothing),
               SetupError);
  RuntimeOptions options;
  options.virtual_time = true;
  Runtime in_virtual_time(options);
  EXPECT_THROW(in_virtual_time.add_task(
                   {.name = "reader", .period = 1ms, .released_by = ReleasedBy::file, .release_file = 0}, nothing),
               SetupError);
}

TEST(Partition, KernelsOfATaskStayOnItsSms) {
  RuntimeOptions options = without_privileges();
  options.device = "host:compute";
  options.gpu.sms = 4;
  Runtime runtime(options);
  std::array<std::atomic<int>, 4> blocks_of_first{};
  std::array<std::atomic<int>, 4> blocks_of_second{};
  const auto count_on = [](std::array<std::atomic<int>, 4>& counts) {
    return [&counts](Job& job) {
      EXPECT_EQ(job.gpu("count",
                        [&counts](Stream stream) {
                          std::atomic<int>* on = counts.data();
                          stream.launch(64, [on](const Block& block) { ++on[block.sm]; });
                        }),
                GpuStatus::ok);
    };
  };
  TaskSetup first{.name = "first", .period = 10ms, .priority = 2};
  first.sms = 1;
  TaskSetup second{.name = "second", .period = 10ms, .priority = 1};
  second.sms = 2;
  runtime.add_task(first, count_on(blocks_of_first));
  runtime.add_task(second, count_on(blocks_of_second));
  runtime.run_for(20ms);
  int shared = 0;
  int of_first = 0;
  int of_second = 0;
  for (std::size_t sm = 0; sm < 4; ++sm) {
    of_first += blocks_of_first[sm] > 0 ? 1 : 0;
    of_second += blocks_of_second[sm] > 0 ? 1 : 0;
    shared += blocks_of_first[sm] > 0 && blocks_of_second[sm] > 0 ? 1 : 0;
  }
  EXPECT_EQ(of_first, 1);
  EXPECT_GE(of_second, 1);
  EXPECT_LE(of_second, 2);
  EXPECT_EQ(shared, 0);
}

TEST(Partition, MoreSmsThanThereAreAreRefused) {
  RuntimeOptions options = without_privileges();
  options.device = "host:compute";
  options.gpu.sms = 2;
  Runtime runtime(options);
  TaskSetup greedy{.name = "greedy", .period = 10ms, .priority = 1};
  greedy.sms = 3;
  runtime.add_task(greedy, [](Job&) {});
  EXPECT_THROW(runtime.run_for(1ms), SetupError);
}

// With what a run measured there are bounds, or a reason for each that is missing.
TEST(MeasuredRun, GivesBoundsOrSaysWhyNot) {
  RuntimeOptions options = without_privileges();
  options.measure = true;
  Runtime runtime(options);
  TaskSetup task{.name = "task", .period = 50ms, .priority = 1, .segments = {CpuSegment{{Duration(), Duration(1ms)}}}};
  runtime.add_task(task, [](Job& job) { job.spend(Duration(1ms)); });
  EXPECT_FALSE(runtime.admit_as_measured().errors.empty());
  runtime.run_for(200ms);
  ASSERT_TRUE(runtime.measured());
  const Admission admission = runtime.admit_as_measured();
  ASSERT_TRUE(admission.analysis) << admission.explain();
  ASSERT_EQ(admission.analysis->tasks.size(), 1U);
  const TaskResult& result = admission.analysis->tasks.front();
  if (result.bound) {
    EXPECT_GE(*result.bound, Duration(1ms) + runtime.measured()->wake_up.front());
  } else {
    EXPECT_FALSE(result.reason.empty());
  }
}

}  // namespace
}  // namespace rtgpu
