#include "taskset/json.h"
#include "tests/taskset/documents.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""ns;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The taskset of a document that must be valid.
LoadedTaskset load(const std::string& text) {
  auto loaded = read_taskset(text);
  if (!loaded) {
    ADD_FAILURE() << to_string(loaded.errors().front()) << "\nin " << text;
    return {};
  }
  return std::move(loaded).value();
}

Task task_of(const std::string& text) {
  Taskset taskset = load(text).taskset;
  return taskset.tasks.empty() ? Task{} : taskset.tasks.front();
}

template <class Kind>
Kind segment_of(const std::string& segment, std::string_view top = "") {
  const Task task = task_of(with_segment(segment, top));
  return task.segments.empty() ? Kind{} : std::get<Kind>(task.segments.front());
}

TEST(Read, OriginIsKept) {
  const std::string origin = R"({"generator": "g", "seed": 18446744073709551615, "index": 7, "parameters": ["cpus=2"],
      "requested_utilisation": [0.5, 1], "achieved_utilisation": [0.499999, 0.000001]})";
  const Taskset taskset = load(R"({"rtgpu": 1, "origin": )" + origin + R"(, "platform": {"cpus": 2},
      "tasks": [{"name": "a", "period": 1, "segments": [{"cpu": 0}]}]})")
                              .taskset;
  ASSERT_TRUE(taskset.origin);
  EXPECT_EQ(taskset.origin->generator, "g");
  EXPECT_EQ(taskset.origin->seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(taskset.origin->index, 7);
  EXPECT_THAT(taskset.origin->parameters, ElementsAre("cpus=2"));
  EXPECT_THAT(taskset.origin->requested, ElementsAre(500'000, 1'000'000));
  EXPECT_THAT(taskset.origin->achieved, ElementsAre(499'999, 1));
}

TEST(Read, EveryKeyOfTheFormat) {
  const Taskset taskset = load(R"({
    "rtgpu": 1, "time_unit": "ms", "ties": "by-order",
    "platform": {"cpus": 6, "gpus": [{"name": "big", "sms": 6, "copy_engines": 2, "memory": "8GiB",
      "stream_priorities": 5, "server_cpu": 4, "overheads": {"runlist_update": 1, "context_switch": "200us",
      "time_slice": 2, "launch": "10us", "lock": "3us"}}]},
    "tasks": [{"name": "histogram", "period": 100, "deadline": 90, "priority": 70, "gpu_priority": 71, "cpu": 1,
      "wait": "busy", "lock_wait": "spin", "best_effort": false, "jitter": 4, "memory": "256MiB", "sms": 4,
      "segments": [{"cpu": 0.5},
        {"gpu": {"misc": 1, "exec": 10, "block": "100us", "slices": 3, "work": 40, "span": 2, "interleave": 1.5}},
        {"copy": {"time": {"min": 1, "max": 2}, "to": "host"}}, {"cpu": {"min": 0.2, "max": 0.5}}]}]})")
                              .taskset;
  Gpu gpu;
  gpu.name = "big";
  gpu.sms = 6;
  gpu.copy_engines = 2;
  gpu.memory = std::int64_t{8} << 30U;
  gpu.stream_priorities = 5;
  gpu.server_cpu = 4;
  gpu.overheads = {1ms, 200us, 2ms, 10us, 3us};
  GpuSegment segment;
  segment.misc = {1ms, 1ms};
  segment.exec = ExecutionTime{10ms, 10ms};
  segment.block = 100us;
  segment.slices = 3;
  segment.parallel = ParallelWork{{40ms, 40ms}, {2ms, 2ms}, 1'500'000};
  Task task;
  task.name = "histogram";
  task.period = 100ms;
  task.deadline = 90ms;
  task.jitter = 4ms;
  task.priority = 70;
  task.gpu_priority = 71;
  task.cpu = 1;
  task.wait = WaitMode::busy;
  task.lock_wait = LockWait::spin;
  task.memory = std::int64_t{256} << 20U;
  task.sms = 4;
  task.segments = {CpuSegment{{500us, 500us}}, segment, CopySegment{{1ms, 2ms}, CopyDirection::to_host},
                   CpuSegment{{200us, 500us}}};
  EXPECT_EQ(taskset, (Taskset{Platform{6, {gpu}}, Ties::by_order, {task}}));
}

TEST(Read, Defaults) {
  const LoadedTaskset loaded = load(with_task(""));
  Task task;
  task.name = "t";
  task.period = task.deadline = 100ms;
  task.priority = task.gpu_priority = 1;
  task.segments = {CpuSegment{{1ms, 1ms}}};
  EXPECT_EQ(loaded.taskset, (Taskset{Platform{2, {Gpu{}}}, Ties::error, {task}}));
  EXPECT_THAT(loaded.assigned_priorities, ElementsAre("t"));
}

TEST(Read, DefaultsOfSegments) {
  const auto gpu = segment_of<GpuSegment>(R"({"gpu": {"exec": 3}})");
  GpuSegment expected;
  expected.exec = ExecutionTime{3ms, 3ms};
  EXPECT_EQ(gpu, expected);
  EXPECT_EQ(segment_of<CopySegment>(R"({"copy": {"time": 2}})"), (CopySegment{{2ms, 2ms}, CopyDirection::to_device}));
  const auto work = segment_of<GpuSegment>(R"({"gpu": {"work": 3, "span": 1}})");
  EXPECT_EQ(work.parallel, (ParallelWork{{3ms, 3ms}, {1ms, 1ms}, 1'000'000}));
  EXPECT_EQ(work.exec, std::nullopt);
}

TEST(Read, GpusAreNamedInOrder) {
  const auto loaded = load(R"({"rtgpu": 1, "platform": {"cpus": 1, "gpus": [{}, {"name": "x"}, {}]},
                               "tasks": [{"name": "t", "period": 1, "segments": [{"cpu": 0}]}]})");
  std::vector<std::string> names;
  for (const Gpu& gpu : loaded.taskset.platform.gpus) names.push_back(gpu.name);
  EXPECT_THAT(names, ElementsAre("gpu0", "x", "gpu2"));
}

TEST(Read, BestEffortTaskHasItsPeriodAsDeadline) {
  const Task task = task_of(with_task(R"("best_effort": true, )"));
  EXPECT_TRUE(task.best_effort);
  EXPECT_EQ(task.deadline, Duration(100ms));
}

struct TimeCase {
  const char* written;
  std::int64_t min_ns;  // as a best case
  std::int64_t max_ns;  // as a worst case
};

class ReadTime : public ::testing::TestWithParam<TimeCase> {};

TEST_P(ReadTime, IsExactOrRoundedToTheSafeSide) {
  const auto& [written, min_ns, max_ns] = GetParam();
  const std::string time = written;
  const auto both = segment_of<CpuSegment>(R"({"cpu": {"min": )" + time + R"(, "max": )" + time + "}}");
  EXPECT_EQ(both.time.min.count(), min_ns);
  EXPECT_EQ(both.time.max.count(), max_ns);
  const auto worst = segment_of<CpuSegment>(R"({"cpu": )" + time + "}");
  EXPECT_EQ(worst.time.min.count(), max_ns);
  EXPECT_EQ(worst.time.max.count(), max_ns);
}

INSTANTIATE_TEST_SUITE_P(Times, ReadTime,
                         ::testing::Values(TimeCase{"0", 0, 0}, TimeCase{"0.1", 100'000, 100'000},
                                           TimeCase{"0.3", 300'000, 300'000}, TimeCase{"25", 25'000'000, 25'000'000},
                                           TimeCase{"1e3", 1'000'000'000, 1'000'000'000},
                                           TimeCase{"1E-2", 10'000, 10'000}, TimeCase{"0.0000001", 0, 1},
                                           TimeCase{"1.0000001", 1'000'000, 1'000'001}, TimeCase{"1e-300", 0, 1},
                                           TimeCase{"\"250us\"", 250'000, 250'000}, TimeCase{"\"1.5ns\"", 1, 2},
                                           TimeCase{"\"0.1s\"", 100'000'000, 100'000'000},
                                           TimeCase{"1e9", 1'000'000'000'000'000, 1'000'000'000'000'000}));

TEST(Read, TimeUnitConcernsNumbersOnlyWhereverItStands) {
  const auto loaded = load(R"({"tasks": [{"name": "t", "period": 1000, "segments": [{"cpu": "2ms"}]}],
                               "platform": {"cpus": 1}, "rtgpu": 1, "time_unit": "us"})");
  EXPECT_EQ(loaded.taskset.tasks[0].period, Duration(1ms));
  EXPECT_EQ(std::get<CpuSegment>(loaded.taskset.tasks[0].segments[0]).time.max, Duration(2ms));
}

TEST(Read, PeriodAndDeadlineAreRoundedDownAndCostsUp) {
  const Task task = task_of(R"({"rtgpu": 1, "time_unit": "ns", "platform": {"cpus": 1},
    "tasks": [{"name": "t", "period": 10.5, "deadline": 9.5, "jitter": 1.5, "segments": [
      {"gpu": {"misc": 0.5, "exec": 2.5, "block": 3.5}}]}]})");
  EXPECT_EQ(task.period, Duration(10ns));
  EXPECT_EQ(task.deadline, Duration(9ns));
  EXPECT_EQ(task.jitter, Duration(2ns));
  const auto& gpu = std::get<GpuSegment>(task.segments.at(0));
  EXPECT_EQ(gpu.misc.max, Duration(1ns));
  EXPECT_EQ(gpu.exec->max, Duration(3ns));
  EXPECT_EQ(gpu.block, Duration(4ns));
}

TEST(Read, OverheadsAreRoundedUp) {
  const auto loaded = load(with_gpu(R"("overheads": {"launch": "1.1ns", "lock": "0.1ns"})"));
  EXPECT_EQ(loaded.taskset.platform.gpus[0].overheads.launch, Duration(2ns));
  EXPECT_EQ(loaded.taskset.platform.gpus[0].overheads.lock, Duration(1ns));
}

TEST(Read, SmCountsAreSorted) {
  const auto gpu = segment_of<GpuSegment>(R"({"gpu": {"exec": {"by_sms": {"10": 7, "2": {"min": 9, "max": 20}}}}})");
  EXPECT_THAT(gpu.exec_by_sms, ElementsAre(ExecOnSms{2, {9ms, 20ms}}, ExecOnSms{10, {7ms, 7ms}}));
  EXPECT_EQ(gpu.exec, std::nullopt);
}

TEST(Read, InterleaveIsRoundedUp) {
  const auto gpu = segment_of<GpuSegment>(R"({"gpu": {"work": 9, "span": 1, "interleave": 1.0000001}})");
  EXPECT_EQ(gpu.parallel->interleave_millionths, 1'000'001);
}

TEST(Read, Memory) {
  const auto memory = [](const std::string& written) {
    return task_of(with_task("\"memory\": " + written + ", ")).memory;
  };
  EXPECT_EQ(memory("12"), 12);
  EXPECT_EQ(memory("\"12B\""), 12);
  EXPECT_EQ(memory("\"512KiB\""), 512 * 1024);
  EXPECT_EQ(memory("\"3MiB\""), 3 * 1024 * 1024);
  EXPECT_EQ(memory("\"1TiB\""), std::int64_t{1} << 40U);
}

TEST(Read, ByteOrderMarkAndWindowsLineEndsAreAccepted) {
  std::string text = "\xEF\xBB\xBF{\r\n" + with_task("").substr(1) + "\r\n";
  EXPECT_EQ(load(text).taskset, load(with_task("")).taskset);
}

TEST(Read, EscapesInNames) {
  const Task task = task_of(R"({"rtgpu": 1, "platform": {"cpus": 1}, "tasks": [
      {"name": "a\"\u00e9\ud83d\ude00\n", "period": 1, "segments": [{"cpu": 0}]}]})");
  EXPECT_EQ(task.name, "a\"\u00e9\U0001f600\n");
}

TEST(Read, AssignedPrioritiesAreNamedFromHighToLow) {
  const auto loaded = load(R"({"rtgpu": 1, "platform": {"cpus": 1}, "tasks": [
      {"name": "slow", "period": 9, "segments": [{"cpu": 0}]},
      {"name": "idle", "period": 1, "best_effort": true, "segments": [{"cpu": 0}]},
      {"name": "given", "period": 30, "priority": 50, "segments": [{"cpu": 0}]},
      {"name": "fast", "period": 3, "gpu_priority": 7, "segments": [{"cpu": 0}]}]})");
  EXPECT_THAT(loaded.assigned_priorities, ElementsAre("fast", "slow", "idle"));
  EXPECT_EQ(loaded.taskset.tasks[3].priority, 49);
  EXPECT_EQ(loaded.taskset.tasks[3].gpu_priority, 7);
  EXPECT_EQ(loaded.taskset.tasks[0].priority, 48);
  EXPECT_EQ(loaded.taskset.tasks[0].gpu_priority, 48);
}

TEST(Read, AReaderCarriesNothingOverFromTheLastDocument) {
  TasksetReader reader;
  ASSERT_FALSE(reader.read("{\"rtgpu\": 1, \"rtgpu\": 1, \"tasks\""));
  ASSERT_FALSE(reader.read(with_task("\"jitter\": 1, \"jitter\": 1, ")));
  const auto loaded = reader.read(with_task("\"priority\": 3, "));
  ASSERT_TRUE(loaded);
  EXPECT_THAT(loaded->assigned_priorities, IsEmpty());
  EXPECT_EQ(loaded->taskset.tasks.size(), 1U);
}

TEST(Read, NestingUpToTheLimitIsNotAnErrorOfDepth) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(read_taskset(nested(kMaxDepth)).errors().front().code, ErrorCode::type);
  EXPECT_EQ(read_taskset(nested(kMaxDepth + 1)).errors().front().code, ErrorCode::limit);
}

TEST(Read, Examples) {
  std::size_t count = 0;
  for (const char* const folder : {RTGPU_EXAMPLES, RTGPU_TEST_DATA}) {
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      std::ifstream file(entry.path());
      SCOPED_TRACE(entry.path());
      EXPECT_FALSE(load({std::istreambuf_iterator<char>(file), {}}).taskset.tasks.empty());
      ++count;
    }
  }
  EXPECT_GE(count, 1U);
}

}  // namespace
}  // namespace rtgpu
