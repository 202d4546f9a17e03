#include "taskset/taskset.h"

#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ExecutionTime ms(int worst) {
  return {Duration(), Duration::milliseconds(worst)};
}

Taskset valid() {
  Task task;
  task.name = "t";
  task.period = task.deadline = Duration::milliseconds(10);
  GpuSegment gpu;
  gpu.exec = ms(2);
  task.segments = {CpuSegment{ms(1)}, gpu, CopySegment{ms(1)}};
  return {Platform{}, Ties::error, {task}};
}

// A change that breaks one rule, and the pointer of the error.
struct Rule {
  std::string pointer;
  std::string found;
  std::function<void(Taskset&)> breaks;
};

Task& first(Taskset& set) {
  return set.tasks.front();
}
GpuSegment& gpu(Taskset& set) {
  return std::get<GpuSegment>(first(set).segments[1]);
}

TEST(Validate, AcceptsAValidTaskset) {
  EXPECT_THAT(validate(valid()), IsEmpty());
}

class ValidateRule : public ::testing::TestWithParam<Rule> {};

TEST_P(ValidateRule, IsBroken) {
  Taskset taskset = valid();
  GetParam().breaks(taskset);
  const Errors errors = validate(taskset);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].place.pointer, GetParam().pointer);
  EXPECT_THAT(errors[0].found, HasSubstr(GetParam().found));
  EXPECT_NE(errors[0].expected, "");
}

constexpr Duration kNegative = Duration::nanoseconds(-1);
constexpr Duration kTooLong = kMaxTime + Duration::nanoseconds(1);

INSTANTIATE_TEST_SUITE_P(
    Model, ValidateRule,
    ::testing::Values(
        Rule{"/origin/generator", "", [](Taskset& set) { set.origin = Origin{}; }},
        Rule{"/origin/index", "-1", [](Taskset& set) { set.origin = Origin{.generator = "g", .index = -1}; }},
        Rule{"/origin/achieved_utilisation/1", "-5",
             [](Taskset& set) { set.origin = Origin{.generator = "g", .achieved = {0, -5}}; }},
        Rule{"/origin/parameters/0", "UTF-8",
             [](Taskset& set) { set.origin = Origin{.generator = "g", .parameters = {"\xff"}}; }},
        Rule{"/platform/cpus", "0", [](Taskset& set) { set.platform.cpus = 0; }},
        Rule{"/platform/gpus", "empty", [](Taskset& set) { set.platform.gpus.clear(); }},
        Rule{"/platform/gpus/0/copy_engines", "0", [](Taskset& set) { set.platform.gpus[0].copy_engines = 0; }},
        Rule{"/platform/gpus/0/server_cpu", "1", [](Taskset& set) { set.platform.gpus[0].server_cpu = 1; }},
        Rule{"/platform/gpus/0/sms", "-1", [](Taskset& set) { set.platform.gpus[0].sms = -1; }},
        Rule{"/platform/gpus/0/overheads/launch", "-1ns",
             [](Taskset& set) { set.platform.gpus[0].overheads.launch = kNegative; }},
        Rule{"/platform/gpus/0/overheads/time_slice", "1000000000000001ns",
             [](Taskset& set) { set.platform.gpus[0].overheads.time_slice = kTooLong; }},
        Rule{"/tasks", "empty", [](Taskset& set) { set.tasks.clear(); }},
        Rule{"/tasks", "100001 tasks", [](Taskset& set) { set.tasks.resize(kMaxTasks + 1); }},
        Rule{"/tasks/0/name", "\"\"", [](Taskset& set) { first(set).name = ""; }},
        Rule{"/tasks/0/name", "UTF-8", [](Taskset& set) { first(set).name = "\xC0\x80"; }},
        Rule{"/tasks/0/period", "-1ns", [](Taskset& set) { first(set).period = kNegative; }},
        Rule{"/tasks/0/period", "infinite", [](Taskset& set) { first(set).period = Duration::infinite(); }},
        Rule{"/tasks/0/deadline", "0", [](Taskset& set) { first(set).deadline = Duration(); }},
        Rule{"/tasks/0/deadline", "11ms", [](Taskset& set) { first(set).deadline = Duration::milliseconds(11); }},
        Rule{"/tasks/0/deadline", "9ms",
             [](Taskset& set) {
               first(set).best_effort = true;
               first(set).deadline = Duration::milliseconds(9);
             }},
        Rule{"/tasks/0/jitter", "-1ns", [](Taskset& set) { first(set).jitter = kNegative; }},
        Rule{"/tasks/0/priority", "2000000001", [](Taskset& set) { first(set).priority = 2'000'000'001; }},
        Rule{"/tasks/0/gpu_priority", "-2000000001", [](Taskset& set) { first(set).gpu_priority = -2'000'000'001; }},
        Rule{"/tasks/0/cpu", "1", [](Taskset& set) { first(set).cpu = 1; }},
        Rule{"/tasks/0/memory", "-1", [](Taskset& set) { first(set).memory = -1; }},
        Rule{"/tasks/0/sms", "0", [](Taskset& set) { first(set).sms = 0; }},
        Rule{"/tasks/0/sms", "5, which makes 5 with those of earlier tasks",
             [](Taskset& set) {
               set.platform.gpus[0].sms = 4;
               first(set).sms = 5;
             }},
        Rule{"/tasks/0/segments", "empty", [](Taskset& set) { first(set).segments.clear(); }},
        Rule{"/tasks/0/segments", "10001", [](Taskset& set) { first(set).segments.resize(kMaxSegments + 1); }},
        Rule{"/tasks/0/segments/0/cpu", "-1ns",
             [](Taskset& set) { first(set).segments[0] = CpuSegment{{kNegative, Duration()}}; }},
        Rule{"/tasks/0/segments/0/cpu", "1000000000000001ns",
             [](Taskset& set) { first(set).segments[0] = CpuSegment{{Duration(), kTooLong}}; }},
        Rule{"/tasks/0/segments/2/copy/time", "min 1ms, max 0",
             [](Taskset& set) { first(set).segments[2] = CopySegment{{Duration::milliseconds(1), Duration()}}; }},
        Rule{"/tasks/0/segments/1/gpu", "neither", [](Taskset& set) { gpu(set).exec.reset(); }},
        Rule{"/tasks/0/segments/1/gpu/misc", "-1ns", [](Taskset& set) { gpu(set).misc.max = kNegative; }},
        Rule{"/tasks/0/segments/1/gpu/block", "0", [](Taskset& set) { gpu(set).block = Duration(); }},
        Rule{"/tasks/0/segments/1/gpu/slices", "0", [](Taskset& set) { gpu(set).slices = 0; }},
        Rule{"/tasks/0/segments/1/gpu/exec", "both", [](Taskset& set) { gpu(set).exec_by_sms = {{1, ms(1)}}; }},
        Rule{"/tasks/0/segments/1/gpu/exec/by_sms/2", "2 SMs after 2 SMs",
             [](Taskset& set) {
               gpu(set).exec.reset();
               gpu(set).exec_by_sms = {{2, ms(3)}, {2, ms(2)}};
             }},
        Rule{"/tasks/0/segments/1/gpu/exec/by_sms/4", "3ms",
             [](Taskset& set) {
               gpu(set).exec.reset();
               gpu(set).exec_by_sms = {{2, ms(2)}, {4, ms(3)}};
             }},
        Rule{"/tasks/0/segments/1/gpu/interleave", "999999",
             [](Taskset& set) { gpu(set).parallel = ParallelWork{ms(2), ms(1), 999'999}; }},
        Rule{"/tasks/0/segments/1/gpu/span", "2ms",
             [](Taskset& set) { gpu(set).parallel = ParallelWork{ms(1), ms(2)}; }}));

std::vector<std::string> pointers(const Errors& errors) {
  std::vector<std::string> all;
  for (const Error& error : errors) all.push_back(error.place.pointer);
  return all;
}

TEST(Validate, EachTaskOfATieIsReportedAgainstTheFirst) {
  Taskset taskset = valid();
  taskset.tasks.resize(4, taskset.tasks.front());
  for (std::size_t i = 0; i < 4; ++i) taskset.tasks[i].name = std::string(1, static_cast<char>('a' + i));
  taskset.tasks[1].priority = 9;
  taskset.tasks[1].gpu_priority = 9;
  EXPECT_THAT(pointers(validate(taskset)), ElementsAre("/tasks/2/priority", "/tasks/3/priority"));
  EXPECT_THAT(validate(taskset).back().found, HasSubstr("\"a\" (/tasks/0)"));
  taskset.ties = Ties::by_order;
  EXPECT_THAT(validate(taskset), IsEmpty());
}

TEST(Validate, EqualGpuPrioritiesMatterOnlyToTasksThatUseTheGpu) {
  Taskset taskset = valid();
  taskset.tasks.push_back(taskset.tasks.front());
  taskset.tasks[1].name = "u";
  taskset.tasks[1].priority = 1;
  EXPECT_THAT(pointers(validate(taskset)), ElementsAre("/tasks/1/gpu_priority"));
  taskset.tasks[1].segments = {CpuSegment{ms(1)}, CopySegment{ms(1)}};
  EXPECT_THAT(validate(taskset), IsEmpty());
}

TEST(Validate, ManyErrorsAreCounted) {
  Taskset taskset = valid();
  taskset.tasks.resize(kMaxTasks, taskset.tasks.front());
  const Errors errors = validate(taskset);
  ASSERT_EQ(errors.size(), 1001U);
  // Every task but the first repeats a name and a priority.
  EXPECT_THAT(errors.back().found, HasSubstr(std::to_string(2 * (kMaxTasks - 1) - 1000)));
}

}  // namespace
}  // namespace rtgpu
