// In virtual time the runtime's threads do what the simulator says they do: the same schedule, to the nanosecond.
#include "analysis/simulation/schedule.h"
#include "analysis/simulation/schedule_check.h"
#include "analysis/simulation/simulator.h"
#include "analysis/simulation/trials.h"
#include "rtgpu/policy.h"
#include "runtime/runtime.h"
#include "runtime/trace/schedule_of_trace.h"
#include "taskset/json.h"
#include "tests/runtime/same_schedule.h"
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
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::expect_same;
using testing::ms;
using testing::RandomOptions;
using testing::simulated;

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

class SameAsSimulator : public ::testing::TestWithParam<Policy> {};

TEST_P(SameAsSimulator, OnRandomTasksets) {
  constexpr int kCases = 8;
  int compared = 0;
  for (int number = 0; number < kCases; ++number) {
    const std::uint64_t seed = 7'000 + static_cast<std::uint64_t>(number);
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 engine(seed);
    const Taskset taskset = testing::random_case(engine, number);
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
    testing::complete(taskset.platform.gpus.front());
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
  const Taskset taskset = testing::random_case(engine, 5);
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
