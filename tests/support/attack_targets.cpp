#include "tests/support/attack_targets.h"

#include "tests/support/random_taskset.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace rtgpu::testing {
namespace {

RandomOptions random_options(std::mt19937_64& engine) {
  RandomOptions options;
  options.tasks = static_cast<int>(uniform(engine, 2, 9));
  options.cpus = static_cast<int>(uniform(engine, 1, 3));
  options.utilisation_percent = static_cast<int>(uniform(engine, 5, 45));
  options.gpu_percent = 70;
  options.best_effort_percent = 10;
  options.waits = RandomOptions::Waits::mixed;
  options.jitter = chance(engine, 20);
  options.constrained_deadlines = chance(engine, 20);
  options.separate_gpu_priorities = chance(engine, 15);
  options.order = chance(engine, 80) ? RandomOptions::Order::deadline_monotonic : RandomOptions::Order::random;
  options.overheads = true;
  options.min_period_ms = 10;
  options.max_period_ms = 60;
  options.max_gpu_segments = chance(engine, 20) ? 6 : 3;
  return options;
}

// Longer periods only, so that the utilisation does not rise.
void make_equal(Taskset& taskset) {
  Duration longest;
  for (const Task& task : taskset.tasks) longest = std::max(longest, task.period);
  for (Task& task : taskset.tasks) {
    const bool is_implicit = task.deadline == task.period;
    task.period = longest;
    if (is_implicit) task.deadline = longest;
  }
}

void make_harmonic(Taskset& taskset) {
  for (Task& task : taskset.tasks) {
    const bool is_implicit = task.deadline == task.period;
    Duration period = Duration::milliseconds(10);
    while (period < task.period) period = period * 2;
    task.period = period;
    if (is_implicit) task.deadline = period;
  }
}

void make_misc_long(Taskset& taskset) {
  for (Task& task : taskset.tasks) {
    for (Segment& segment : task.segments) {
      if (auto* work = std::get_if<GpuSegment>(&segment); work != nullptr && work->exec) {
        std::swap(work->misc, *work->exec);
      }
    }
  }
}

void add_device_details(std::mt19937_64& engine, Task& task) {
  if (chance(engine, 15)) {
    task.segments.emplace_back(CopySegment{{{}, Duration::microseconds(uniform(engine, 100, 1500))}});
  }
  for (Segment& segment : task.segments) {
    auto* work = std::get_if<GpuSegment>(&segment);
    if (work == nullptr) continue;
    if (chance(engine, 50)) work->block = Duration::microseconds(uniform(engine, 50, 1000));
    if (chance(engine, 40)) work->slices = static_cast<int>(uniform(engine, 1, 4));
  }
}

}  // namespace

Taskset attack_target(std::mt19937_64& engine) {
  Taskset taskset = random_taskset(engine, random_options(engine));
  Gpu& gpu = taskset.platform.gpus[0];
  gpu.overheads.time_slice = Duration::microseconds(uniform(engine, 200, 2000));
  gpu.stream_priorities = static_cast<int>(uniform(engine, 1, 6));
  if (chance(engine, 30)) gpu.overheads.runlist_update = gpu.overheads.lock = Duration();
  switch (uniform(engine, 0, 5)) {
    case 0:
      make_equal(taskset);
      break;
    case 1:
      make_harmonic(taskset);
      break;
    case 2:
      make_misc_long(taskset);
      break;
    default:
      break;
  }
  const int spinning = static_cast<int>(uniform(engine, 0, 2)) * 50;
  for (Task& each : taskset.tasks) {
    if (chance(engine, spinning)) each.lock_wait = LockWait::spin;
    add_device_details(engine, each);
  }
  return taskset;
}

}  // namespace rtgpu::testing
