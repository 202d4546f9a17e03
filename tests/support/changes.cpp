#include "tests/support/changes.h"

#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <variant>

namespace rtgpu::testing {
namespace {

// Up to `most`; in half of the cases up to a thousandth of it, where a fixed point may just move on.
Duration amount(std::mt19937_64& engine, Duration most) {
  const std::int64_t limit = chance(engine, 50) ? most.count() : std::max<std::int64_t>(1, most.count() / 1000);
  return Duration::nanoseconds(uniform(engine, 1, limit));
}

Task& any_task(std::mt19937_64& engine, Taskset& taskset) {
  const auto last = static_cast<std::int64_t>(taskset.tasks.size()) - 1;
  return taskset.tasks[static_cast<std::size_t>(uniform(engine, 0, last))];
}

// Any one segment of that kind of any one task; nullptr if the task drawn has none.
template <class Kind>
Kind* any_segment(std::mt19937_64& engine, Taskset& taskset) {
  Task& task = any_task(engine, taskset);
  const auto first = static_cast<std::size_t>(uniform(engine, 0, static_cast<std::int64_t>(task.segments.size()) - 1));
  for (std::size_t place = 0; place < task.segments.size(); ++place) {
    Segment& segment = task.segments[(first + place) % task.segments.size()];
    if (auto* found = std::get_if<Kind>(&segment)) return found;
  }
  return nullptr;
}

void grow_cpu(std::mt19937_64& engine, Taskset& taskset) {
  if (auto* cpu = any_segment<CpuSegment>(engine, taskset)) {
    cpu->time.max += amount(engine, Duration::milliseconds(5));
  }
}

void grow_misc(std::mt19937_64& engine, Taskset& taskset) {
  if (auto* gpu = any_segment<GpuSegment>(engine, taskset)) gpu->misc.max += amount(engine, Duration::milliseconds(5));
}

void grow_exec(std::mt19937_64& engine, Taskset& taskset) {
  if (auto* gpu = any_segment<GpuSegment>(engine, taskset)) gpu->exec->max += amount(engine, Duration::milliseconds(5));
}

void grow_copy(std::mt19937_64& engine, Taskset& taskset) {
  if (auto* copy = any_segment<CopySegment>(engine, taskset)) {
    copy->time.max += amount(engine, Duration::milliseconds(5));
  }
}

void grow_block(std::mt19937_64& engine, Taskset& taskset) {
  auto* gpu = any_segment<GpuSegment>(engine, taskset);
  if (gpu != nullptr && gpu->block) *gpu->block += amount(engine, Duration::milliseconds(1));
}

void grow_jitter(std::mt19937_64& engine, Taskset& taskset) {
  any_task(engine, taskset).jitter += amount(engine, Duration::milliseconds(5));
}

void grow_runlist_update(std::mt19937_64& engine, Taskset& taskset) {
  taskset.platform.gpus[0].overheads.runlist_update += amount(engine, Duration::microseconds(500));
}

void grow_context_switch(std::mt19937_64& engine, Taskset& taskset) {
  taskset.platform.gpus[0].overheads.context_switch += amount(engine, Duration::microseconds(500));
}

void grow_launch(std::mt19937_64& engine, Taskset& taskset) {
  taskset.platform.gpus[0].overheads.launch += amount(engine, Duration::microseconds(500));
}

void grow_lock(std::mt19937_64& engine, Taskset& taskset) {
  taskset.platform.gpus[0].overheads.lock += amount(engine, Duration::microseconds(500));
}

void shorten_period(std::mt19937_64& engine, Taskset& taskset) {
  Task& task = any_task(engine, taskset);
  task.deadline = std::min(task.deadline, std::max(task.period - amount(engine, Duration::milliseconds(20)),
                                                   Duration::nanoseconds(task.period.count() / 4)));
  task.period = task.deadline;
}

// Where the deadline leaves no room for it, nothing changes.
void shorten_period_above_the_deadline(std::mt19937_64& engine, Taskset& taskset) {
  Task& task = any_task(engine, taskset);
  task.period = std::max(task.deadline, task.period - amount(engine, Duration::milliseconds(20)));
}

constexpr std::array kChanges = {
    Change{"more_cpu_time", &grow_cpu},
    Change{"more_misc", &grow_misc},
    Change{"more_exec", &grow_exec},
    Change{"a_longer_copy", &grow_copy},
    Change{"a_longer_thread_block", &grow_block},
    Change{"more_release_jitter", &grow_jitter},
    Change{"a_longer_runlist_update", &grow_runlist_update},
    Change{"a_longer_context_switch", &grow_context_switch},
    Change{"a_longer_launch", &grow_launch},
    Change{"a_longer_lock", &grow_lock},
    Change{"a_shorter_period_and_deadline", &shorten_period},
    Change{"a_shorter_period", &shorten_period_above_the_deadline},
};

void scale(ExecutionTime& time, std::int64_t factor) {
  time.min = time.min * factor;
  time.max = time.max * factor;
}

void scale(Segment& segment, std::int64_t factor) {
  if (auto* cpu = std::get_if<CpuSegment>(&segment)) scale(cpu->time, factor);
  if (auto* copy = std::get_if<CopySegment>(&segment)) scale(copy->time, factor);
  auto* gpu = std::get_if<GpuSegment>(&segment);
  if (gpu == nullptr) return;
  scale(gpu->misc, factor);
  if (gpu->exec) scale(*gpu->exec, factor);
  for (ExecOnSms& entry : gpu->exec_by_sms) scale(entry.time, factor);
  if (gpu->parallel) {
    scale(gpu->parallel->work, factor);
    scale(gpu->parallel->span, factor);
  }
  if (gpu->block) gpu->block = *gpu->block * factor;
}

}  // namespace

std::span<const Change> changes_for_the_worse() {
  return kChanges;
}

void add_another_task(std::mt19937_64& engine, Taskset& taskset) {
  Task another = any_task(engine, taskset);
  another.name = "another";
  another.cpu = static_cast<int>(uniform(engine, 0, taskset.platform.cpus - 1));
  for (Task& task : taskset.tasks) {
    task.priority *= 2;
    task.gpu_priority *= 2;
  }
  const auto odd = [&] { return static_cast<int>(2 * uniform(engine, 0, std::ssize(taskset.tasks)) + 1); };
  another.priority = odd();
  another.gpu_priority = chance(engine, 50) ? another.priority : odd();
  taskset.tasks.push_back(std::move(another));
}

void scale_times(Taskset& taskset, std::int64_t factor) {
  for (Gpu& gpu : taskset.platform.gpus) {
    Overheads& overheads = gpu.overheads;
    for (Duration* time : {&overheads.runlist_update, &overheads.context_switch, &overheads.time_slice,
                           &overheads.launch, &overheads.lock}) {
      *time = *time * factor;
    }
  }
  for (Task& task : taskset.tasks) {
    for (Duration* time : {&task.period, &task.deadline, &task.jitter}) *time = *time * factor;
    for (Segment& segment : task.segments) scale(segment, factor);
  }
}

void shuffle_tasks(std::mt19937_64& engine, Taskset& taskset) {
  for (std::size_t i = taskset.tasks.size(); i > 1; --i) {
    const auto other = static_cast<std::size_t>(uniform(engine, 0, static_cast<std::int64_t>(i) - 1));
    std::swap(taskset.tasks[i - 1], taskset.tasks[other]);
  }
}

}  // namespace rtgpu::testing
