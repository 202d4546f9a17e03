// Histograms, lost time, and tasksets with what was measured in them.
#include "runtime/measured.h"

#include "analysis/analysis.h"
#include "runtime/histogram.h"
#include "tests/support/build.h"

#include <random>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::gpu;
using testing::make_taskset;
using testing::ms;

constexpr Duration us(std::int64_t count) {
  return Duration::microseconds(count);
}

TEST(Histogram, CountsExactlyAndRanksWithinATwentieth) {
  Histogram seen;
  EXPECT_EQ(seen.percentile(500), Duration());
  EXPECT_FALSE(seen.mean());
  for (std::int64_t value = 1; value <= 1000; ++value) seen.add(us(value));
  EXPECT_EQ(seen.count(), 1000);
  EXPECT_EQ(seen.min(), us(1));
  EXPECT_EQ(seen.max(), us(1000));
  EXPECT_EQ(seen.mean(), Duration::nanoseconds(500'500));
  for (const int per_mille : {1, 10, 500, 900, 990, 999}) {
    EXPECT_GE(seen.percentile(per_mille), us(per_mille));
    EXPECT_LE(seen.percentile(per_mille).count(), us(per_mille).count() * 33 / 32) << per_mille;
  }
  EXPECT_EQ(seen.percentile(1000), us(1000));
  seen.add(Duration::nanoseconds(-5));
  EXPECT_EQ(seen.min(), Duration());
}

TEST(Histogram, AgreesWithASortedList) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  Histogram seen;
  std::vector<std::int64_t> values;
  for (int count = 0; count < 3000; ++count) {
    values.push_back(static_cast<std::int64_t>(engine() >> (engine() % 60 + 2)));
    seen.add(Duration::nanoseconds(values.back()));
  }
  std::ranges::sort(values);
  for (const int per_mille : {1, 250, 500, 990, 999, 1000}) {
    const std::int64_t exact = values[static_cast<std::size_t>((3000 * per_mille + 999) / 1000 - 1)];
    EXPECT_GE(seen.percentile(per_mille).count(), exact) << per_mille;
    EXPECT_LE(seen.percentile(per_mille).count(), exact + exact / 32 + 1) << per_mille;
  }
}

TEST(ExecutionLog, TellsTheMostOfAnyWindow) {
  ExecutionLog log(ms(20));
  EXPECT_FALSE(log.empty());
  EXPECT_EQ(log.most_in_window(ms(5)), Duration());
  log.add(us(200), us(100));
  log.add(us(900), us(50));
  log.add(ms(4), us(30));
  log.add(ms(10), us(170));
  // With one step more on each side.
  EXPECT_EQ(log.most_in_window(us(1)), us(170));
  EXPECT_EQ(log.most_in_window(ms(2)), us(170));
  EXPECT_EQ(log.most_in_window(us(2'001)), us(180));  // steps 0 to 4
  EXPECT_EQ(log.most_in_window(ms(5)), us(200));      // steps 4 to 10
  EXPECT_EQ(log.most_in_window(ms(100)), us(350));
  log.add(ms(19), Duration() - us(1));
  EXPECT_FALSE(log.is_full());
  log.add(ms(20), us(1));
  EXPECT_TRUE(log.is_full());
  EXPECT_TRUE(ExecutionLog().empty());
}

TEST(Histogram, AddsAnotherOne) {
  Histogram one;
  Histogram other;
  one.add(ms(1));
  other.add(ms(9));
  other.add(ms(2));
  one.add(other);
  EXPECT_EQ(one.count(), 3);
  EXPECT_EQ(one.max(), ms(9));
  EXPECT_EQ(one.mean(), ms(4));
}

TEST(LostTime, IsTheMostInAnyWindow) {
  const std::vector<Lateness> seen = {{ms(0), us(300)}, {ms(4), us(200)}, {ms(10), us(500)}, {ms(11), us(250)}};
  EXPECT_EQ(lost_in_window(seen, us(500)), us(500));
  EXPECT_EQ(lost_in_window(seen, ms(1)), us(750));
  EXPECT_EQ(lost_in_window(seen, ms(7)), us(950));
  EXPECT_EQ(lost_in_window(seen, ms(100)), us(1250));
  EXPECT_EQ(lost_in_window({}, ms(100)), Duration());
}

MeasuredOverheads nothing_measured(const Taskset& taskset) {
  MeasuredOverheads measured;
  measured.wake_up.resize(static_cast<std::size_t>(taskset.platform.cpus));
  measured.lost.resize(measured.wake_up.size());
  measured.overshoot.resize(taskset.tasks.size());
  return measured;
}

Taskset two_tasks() {
  return make_taskset({testing::task("high", ms(10), {cpu(ms(1)), gpu(us(100), ms(2)), cpu(ms(1))}),
                       testing::task("other", ms(50), {cpu(ms(5))}, 1)});
}

TEST(MeasuredTaskset, IsTheTasksetWhereNothingWasMeasured) {
  const Taskset taskset = two_tasks();
  EXPECT_EQ(with_overheads(taskset, nothing_measured(taskset)), taskset);
}

// Each overhead where it belongs, with the numbers worked out by hand.
TEST(MeasuredTaskset, HasEveryOverheadInIt) {
  const Taskset taskset = two_tasks();
  MeasuredOverheads measured = nothing_measured(taskset);
  measured.wake_up = {us(50), us(60)};
  measured.overshoot = {us(7), us(3)};
  measured.device_latency = us(20);
  measured.device_handling = us(5);
  measured.lost[0] = {{ms(0), us(400)}, {ms(9), us(300)}};
  measured.lost[1] = {{ms(5), us(250)}};
  measured.device_lost = {{ms(1), us(210)}};
  const Taskset charged = with_overheads(taskset, measured);

  ASSERT_EQ(charged.tasks.size(), 2U + 4U);
  const Task& high = charged.tasks[0];
  EXPECT_EQ(high.name, "high");
  EXPECT_EQ(high.jitter, us(50));
  // Its own overshoot; and what the other core and the device lost in 10 ms.
  EXPECT_EQ(std::get<CpuSegment>(high.segments[0]).time.max, ms(1) + us(7) + us(250) + us(210));
  EXPECT_EQ(std::get<GpuSegment>(high.segments[1]).misc.max, us(107));
  EXPECT_EQ(std::get<GpuSegment>(high.segments[1]).exec->max, ms(2) + us(20) + us(50));
  EXPECT_EQ(charged.tasks[1].jitter, us(60));
  EXPECT_EQ(std::get<CpuSegment>(charged.tasks[1].segments[0]).time.max, ms(5) + us(3));
  EXPECT_EQ(charged.platform.gpus.front().overheads.lock, us(60));
  // The machine's own tasks are above all others, and of the core that lost the time.
  Duration lost_on_core_0;
  Duration lost_on_core_1;
  for (std::size_t index = 2; index < charged.tasks.size(); ++index) {
    const Task& task = charged.tasks[index];
    EXPECT_GT(task.priority, high.priority);
    const Duration time = std::get<CpuSegment>(task.segments[0]).time.max;
    if (task.name.find("lost") != std::string::npos) {
      (task.cpu == 0 ? lost_on_core_0 : lost_on_core_1) = time;
    } else {
      EXPECT_EQ(task.period, ms(10));
      EXPECT_EQ(time, us(15));  // three events
    }
  }
  EXPECT_EQ(lost_on_core_0, us(700));
  EXPECT_EQ(lost_on_core_1, us(250));
  EXPECT_TRUE(validate(charged).empty());
}

// In place of the events: what the thread executed in the longest deadline of each core.
TEST(MeasuredTaskset, HasWhatLookingAtTheDeviceTook) {
  const Taskset taskset = two_tasks();
  MeasuredOverheads measured = nothing_measured(taskset);
  measured.device_handling = us(5);
  measured.device_execution = ExecutionLog(ms(50));
  measured.device_execution.add(ms(3), us(30));
  measured.device_execution.add(ms(8), us(40));
  measured.device_execution.add(ms(30), us(60));
  const Taskset charged = with_overheads(taskset, measured);
  ASSERT_EQ(charged.tasks.size(), 2U + 2U);
  for (std::size_t index = 2; index < charged.tasks.size(); ++index) {
    const Task& task = charged.tasks[index];
    EXPECT_EQ(task.name, "looking at the device on core " + std::to_string(task.cpu));
    EXPECT_EQ(std::get<CpuSegment>(task.segments[0]).time.max, task.cpu == 0 ? us(70) : us(130));
    EXPECT_EQ(task.period, taskset.tasks[static_cast<std::size_t>(task.cpu)].deadline);
  }
  EXPECT_TRUE(validate(charged).empty());
}

TEST(MeasuredTaskset, RaisesBounds) {
  const Taskset taskset = two_tasks();
  MeasuredOverheads measured = nothing_measured(taskset);
  measured.lost[0] = {{ms(0), us(400)}};
  AnalysisOptions options;
  options.policy = Policy::mpcp;
  const auto before = analyze(taskset, options);
  const auto after = analyze(with_overheads(taskset, measured), options);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(*before->tasks[0].bound, ms(4) + us(100));
  EXPECT_EQ(*after->tasks[0].bound, ms(4) + us(500));
}

}  // namespace
}  // namespace rtgpu
