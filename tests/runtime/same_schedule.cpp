#include "tests/runtime/same_schedule.h"

#include "analysis/simulation/simulator.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu::testing {
namespace {

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
void expect_same_parts(const char* what, const std::vector<Part>& simulated, const std::vector<Part>& run) {
  const std::size_t both = std::min(simulated.size(), run.size());
  for (std::size_t index = 0; index < both; ++index) {
    ASSERT_EQ(fields(simulated[index]), fields(run[index])) << what << " " << index << ": simulated against run";
  }
  EXPECT_EQ(simulated.size(), run.size()) << what;
}

}  // namespace

void expect_same(const Schedule& simulated, const Schedule& run) {
  expect_same_parts("task interval", simulated.tasks, run.tasks);
  expect_same_parts("core interval", simulated.cores, run.cores);
  expect_same_parts("GPU interval", simulated.gpu, run.gpu);
  expect_same_parts("copy interval", simulated.copies, run.copies);
  expect_same_parts("job", simulated.jobs, run.jobs);
  EXPECT_EQ(simulated.end, run.end);
}

std::optional<Schedule> simulated(const Taskset& taskset, Policy policy, const Scenario& scenario, Duration horizon) {
  Result<Simulator> simulator = Simulator::of(taskset, policy, WaitChoice::file);
  if (!simulator) return std::nullopt;
  Schedule schedule;
  simulator->run(scenario, horizon, &schedule);
  const auto is_cut_off = [](const JobRecord& job) { return job.completion.is_infinite(); };
  if (std::ranges::any_of(schedule.jobs, is_cut_off)) return std::nullopt;
  return schedule;
}

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
  Taskset taskset = random_taskset(engine, options);
  taskset.platform.gpus.resize(1);
  taskset.platform.gpus.front().memory.reset();  // so that the tasks' fits
  complete(taskset.platform.gpus.front());
  return taskset;
}

}  // namespace rtgpu::testing
