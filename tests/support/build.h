// Short ways to write tasksets in tests.
#pragma once

#include "rtgpu/policy.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <string>
#include <vector>

namespace rtgpu::testing {

// The taskset of a file below tests/data; fails the program if it cannot be read.
Taskset load_case(const std::string& name);

constexpr Duration ns(std::int64_t count) {
  return Duration::nanoseconds(count);
}

constexpr Duration ms(std::int64_t count) {
  return Duration::milliseconds(count);
}

Segment cpu(Duration worst);
Segment gpu(Duration misc, Duration exec);

// A task on core 0 with deadline = period. Priorities are set by make_taskset().
Task task(const std::string& name, Duration period, std::vector<Segment> segments, int core = 0);

// Tasks from highest to lowest priority, on as many cores as they name, one GPU without overheads.
Taskset make_taskset(std::vector<Task> tasks);

// Each task that uses the GPU on an SM of its own, on which its exec is the one that it has: federated runs it as it
// is.
Taskset with_own_sms(Taskset taskset);
// That for federated, and the taskset itself for other policies.
Taskset runnable(Taskset taskset, Policy policy);

}  // namespace rtgpu::testing
