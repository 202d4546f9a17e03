// Whether two schedules are the same, and tasksets to compare them on.
#pragma once

#include "analysis/simulation/scenario.h"
#include "analysis/simulation/schedule.h"
#include "rtgpu/policy.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <optional>
#include <random>

namespace rtgpu::testing {

// In every field, as test assertions.
void expect_same(const Schedule& simulated, const Schedule& run);

// nullopt: the simulator cannot run that, or it is not over when the simulator stops waiting.
std::optional<Schedule> simulated(const Taskset& taskset, Policy policy, const Scenario& scenario, Duration horizon);

// What the policies need of the platform, where the taskset does not say it.
void complete(Gpu& gpu);

// A random taskset with everything that the runtime knows in it, for number 0, 1, 2, ...
Taskset random_case(std::mt19937_64& engine, int number);

}  // namespace rtgpu::testing
