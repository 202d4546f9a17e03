#include "taskset/generators/gcaps_table3.h"

#include "taskset/generators/random.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// A part of a time in millionths. NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;
std::int64_t share_of(std::int64_t time, std::int64_t millionths) {
  return static_cast<std::int64_t>(Int128{time} * millionths / kMillion);
}

std::int64_t draw(Random& random, Range range) {
  return random.between(range.low, range.high);
}

ExecutionTime exactly(std::int64_t nanoseconds) {
  return {Duration::nanoseconds(nanoseconds), Duration::nanoseconds(nanoseconds)};
}

class Generator {
 public:
  Generator(const GcapsTable3& parameters, std::uint64_t seed) : parameters_(parameters), random_(seed) {}

  Taskset make() {
    Taskset taskset;
    taskset.platform.cpus = parameters_.cpus;
    Overheads& overheads = taskset.platform.gpus.front().overheads;
    overheads.runlist_update = parameters_.runlist_update;
    overheads.context_switch = parameters_.context_switch;
    overheads.time_slice = parameters_.time_slice;
    const std::int64_t gpu_share = draw(random_, parameters_.gpu_share);
    for (int cpu = 0; cpu < parameters_.cpus; ++cpu) {
      const auto count = static_cast<std::size_t>(draw(random_, parameters_.tasks_per_cpu));
      const std::int64_t utilisation = draw(random_, parameters_.utilisation_per_cpu);
      for (const std::int64_t share : split_uniformly(random_, utilisation, count)) {
        add_task(taskset, share, random_.between(0, kMillion - 1) < gpu_share);
      }
    }
    set_priorities(taskset);
    allocate(taskset);
    return taskset;
  }

 private:
  void add_task(Taskset& taskset, std::int64_t utilisation, bool uses_gpu) {
    Task task;
    task.name = fmt::format("task{}", taskset.tasks.size());
    task.period = Duration::milliseconds(draw(random_, parameters_.period_ms));
    task.deadline = task.period;
    const std::int64_t total = share_of(task.period.count(), utilisation);
    if (uses_gpu) {
      const std::int64_t ratio = draw(random_, parameters_.gpu_to_cpu);
      const auto gpu = static_cast<std::int64_t>(Int128{total} * ratio / (kMillion + ratio));
      add_segments(task, total - gpu, gpu);
    } else {
      task.segments.emplace_back(CpuSegment{exactly(total)});
    }
    taskset.tasks.push_back(std::move(task));
    utilisations_.push_back(utilisation);
  }

  void add_segments(Task& task, std::int64_t cpu, std::int64_t gpu) {
    const auto count = static_cast<std::size_t>(draw(random_, parameters_.gpu_segments));
    const std::vector<std::int64_t> cpu_parts = split_uniformly(random_, cpu, count + 1);
    const std::vector<std::int64_t> gpu_parts = split_uniformly(random_, gpu, count);
    for (std::size_t place = 0; place < count; ++place) {
      const std::int64_t misc = share_of(gpu_parts[place], draw(random_, parameters_.misc_share));
      GpuSegment segment;
      segment.misc = exactly(misc);
      segment.exec = exactly(gpu_parts[place] - misc);
      task.segments.emplace_back(CpuSegment{exactly(cpu_parts[place])});
      task.segments.emplace_back(std::move(segment));
    }
    task.segments.emplace_back(CpuSegment{exactly(cpu_parts[count])});
  }

  static void set_priorities(Taskset& taskset) {
    std::vector<Task*> order;
    for (Task& task : taskset.tasks) order.push_back(&task);
    std::stable_sort(order.begin(), order.end(), [](const Task* a, const Task* b) { return a->period < b->period; });
    int priority = static_cast<int>(order.size());
    for (Task* task : order) task->priority = task->gpu_priority = priority--;
  }

  void allocate(Taskset& taskset) const {
    std::vector<std::size_t> order(taskset.tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return utilisations_[a] > utilisations_[b]; });
    std::vector<std::int64_t> loads(static_cast<std::size_t>(parameters_.cpus));
    for (const std::size_t task : order) {
      const auto least = std::min_element(loads.begin(), loads.end());
      *least += utilisations_[task];
      taskset.tasks[task].cpu = static_cast<int>(least - loads.begin());
    }
  }

  const GcapsTable3& parameters_;
  Random random_;
  std::vector<std::int64_t> utilisations_;  // by task, in millionths
};

}  // namespace

Taskset generate(const GcapsTable3& parameters, std::uint64_t seed) {
  return Generator(parameters, seed).make();
}

}  // namespace rtgpu
