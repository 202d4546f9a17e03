#include "tests/support/attack_targets.h"

#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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
    const CopySegment copy{{{}, Duration::microseconds(uniform(engine, 100, 1500))}};
    task.segments.insert(task.segments.begin() + uniform(engine, 0, std::ssize(task.segments)), copy);
  }
  for (Segment& segment : task.segments) {
    auto* work = std::get_if<GpuSegment>(&segment);
    if (work == nullptr) continue;
    if (chance(engine, 50)) work->block = Duration::microseconds(uniform(engine, 50, 1000));
    if (chance(engine, 40)) work->slices = static_cast<int>(uniform(engine, 1, 4));
  }
}

Duration few_ms(std::mt19937_64& engine, std::int64_t least, std::int64_t most) {
  return Duration::milliseconds(uniform(engine, least, most));
}

Segment small_segment(std::mt19937_64& engine, bool copies, bool slices) {
  const std::int64_t kind = uniform(engine, 0, copies ? 3 : 2);
  if (kind == 0) return cpu(few_ms(engine, 0, 4));
  if (kind == 3) {
    return CopySegment{{{}, few_ms(engine, 1, 5)},
                       chance(engine, 50) ? CopyDirection::to_device : CopyDirection::to_host};
  }
  Segment segment = gpu(few_ms(engine, 0, 3), few_ms(engine, 0, 6));
  auto& work = std::get<GpuSegment>(segment);
  if (slices && chance(engine, 50)) work.slices = static_cast<int>(uniform(engine, 1, 3));
  if (chance(engine, 50)) work.block = Duration::milliseconds(1);
  return segment;
}

void add_small_overheads(std::mt19937_64& engine, Gpu& gpu) {
  const auto maybe = [&] { return chance(engine, 35) ? Duration::microseconds(250) : Duration(); };
  gpu.overheads = {.runlist_update = maybe() + maybe(),
                   .context_switch = maybe(),
                   .time_slice = few_ms(engine, 1, 3),
                   .launch = maybe(),
                   .lock = maybe()};
  gpu.stream_priorities = static_cast<int>(uniform(engine, 1, 4));
  gpu.copy_engines = static_cast<int>(uniform(engine, 1, 2));
}

// Half of the time the one that the files have if nothing is said.
int any_cpu(std::mt19937_64& engine, const Platform& platform) {
  return chance(engine, 50) ? 0 : static_cast<int>(uniform(engine, 0, platform.cpus - 1));
}

}  // namespace

Taskset attack_target(std::mt19937_64& engine) {
  Taskset taskset = random_taskset(engine, random_options(engine));
  Gpu& gpu = taskset.platform.gpus[0];
  gpu.overheads.time_slice = Duration::microseconds(uniform(engine, 200, 2000));
  gpu.stream_priorities = static_cast<int>(uniform(engine, 1, 6));
  gpu.server_cpu = any_cpu(engine, taskset.platform);
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

void divide_sms(std::mt19937_64& engine, Taskset& taskset) {
  const auto given = static_cast<int>(uniform(engine, 0, 2)) * 50;  // percent of the tasks
  const bool by_sms = chance(engine, 30);
  std::int64_t all = uniform(engine, 1, 4);
  for (Task& each : taskset.tasks) {
    if (!uses_gpu(each)) continue;
    const std::int64_t own = uniform(engine, 1, 3);
    all += own;
    if (chance(engine, given)) each.sms = static_cast<int>(own);
    for (Segment& segment : each.segments) {
      auto* work = std::get_if<GpuSegment>(&segment);
      if (work == nullptr || !work->exec) continue;
      const Duration exec = work->exec->max;
      if (by_sms) {
        work->exec_by_sms = {{1, *work->exec}, {3, {{}, exec - Duration::nanoseconds(exec.count() / 3)}}};
        work->exec_by_sms.back().time.min = std::min(work->exec->min, work->exec_by_sms.back().time.max);
        work->exec.reset();
      } else {
        const Duration all_work = exec * uniform(engine, 1, 4);
        const Duration span = Duration::nanoseconds(exec.count() / uniform(engine, 2, 5));
        work->parallel = ParallelWork{{all_work, all_work}, {span, span}, uniform(engine, 1'000'000, 1'800'000)};
      }
    }
  }
  taskset.platform.gpus[0].sms = static_cast<int>(all);
}

Taskset small_target(std::mt19937_64& engine) {
  const std::int64_t count = uniform(engine, 2, 5);
  const std::int64_t cores = uniform(engine, 1, 3);
  const bool jitter = chance(engine, 50);
  const bool copies = chance(engine, 40);
  const bool slices = chance(engine, 30);
  const int spinning = static_cast<int>(uniform(engine, 0, 2)) * 50;
  std::vector<Task> tasks;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Segment> segments;
    for (std::int64_t rest = uniform(engine, 1, 4); rest > 0; --rest) {
      segments.push_back(small_segment(engine, copies, slices));
    }
    tasks.push_back(task("t" + std::to_string(i), few_ms(engine, 8, i < 2 ? 30 : 80), std::move(segments),
                         static_cast<int>(uniform(engine, 0, cores - 1))));
    Task& made = tasks.back();
    if (jitter && chance(engine, 50)) made.jitter = few_ms(engine, 0, made.period.count() / 2'000'000);
    if (chance(engine, 40)) made.wait = WaitMode::busy;
    if (chance(engine, spinning)) made.lock_wait = LockWait::spin;
    made.best_effort = chance(engine, 8);
  }
  Taskset taskset = make_taskset(std::move(tasks));
  if (chance(engine, 25)) {
    for (std::size_t i = taskset.tasks.size(); i > 1; --i) {
      const auto other = static_cast<std::size_t>(uniform(engine, 0, static_cast<std::int64_t>(i) - 1));
      std::swap(taskset.tasks[i - 1].gpu_priority, taskset.tasks[other].gpu_priority);
    }
  }
  add_small_overheads(engine, taskset.platform.gpus[0]);
  taskset.platform.gpus[0].server_cpu = any_cpu(engine, taskset.platform);
  return taskset;
}

}  // namespace rtgpu::testing
