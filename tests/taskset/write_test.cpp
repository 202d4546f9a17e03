#include "taskset/json.h"
#include "tests/support/random_taskset.h"

#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::random_taskset;
using testing::RandomOptions;
using testing::uniform;

Taskset example() {
  GpuSegment gpu;
  gpu.misc = {Duration::milliseconds(1), Duration::milliseconds(1)};
  gpu.exec_by_sms = {{2, {Duration::seconds(1), Duration::seconds(2)}}, {4, {Duration(), Duration::nanoseconds(1)}}};
  gpu.parallel = ParallelWork{gpu.misc, {}, 1'250'000};
  Task task;
  task.name = "a\"\n";
  task.period = Duration::microseconds(1500);
  task.deadline = Duration::milliseconds(1);
  task.priority = 7;
  task.gpu_priority = 8;
  task.cpu = 1;
  task.memory = 3 << 20;
  task.sms = 5;
  task.segments = {CpuSegment{{Duration(), Duration::microseconds(1)}}, gpu,
                   CopySegment{{Duration(), Duration()}, CopyDirection::to_host}};
  Platform platform;
  platform.cpus = 2;
  platform.gpus[0].overheads.lock = Duration::microseconds(5);
  return {platform, Ties::by_order, {task}};
}

TEST(Write, Pretty) {
  EXPECT_EQ(write_taskset(example()), R"({
  "rtgpu": 1,
  "platform": {
    "cpus": 2,
    "gpus": [
      {"overheads": {"lock": "5us"}}
    ]
  },
  "ties": "by-order",
  "tasks": [
    {
      "name": "a\"\u000a",
      "period": "1500us",
      "deadline": "1ms",
      "priority": 7,
      "gpu_priority": 8,
      "cpu": 1,
      "memory": "3MiB",
      "sms": 5,
      "segments": [
        {"cpu": {"min": 0, "max": "1us"}},
        {"gpu": {"misc": "1ms", "exec": {"by_sms": {"2": {"min": "1s", "max": "2s"}, "4": {"min": 0, "max": "1ns"}}}, "work": "1ms", "span": 0, "interleave": 1.25}},
        {"copy": {"time": 0, "to": "host"}}
      ]
    }
  ]
}
)");
}

TEST(Write, CompactIsOneLineWithoutDefaults) {
  Taskset taskset;
  taskset.tasks.resize(1);
  taskset.tasks[0].name = "t";
  taskset.tasks[0].period = taskset.tasks[0].deadline = Duration::milliseconds(10);
  taskset.tasks[0].best_effort = true;
  taskset.tasks[0].segments = {CpuSegment{}};
  EXPECT_EQ(write_taskset(taskset, JsonStyle::compact),
            R"({"rtgpu":1,"platform":{"cpus":1},"tasks":[{"name":"t","period":"10ms","priority":0,"best_effort":true,)"
            R"("segments":[{"cpu":0}]}]})");
}

TEST(Write, Origin) {
  Taskset taskset = example();
  taskset.origin = Origin{.generator = "g", .seed = 18446744073709551615U, .index = 0, .parameters = {"cpus=2"}};
  taskset.origin->requested = {500'000};
  taskset.origin->achieved = {499'999, 0};
  EXPECT_THAT(write_taskset(taskset, JsonStyle::compact),
              ::testing::StartsWith(R"({"rtgpu":1,"origin":{"generator":"g","seed":18446744073709551615,"index":0,)"
                                    R"("parameters":["cpus=2"],"requested_utilisation":[0.5],)"
                                    R"("achieved_utilisation":[0.499999,0]},"platform":)"));
}

TEST(Write, ExampleIsReadBack) {
  const auto loaded = read_taskset(write_taskset(example()));
  ASSERT_TRUE(loaded) << to_string(loaded.errors().front());
  EXPECT_EQ(loaded->taskset, example());
}

RandomOptions random_options(std::mt19937_64& engine) {
  RandomOptions options;
  options.tasks = static_cast<int>(uniform(engine, 1, 20));
  options.cpus = static_cast<int>(uniform(engine, 1, 6));
  options.best_effort_percent = static_cast<int>(uniform(engine, 0, 60));
  options.waits = RandomOptions::Waits::mixed;
  options.separate_gpu_priorities = options.jitter = options.constrained_deadlines = true;
  options.best_case_below_worst = options.overheads = options.every_feature = true;
  if (testing::chance(engine, 50)) options.grain = Duration::milliseconds(1);
  return options;
}

TEST(Write, EveryRandomTasksetIsReadBack) {
  TasksetReader reader;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 engine(seed);
    const Taskset taskset = random_taskset(engine, random_options(engine));
    const Errors errors = validate(taskset);
    ASSERT_TRUE(errors.empty()) << to_string(errors.front());
    for (const JsonStyle style : {JsonStyle::pretty, JsonStyle::compact}) {
      const std::string text = write_taskset(taskset, style);
      const auto loaded = reader.read(text);
      ASSERT_TRUE(loaded) << to_string(loaded.errors().front()) << "\n" << text;
      ASSERT_EQ(loaded->taskset, taskset) << text;
      EXPECT_TRUE(loaded->assigned_priorities.empty());
    }
    EXPECT_EQ(write_taskset(taskset, JsonStyle::compact).find('\n'), std::string::npos);
  }
}

TEST(RandomTaskset, KeepsItsOptions) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 engine(seed);
    RandomOptions options;
    options.tasks = 12;
    options.cpus = 3;
    options.gpu_percent = 100;
    options.grain = Duration::microseconds(1);
    const Taskset taskset = random_taskset(engine, options);
    EXPECT_TRUE(validate(taskset).empty());
    ASSERT_EQ(taskset.tasks.size(), 12U);
    std::vector<double> utilisation(3);
    for (const Task& task : taskset.tasks) {
      Duration demand;
      for (const Segment& segment : task.segments) {
        if (const auto* cpu = std::get_if<CpuSegment>(&segment)) demand += cpu->time.max;
        if (const auto* gpu = std::get_if<GpuSegment>(&segment)) demand += gpu->misc.max + gpu->exec->max;
      }
      EXPECT_TRUE(uses_gpu(task));
      EXPECT_EQ(task.period.count() % 1000, 0);
      utilisation[static_cast<std::size_t>(task.cpu)] +=
          static_cast<double>(demand.count()) / static_cast<double>(task.period.count());
    }
    // Rounding to microseconds changes little.
    for (const double sum : utilisation) EXPECT_NEAR(sum, 0.5, 0.01);
  }
}

TEST(RandomTaskset, IsTheSameEverywhere) {
  std::mt19937_64 engine(1);
  // The standard fixes the engine's first output for a seed: 2469588189546311528 for 1.
  EXPECT_EQ(uniform(engine, 0, 999), 528);
  std::mt19937_64 again(1);
  std::mt19937_64 copy(1);
  EXPECT_EQ(random_taskset(again), random_taskset(copy));
}

}  // namespace
}  // namespace rtgpu
