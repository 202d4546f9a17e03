// What a trace says of a CUDA device's own clock. On the fake driver, which knows when its work really began and ended.
#include "runtime/device/cuda/work_times.h"
#include "runtime/runtime.h"
#include "runtime/trace/run_chrome_trace.h"
#include "runtime/trace/schedule_of_trace.h"
#include "taskset/taskset.h"
#include "tests/runtime/cuda_runs.h"
#include "tests/runtime/read_chrome_trace.h"
#include "tests/runtime/schedule_text.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using cuda::FakeCuda;
using cuda::FakeLaunch;
using ::testing::Contains;
using testing::CountingKernel;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ms;
using ::testing::Not;
using testing::real_cuda_options;
using testing::seen_of;
using testing::setup;
using testing::virtual_cuda_options;

constexpr Duration micros(std::int64_t count) {
  return Duration::microseconds(count);
}

Duration time_of_fake(std::chrono::nanoseconds time) {
  return Duration::nanoseconds(time.count());
}

bool contains(const HostInterval& when, Duration time) {
  return when.earliest <= time && time <= when.latest;
}

Duration width_of(const HostInterval& when) {
  return when.latest - when.earliest;
}

// Those that take time.
std::vector<FakeLaunch> real_launches(const FakeCuda& fake) {
  std::vector<FakeLaunch> launches = fake.launches();
  std::erase_if(launches, [](const FakeLaunch& launch) { return launch.begin == launch.end; });
  std::ranges::sort(launches, std::ranges::less{}, [](const FakeLaunch& launch) { return launch.begin; });
  return launches;
}

std::vector<DeviceInterval> work_of(const Trace& trace) {
  std::vector<DeviceInterval> work = trace.device_times;
  std::erase_if(work, [](const DeviceInterval& each) { return each.engine != DeviceInterval::kNoEngine; });
  return work;
}

// A job that takes 8 ms of the device: a whole segment, slices, and a kernel of the application.
class VariedJob {
 public:
  explicit VariedJob(FakeCuda& fake) : kernel_(fake, "count", ms(2)) { kernel_.counts.assign(100, 0); }
  void operator()(Job& job) {
    job.gpu("whole", [](Stream stream) { stream.run(ms(1)); });
    const auto launch = [&](Stream stream, Slice part) { kernel_.launch(stream, part.first_block, part.blocks); };
    job.gpu("sliced", sliced(90, 30), launch);
    job.gpu("own", [&](Stream stream) { kernel_.launch(stream, 90, 10); });
  }

 private:
  CountingKernel kernel_;
};

class CudaWorkTimes : public ::testing::TestWithParam<int> {};

// Whatever the speed of the device's clock is.
TEST_P(CudaWorkTimes, ContainTheTrueTimes) {
  FakeCuda fake;
  fake.set("clock_ppm=" + std::to_string(GetParam()));
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  VariedJob body(fake);
  TaskSetup task = setup("task", ms(100), 1, {});
  task.offset = ms(3);
  runtime.add_task(task, [&](Job& job) { body(job); });
  runtime.run_for(Duration::seconds(5));
  const std::vector<FakeLaunch> launches = real_launches(fake);
  const std::vector<DeviceInterval>& times = runtime.trace().device_times;
  ASSERT_EQ(launches.size(), 50U * 5U);
  ASSERT_EQ(times.size(), launches.size());
  EXPECT_EQ(runtime.trace().dropped, 0U);
  for (std::size_t index = 0; index < times.size(); ++index) {
    const DeviceInterval& seen = times[index];
    SCOPED_TRACE(index);
    EXPECT_TRUE(contains(seen.begin, time_of_fake(launches[index].begin)));
    EXPECT_TRUE(contains(seen.end, time_of_fake(launches[index].end)));
    // 100 ppm of 5 s would be 500 us: it is by the references on both sides that they are so narrow.
    EXPECT_LT(width_of(seen.begin), micros(10));
    EXPECT_LT(width_of(seen.end), micros(10));
    EXPECT_EQ(seen.place.task, 0U);
    EXPECT_EQ(seen.place.job, static_cast<std::int64_t>(index / 5));
    // With those of the CPU before them.
    constexpr std::array<std::uint16_t, 5> kSegments = {1, 3, 3, 3, 5};
    EXPECT_EQ(seen.place.segment, kSegments[index % 5]);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Speeds, CudaWorkTimes, ::testing::Values(0, 60, -85));

TEST(CudaClockStatement, IsInTheNotesAndInTheTrace) {
  FakeCuda fake;
  fake.set("clock_ppm=60");
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  runtime.add_task(setup("task", ms(1000), 1, {gpu(Duration(), ms(1))}), testing::use_gpu_well);
  runtime.run_for(Duration::seconds(9));
  const std::string statement = runtime.trace().device_clock;
  EXPECT_THAT(statement, HasSubstr("device clock: 60 ppm fast, times in the trace within "));
  EXPECT_THAT(runtime.report().notes, Contains(statement));
  Duration widest;
  for (const DeviceInterval& each : runtime.trace().device_times) {
    widest = std::max({widest, width_of(each.begin), width_of(each.end)});
  }
  const double within = std::stod(statement.substr(statement.find("within ") + 7));
  EXPECT_GE(within * 2'000, static_cast<double>(widest.count()));
  EXPECT_LT(within, 20);
}

TEST(CudaClockStatement, SaysThatTheClockRunsAsNobodyExpects) {
  FakeCuda fake;
  fake.set("clock_ppm=-300");
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  runtime.add_task(setup("task", ms(1000), 1, {gpu(Duration(), ms(1))}), testing::use_gpu_well);
  runtime.run_for(Duration::seconds(9));
  EXPECT_THAT(runtime.trace().device_clock, HasSubstr("300 ppm slow, but 100 ppm are assumed"));
}

TEST(CudaClockStatement, ADeviceThatIsSeenTooLateHasNone) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  fake.set("late_ns=500000");
  runtime.add_task(setup("task", ms(10), 1, {gpu(Duration(), ms(2))}), testing::use_gpu_well);
  runtime.run_for(ms(25));
  EXPECT_EQ(runtime.trace().device_clock, "device clock: not correlated with the host's");
  EXPECT_THAT(runtime.trace().device_times, IsEmpty());
  EXPECT_EQ(runtime.trace().dropped, 3U);
  EXPECT_EQ(seen_of(runtime.report(), "task").gpu_failures, 0);
}

TEST(CudaCopyTimes, AreThoseOfTheParts) {
  FakeCuda fake;
  fake.set("copy_ns_per_kib=1000000");
  RuntimeOptions options = virtual_cuda_options(fake, "mpcp");
  options.cuda.copy_chunk = 2048;
  Runtime runtime(options);
  std::vector<std::byte> host(3 * 1024);
  TaskSetup task = setup("task", ms(100), 1, {});
  task.memory = 4096;
  task.offset = ms(1);
  runtime.add_task(task, [&](Job& job) {
    EXPECT_EQ(job.copy("there", {job.memory().data(), host.data(), host.size()}), GpuStatus::ok);
    CopyRequest request{host.data(), job.memory().data(), 1024};
    request.direction = CopyDirection::to_host;
    EXPECT_EQ(job.copy("back", request), GpuStatus::ok);
  });
  runtime.run_for(ms(50));
  const std::vector<DeviceInterval>& times = runtime.trace().device_times;
  ASSERT_EQ(times.size(), 3U);
  const std::array<Duration, 4> ends = {ms(1), ms(3), ms(4), ms(5)};
  for (std::size_t part = 0; part < times.size(); ++part) {
    SCOPED_TRACE(part);
    const auto found =
        std::ranges::find_if(times, [&](const auto& each) { return contains(each.end, ends[part + 1]); });
    ASSERT_NE(found, times.end());
    EXPECT_TRUE(contains(found->begin, ends[part]));
    EXPECT_EQ(found->engine, part < 2 ? 0 : 1);
    EXPECT_EQ(found->place.segment, part < 2 ? 1 : 3);
  }
}

// One event for each slice, without timing, and no burst.
TEST(CudaWithoutTrace, NothingIsTimed) {
  FakeCuda fake;
  RuntimeOptions options = virtual_cuda_options(fake, "mpcp");
  options.keep_trace = false;
  Runtime runtime(options);
  VariedJob body(fake);
  runtime.add_task(setup("task", ms(100), 1, {}), [&](Job& job) { body(job); });
  runtime.run_for(ms(250));
  EXPECT_EQ(real_launches(fake).size(), 3U * 5U);
  EXPECT_EQ(fake.calls("cuEventRecord"), 3U * 5U);
  EXPECT_EQ(fake.calls("cuEventElapsedTime"), 0U);
  EXPECT_EQ(fake.calls("cuEventCreate"), 3U);  // of the task's stream, and of each copy engine
  EXPECT_THAT(runtime.trace().device_times, IsEmpty());
  EXPECT_THAT(runtime.report().notes, IsEmpty());
}

// The second run uses the events of the first.
TEST(CudaWithTrace, NothingForbiddenIsCalledDuringARun) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  VariedJob body(fake);
  const auto forbidden = [&] {
    std::size_t calls = 0;
    for (const char* name : {"cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize", "cuMemAlloc", "cuMemFree",
                             "cuModuleLoadData", "cuStreamCreateWithPriority", "cuEventCreate", "cuEventDestroy"}) {
      calls += fake.calls(name);
    }
    return calls;
  };
  std::size_t at_first_job = 0;
  runtime.add_task(setup("task", ms(100), 1, {}), [&](Job& job) {
    if (job.number() == 0) at_first_job = forbidden();
    body(job);
  });
  runtime.run_for(ms(250));
  EXPECT_EQ(forbidden(), at_first_job);
  const std::size_t first_run = fake.calls("cuEventRecord");
  const std::size_t made = fake.calls("cuEventCreate");
  runtime.run_for(ms(250));
  EXPECT_EQ(fake.calls("cuEventCreate"), made);
  EXPECT_EQ(runtime.trace().device_times.size(), 3U * 5U);
  // Two for each slice, one more for each segment; two bursts.
  EXPECT_EQ(fake.calls("cuEventRecord") - first_run, 3U * (2 * 5 + 2) + 2 * cuda::DeviceClock::kBurst);
}

TEST(CudaWithTrace, AnEventThatCannotBeMadeIsANote) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  runtime.add_task(setup("task", ms(10), 1, {gpu(Duration(), ms(2))}), testing::use_gpu_well);
  fake.set("fail=cuEventCreate:2:30");  // after the stream's, and those of the clock
  runtime.run_for(ms(25));
  EXPECT_THAT(runtime.report().notes, ElementsAre(HasSubstr("no times of the device in the trace")));
  EXPECT_EQ(runtime.report().tasks.front().seen.jobs, 3);
  runtime.run_for(ms(25));
  EXPECT_THAT(runtime.report().notes, ElementsAre(HasSubstr("device clock: ")));
  EXPECT_EQ(runtime.trace().device_times.size(), 3U);
}

std::string chrome_text(const Trace& trace, const Taskset& taskset) {
  std::ostringstream out;
  write_run_chrome_trace(out, trace, taskset, {"a run", RunClock::virtual_time});
  return out.str();
}

TEST(CudaChromeTrace, HasALaneOfTheDeviceClock) {
  FakeCuda fake;
  Runtime runtime(virtual_cuda_options(fake, "mpcp"));
  TaskSetup task = setup("task", ms(20), 1, {gpu(Duration(), ms(2))});
  task.offset = ms(1);
  runtime.add_task(task, testing::use_gpu_well);
  runtime.run_for(ms(35));
  Trace trace = runtime.trace();
  const std::string text = chrome_text(trace, runtime.taskset());
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json.at("otherData").at("device_clock"), trace.device_clock);
  std::map<std::int64_t, std::string> lanes;
  std::vector<double> begins;
  for (const nlohmann::json& event : json.at("traceEvents")) {
    if (event.at("name") == "thread_name" && event.at("pid") == 3) lanes[event.at("tid")] = event.at("args").at("name");
    if (event.value("cat", "") != "device clock") continue;
    EXPECT_EQ(lanes.at(event.at("tid")), "device clock: task");
    EXPECT_EQ(event.at("name"), "task");
    EXPECT_EQ(event.at("args").at("job"), begins.size());
    const double within = event.at("args").at("within_ns");
    EXPECT_GE(within, 500);
    EXPECT_LT(within, 2'000);
    EXPECT_NEAR(event.at("dur").get<double>(), 2'000, within / 500);
    begins.push_back(event.at("ts"));
  }
  ASSERT_EQ(begins.size(), 2U);
  EXPECT_NEAR(begins[0], 1'000, 2);
  EXPECT_NEAR(begins[1], 21'000, 2);
  // What reads the schedule does not see it.
  const Schedule schedule = schedule_of(trace, runtime.taskset());
  EXPECT_EQ(testing::first_difference(schedule, testing::read_chrome_trace(text)), "");
  trace.device_times.clear();
  EXPECT_EQ(testing::first_difference(schedule, schedule_of(trace, runtime.taskset())), "");
}

class CudaRealWorkTimes : public ::testing::TestWithParam<WaitMode> {};

// On a clock that goes by itself. The fake driver's is the host's; where that was 0 in the run follows from the first.
TEST_P(CudaRealWorkTimes, ContainTheTrueTimes) {
  FakeCuda fake;
  RuntimeOptions options = real_cuda_options(fake, "mpcp");
  options.keep_trace = true;
  fake.set("clock_ppm=40");
  Runtime runtime(options);
  TaskSetup task = setup("task", ms(4), 1, {});
  task.wait = GetParam();
  runtime.add_task(task, [&](Job& job) {
    job.gpu("whole", [](Stream stream) { stream.run(micros(300)); });
    job.gpu("sliced", sliced(3, 1), [](Stream stream, Slice) { stream.run(micros(200)); });
  });
  runtime.run_for(ms(60));
  const Trace& trace = runtime.trace();
  const std::vector<FakeLaunch> launches = real_launches(fake);
  const std::vector<DeviceInterval> times = work_of(trace);
  EXPECT_EQ(trace.dropped, 0U);
  ASSERT_GT(times.size(), 0U);
  ASSERT_EQ(times.size(), launches.size());
  // Work runs between its begin and its end as they are told, whenever threads are interrupted meanwhile. Each says in
  // which interval the run began, and one time has to be in all of them.
  HostInterval start{Duration(), Duration::infinite()};
  for (std::size_t index = 0; index < times.size(); ++index) {
    start.earliest = std::max(start.earliest, time_of_fake(launches[index].end) - times[index].end.latest);
    start.latest = std::min(start.latest, time_of_fake(launches[index].begin) - times[index].begin.earliest);
  }
  EXPECT_LE(start.earliest, start.latest);
  // As the run itself saw it: after the job was let in, and before it left.
  std::map<std::pair<std::int64_t, std::uint16_t>, HostInterval> segments;
  for (const TraceEvent& event : trace.events) {
    HostInterval& segment = segments[{event.job, event.segment}];
    if (event.kind == TraceKind::grant) segment.earliest = Duration::nanoseconds(event.time_ns);
    if (event.kind == TraceKind::end) segment.latest = Duration::nanoseconds(event.time_ns);
  }
  for (const DeviceInterval& each : times) {
    const HostInterval& segment = segments.at({each.place.job, each.place.segment});
    EXPECT_GE(each.begin.latest, segment.earliest);
    EXPECT_LE(each.end.earliest, segment.latest);
  }
  EXPECT_THAT(trace.device_clock, Not(HasSubstr("not correlated")));
}

INSTANTIATE_TEST_SUITE_P(Waits, CudaRealWorkTimes, ::testing::Values(WaitMode::suspend, WaitMode::busy),
                         [](const auto& parameter) {
                           return parameter.param == WaitMode::busy ? "busy" : "suspended";
                         });

}  // namespace
}  // namespace rtgpu
