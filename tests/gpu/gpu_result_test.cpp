// What is made of measurements on a GPU; needs none.
#include "benchmarks/gpu_result.h"

#include "rtgpu/time.h"
#include "taskset/json.h"

#include <initializer_list>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu::benchmarks {
namespace {

using testing::HasSubstr;

GpuMeasurement measurement(std::string name, std::initializer_list<int> microseconds) {
  GpuMeasurement made{.name = std::move(name), .what = "what it is"};
  for (const int each : microseconds) made.seen.add(Duration::microseconds(each));
  return made;
}

GpuResult result() {
  GpuResult result;
  result.device = {.name = "Test GPU (cuda:0)", .sms = 12, .copy_engines = 2, .stream_levels = 6, .memory = 1 << 30};
  result.driver = "13.0";
  result.scheduler = "SCHED_FIFO";
  result.samples = 3;
  result.measurements = {measurement("enter", {1, 2, 3}),
                         measurement("leave", {1, 7, 2}),
                         measurement("slice_cost", {5, 6, 9}),
                         {"urgent_partition", "with SMs of its own", {}, "no SMs"}};
  return result;
}

TEST(GpuResult, JsonHasEachMeasurementInNanoseconds) {
  const auto json = nlohmann::json::parse(gpu_json(result()));
  ASSERT_EQ(json["measurements"].size(), 4U);
  const auto& enter = json["measurements"][0];
  EXPECT_EQ(enter["name"], "enter");
  EXPECT_EQ(enter["count"], 3);
  EXPECT_EQ(enter["min"], 1000);
  EXPECT_EQ(enter["max"], 3000);
  // A percentile is at most 1/32 above the value.
  EXPECT_GE(enter["median"], 2000);
  EXPECT_LE(enter["median"], 2063);
  EXPECT_EQ(json["measurements"][3]["left_out"], "no SMs");
  EXPECT_FALSE(json["measurements"][3].contains("max"));
}

TEST(GpuResult, ThePlatformCanBePastedIntoATaskset) {
  auto document = nlohmann::json::parse(R"({"rtgpu": 1, "tasks": [{"name": "a", "period": 10, "priority": 1,
      "segments": [{"cpu": 1}]}]})");
  document["platform"] = nlohmann::json::parse(gpu_json(result()))["platform"];
  document["platform"]["cpus"] = 1;
  const auto read = read_taskset(document.dump());
  ASSERT_TRUE(static_cast<bool>(read)) << to_string(read.errors().front());
  const Gpu& gpu = read->taskset.platform.gpus.at(0);
  EXPECT_EQ(gpu.name, "Test GPU (cuda:0)");
  EXPECT_EQ(gpu.sms, 12);
  EXPECT_EQ(gpu.stream_priorities, 6);
  EXPECT_EQ(gpu.memory, 1 << 30);
  EXPECT_EQ(gpu.overheads.launch, Duration::microseconds(9));
  EXPECT_EQ(gpu.overheads.lock, Duration::microseconds(7)) << "the longer one of entering and leaving";
}

TEST(GpuResult, WhatWasNotMeasuredIsNoOverhead) {
  GpuResult nothing = result();
  nothing.measurements.clear();
  EXPECT_TRUE(nlohmann::json::parse(gpu_json(nothing))["platform"]["gpus"][0]["overheads"].empty());
}

TEST(GpuResult, TheTableSaysWhatWasLeftOutAndWhy) {
  const std::string table = gpu_table(result());
  EXPECT_THAT(table, HasSubstr("Test GPU (cuda:0), driver 13.0, 12 SMs, 6 stream levels, SCHED_FIFO\n"));
  EXPECT_THAT(table, HasSubstr("with SMs of its own"));
  EXPECT_THAT(table, HasSubstr("not measured: no SMs\n"));
  EXPECT_THAT(table, HasSubstr(" 9.00\n"));
}

}  // namespace
}  // namespace rtgpu::benchmarks
