#include "tests/analysis/schedule_check_cases.h"

#include "analysis/simulation/simulator.h"
#include "tests/support/build.h"

#include <algorithm>
#include <stdexcept>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu::testing {

std::vector<ScheduleRule> broken(const Taskset& taskset, Policy policy, const Schedule& schedule,
                                 const ScheduleCheckOptions& options) {
  std::vector<ScheduleRule> rules;
  for (const ScheduleViolation& violation : check_schedule(taskset, policy, WaitChoice::file, schedule, options)) {
    rules.push_back(violation.rule);
    EXPECT_FALSE(violation.text.empty());
  }
  return rules;
}

Schedule recorded(const Taskset& taskset, Policy policy, const std::vector<Duration>& offsets, Duration horizon) {
  Result<Simulator> simulator = Simulator::of(taskset, policy, WaitChoice::file);
  if (!simulator) throw std::runtime_error(to_string(simulator.errors().front()));
  Scenario scenario = synchronous_scenario(taskset.tasks.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) scenario.tasks[i].offset = offsets[i];
  Schedule schedule;
  simulator->run(scenario, horizon, &schedule);
  EXPECT_THAT(broken(taskset, policy, schedule, {.shorter_calls = false}), ::testing::IsEmpty());
  return schedule;
}

TaskInterval& interval_of(Schedule& schedule, TaskIndex task, JobState state) {
  const auto found = std::ranges::find_if(
      schedule.tasks, [&](const TaskInterval& each) { return each.task == task && each.state == state; });
  if (found == schedule.tasks.end()) throw std::logic_error("no such interval");
  return *found;
}

GpuSegment& work_of(Taskset& taskset, TaskIndex task, std::size_t segment) {
  return std::get<GpuSegment>(taskset.tasks[task].segments[segment]);
}

Taskset three_tasks() {
  Taskset taskset =
      make_taskset({task("a", ms(100), {cpu(ms(2)), gpu(ms(1), ms(4)), cpu(ms(1))}),
                    task("b", ms(100), {cpu(ms(1)), gpu(ms(2), ms(6))}), task("c", ms(100), {gpu(ms(1), ms(9))}, 1)});
  Overheads& overheads = taskset.platform.gpus[0].overheads;
  overheads.runlist_update = ms(1);
  overheads.lock = Duration::microseconds(500);
  overheads.time_slice = ms(2);
  overheads.context_switch = Duration::microseconds(200);
  taskset.platform.gpus[0].stream_priorities = 3;
  return taskset;
}

}  // namespace rtgpu::testing
