// In virtual time the runtime's threads do what the simulator says they do: the same schedule, to the nanosecond.
#include "analysis/simulation/schedule.h"
#include "analysis/simulation/schedule_check.h"
#include "analysis/simulation/simulator.h"
#include "analysis/simulation/trials.h"
#include "rtgpu/policy.h"
#include "runtime/runtime.h"
#include "runtime/trace/schedule_of_trace.h"
#include "taskset/json.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::ms;
using testing::RandomOptions;

auto fields(const TaskInterval& of) {
  return std::tuple(of.task, of.job, of.segment, static_cast<int>(of.state), of.boosted, of.begin.count(),
                    of.end.count());
}
auto fields(const CoreInterval& of) {
  return std::tuple(of.core, of.task, of.begin.count(), of.end.count());
}
auto fields(const GpuInterval& of) {
  return std::tuple(of.task, of.switching, of.begin.count(), of.end.count());
}
auto fields(const CopyInterval& of) {
  return std::tuple(of.engine, of.task, of.begin.count(), of.end.count());
}
auto fields(const JobRecord& of) {
  return std::tuple(of.task, of.job, of.nominal_release.count(), of.release.count(), of.completion.count(), of.missed);
}

template <class Part>
void expect_same(const char* what, const std::vector<Part>& simulated, const std::vector<Part>& run) {
  const std::size_t both = std::min(simulated.size(), run.size());
  for (std::size_t index = 0; index < both; ++index) {
    ASSERT_EQ(fields(simulated[index]), fields(run[index])) << what << " " << index << ": simulated against run";
  }
  EXPECT_EQ(simulated.size(), run.size()) << what;
}

void expect_same(const Schedule& simulated, const Schedule& run) {
  expect_same("task interval", simulated.tasks, run.tasks);
  expect_same("core interval", simulated.cores, run.cores);
  expect_same("GPU interval", simulated.gpu, run.gpu);
  expect_same("copy interval", simulated.copies, run.copies);
  expect_same("job", simulated.jobs, run.jobs);
  EXPECT_EQ(simulated.end, run.end);
}

// nullopt: the simulator cannot run that, or it is not over when the simulator stops waiting.
std::optional<Schedule> simulated(const Taskset& taskset, Policy policy, const Scenario& scenario, Duration horizon) {
  Result<Simulator> simulator = Simulator::of(taskset, policy, WaitChoice::file);
  if (!simulator) return std::nullopt;
  Schedule schedule;
  simulator->run(scenario, horizon, &schedule);
  const auto is_cut_off = [](const JobRecord& job) { return job.completion.is_infinite(); };
  if (std::ranges::any_of(schedule.jobs, is_cut_off)) return std::nullopt;
  return schedule;
}

// Whether there was something to compare.
bool compare(const Taskset& taskset, Policy policy, const Scenario& scenario, Duration horizon) {
  const std::optional<Schedule> expected = simulated(taskset, policy, scenario, horizon);
  if (!expected) return false;
  Runtime runtime(testing::virtual_options(std::string(to_string(policy)), taskset.platform.gpus.front()));
  runtime.add_taskset(taskset, scenario);
  runtime.run_for(horizon);
  EXPECT_EQ(runtime.trace().dropped, 0U);
  const Schedule run = schedule_of(runtime.trace(), taskset);
  expect_same(*expected, run);
  ScheduleCheckOptions options;
  options.below_best_case = scenario.below_best_case;
  for (const ScheduleViolation& violation : check_schedule(taskset, policy, WaitChoice::file, run, options)) {
    ADD_FAILURE() << to_string(violation, taskset);
  }
  return true;
}

// What the policies need of the platform, where the taskset does not say it.
void complete(Gpu& gpu) {
  if (!gpu.stream_priorities) gpu.stream_priorities = 3;
  if (gpu.overheads.time_slice == Duration()) gpu.overheads.time_slice = ms(1);
  if (!gpu.sms) gpu.sms = 16;
}

Taskset random_case(std::mt19937_64& engine, int number) {
  RandomOptions options;
  options.tasks = 2 + number % 6;
  options.cpus = 1 + number % 3;
  options.gpu_percent = 80;
  options.best_effort_percent = number % 2 == 0 ? 0 : 25;
  options.utilisation_percent = 20 + number % 30;
  options.min_period_ms = 20;
  options.max_period_ms = 90;
  options.waits = RandomOptions::Waits::mixed;
  options.jitter = number % 3 == 0;
  options.separate_gpu_priorities = number % 5 == 0;
  options.best_case_below_worst = number % 4 < 2;
  options.overheads = number % 4 != 0;
  options.grain = number % 2 == 0 ? Duration::nanoseconds(1) : ms(1);
  options.every_feature = number % 3 == 1;
  Taskset taskset = testing::random_taskset(engine, options);
  taskset.platform.gpus.resize(1);
  taskset.platform.gpus.front().memory.reset();  // so that the tasks' fits
  complete(taskset.platform.gpus.front());
  return taskset;
}

class SameAsSimulator : public ::testing::TestWithParam<Policy> {};

TEST_P(SameAsSimulator, OnRandomTasksets) {
  constexpr int kCases = 8;
  int compared = 0;
  for (int number = 0; number < kCases; ++number) {
    const std::uint64_t seed = 7'000 + static_cast<std::uint64_t>(number);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    const Taskset taskset = random_case(engine, number);
    TrialChoices choices;
    if (number % 3 != 0) choices.releases = Releases::sporadic;
    if (number % 4 != 0) choices.execution = Execution::random;
    choices.seed = seed;
    const Scenario scenario = scenario_of_trial(taskset, choices, static_cast<std::uint64_t>(number % 4));
    if (compare(taskset, GetParam(), scenario, ms(120))) ++compared;
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, kCases / 2);
}

// Where times are few, much happens at once.
TEST_P(SameAsSimulator, WhereMuchHappensAtOnce) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    RandomOptions options;
    options.tasks = 6;
    options.cpus = 3;
    options.gpu_percent = 100;
    options.utilisation_percent = 30;
    options.min_period_ms = 20;
    options.max_period_ms = 24;
    options.max_gpu_segments = 2;
    options.waits = RandomOptions::Waits::mixed;
    options.grain = ms(1);
    options.overheads = seed % 2 == 0;
    Taskset taskset = testing::random_taskset(engine, options);
    complete(taskset.platform.gpus.front());
    if (compare(taskset, GetParam(), synchronous_scenario(taskset.tasks.size()), ms(60))) ++compared;
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, 2);
}

TEST_P(SameAsSimulator, OnTheTasksetsOfFiles) {
  int compared = 0;
  for (const char* folder : {RTGPU_EXAMPLES, RTGPU_TEST_DATA}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      SCOPED_TRACE(entry.path().filename().string());
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      const Result<LoadedTaskset> loaded = read_taskset(text, entry.path().string());
      ASSERT_TRUE(loaded);
      const Taskset& taskset = loaded->taskset;
      TrialChoices choices{Releases::sporadic, Execution::random, 11};
      for (const Scenario& scenario :
           {synchronous_scenario(taskset.tasks.size()), scenario_of_trial(taskset, choices, 1)}) {
        if (compare(taskset, GetParam(), scenario, ms(150))) ++compared;
      }
    }
  }
  EXPECT_GE(compared, 2);
}

// Everything else rests on runs that come out alike.
TEST_P(SameAsSimulator, RunsTheSameTwice) {
  std::mt19937_64 engine(5);
  const Taskset taskset = random_case(engine, 5);
  std::vector<Schedule> schedules;
  for (int count = 0; count < 2; ++count) {
    Runtime runtime(testing::virtual_options(std::string(to_string(GetParam())), taskset.platform.gpus.front()));
    runtime.add_taskset(taskset);
    for (int run = 0; run <= count; ++run) runtime.run_for(ms(100));  // also when it is not the first run
    schedules.push_back(schedule_of(runtime.trace(), taskset));
  }
  ASSERT_FALSE(schedules[0].gpu.empty());
  expect_same(schedules[0], schedules[1]);
}

INSTANTIATE_TEST_SUITE_P(Policies, SameAsSimulator,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority),
                         [](const auto& parameter) {
                           std::string name(to_string(parameter.param));
                           std::ranges::replace(name, '-', '_');
                           std::ranges::replace(name, '+', 'p');
                           return name;
                         });

}  // namespace
}  // namespace rtgpu
