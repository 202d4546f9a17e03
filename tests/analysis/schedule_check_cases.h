// Legal schedules to change, and the rules that they break then.
#pragma once

#include "analysis/simulation/schedule_check.h"
#include "rtgpu/policy.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <vector>

namespace rtgpu::testing {

// The rules that a schedule breaks.
std::vector<ScheduleRule> broken(const Taskset& taskset, Policy policy, const Schedule& schedule,
                                 const ScheduleCheckOptions& options = {});

// Worst-case times, first releases at the offsets; legal, which is made sure of.
Schedule recorded(const Taskset& taskset, Policy policy, const std::vector<Duration>& offsets = {},
                  Duration horizon = Duration::milliseconds(90));

// The first interval of a task in a state.
TaskInterval& interval_of(Schedule& schedule, TaskIndex task, JobState state);

GpuSegment& work_of(Taskset& taskset, TaskIndex task, std::size_t segment = 0);

// a and b on one core, c on another; all use the GPU, with overheads.
Taskset three_tasks();

}  // namespace rtgpu::testing
