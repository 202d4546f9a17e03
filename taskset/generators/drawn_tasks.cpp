#include "taskset/generators/drawn_tasks.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

ExecutionTime exactly(std::int64_t nanoseconds) {
  return {Duration::nanoseconds(nanoseconds), Duration::nanoseconds(nanoseconds)};
}

}  // namespace

std::int64_t draw(Random& random, Range range) {
  return random.between(range.low, range.high);
}

std::int64_t share_of(std::int64_t time, std::int64_t millionths) {
  return static_cast<std::int64_t>(Int128{time} * millionths / kMillion);
}

std::vector<Segment> draw_segments(Random& random, const SegmentShape& shape, std::int64_t total, bool uses_gpu) {
  std::vector<Segment> segments;
  if (!uses_gpu) {
    segments.emplace_back(CpuSegment{exactly(total)});
    return segments;
  }
  const std::int64_t ratio = draw(random, shape.gpu_to_cpu);
  const auto gpu = static_cast<std::int64_t>(Int128{total} * ratio / (kMillion + ratio));
  const auto count = static_cast<std::size_t>(draw(random, shape.gpu_segments));
  const auto split = shape.splits_unevenly ? &split_unevenly : &split_uniformly;
  const std::vector<std::int64_t> cpu_parts = split(random, total - gpu, count + 1);
  const std::vector<std::int64_t> gpu_parts = split(random, gpu, count);
  for (std::size_t place = 0; place < count; ++place) {
    const std::int64_t misc = share_of(gpu_parts[place], draw(random, shape.misc_share));
    GpuSegment segment;
    segment.misc = exactly(misc);
    segment.exec = exactly(gpu_parts[place] - misc);
    segments.emplace_back(CpuSegment{exactly(cpu_parts[place])});
    segments.emplace_back(std::move(segment));
  }
  segments.emplace_back(CpuSegment{exactly(cpu_parts[count])});
  return segments;
}

void draw_best_effort(Random& random, Range share, Taskset& taskset) {
  if (share.high == 0) return;
  const auto all = static_cast<std::int64_t>(taskset.tasks.size());
  const std::int64_t wanted = share_of(all, draw(random, share));
  std::vector<std::size_t> rest(taskset.tasks.size());
  std::iota(rest.begin(), rest.end(), std::size_t{0});
  for (std::int64_t count = 0; count < wanted; ++count) {
    const auto place = static_cast<std::size_t>(random.between(count, all - 1));
    std::swap(rest[static_cast<std::size_t>(count)], rest[place]);
    taskset.tasks[rest[static_cast<std::size_t>(count)]].best_effort = true;
  }
}

void give_parallel_work(Taskset& taskset, int sms) {
  constexpr std::int64_t kInterleave = 1'500'000;
  for (Task& task : taskset.tasks) {
    for (Segment& segment : task.segments) {
      auto* gpu = std::get_if<GpuSegment>(&segment);
      if (gpu == nullptr) continue;
      const std::int64_t exec = gpu->exec->max.count();
      const std::int64_t span = exec / 10;
      const Int128 interleaved = Int128{exec - span} * 2 * sms + span;
      const auto work = static_cast<std::int64_t>(interleaved * kMillion / kInterleave);
      gpu->parallel = ParallelWork{exactly(work), exactly(std::min(span, work)), kInterleave};
    }
  }
}

void assign_rate_monotonic(Taskset& taskset) {
  std::vector<Task*> order;
  for (Task& task : taskset.tasks) order.push_back(&task);
  std::stable_sort(order.begin(), order.end(), [](const Task* a, const Task* b) {
    return a->best_effort != b->best_effort ? b->best_effort : a->period < b->period;
  });
  int priority = static_cast<int>(order.size());
  for (Task* task : order) task->priority = task->gpu_priority = priority--;
}

namespace {

void allocate(Taskset& taskset, const std::vector<std::int64_t>& utilisations, const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> loads(static_cast<std::size_t>(taskset.platform.cpus));
  for (const std::size_t task : order) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += utilisations[task];
    taskset.tasks[task].cpu = static_cast<int>(least - loads.begin());
  }
}

std::vector<std::size_t> all_in_order(const Taskset& taskset) {
  std::vector<std::size_t> order(taskset.tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace

void allocate_worst_fit(Taskset& taskset, const std::vector<std::int64_t>& utilisations) {
  std::vector<std::size_t> order = all_in_order(taskset);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return utilisations[a] > utilisations[b]; });
  allocate(taskset, utilisations, order);
}

void allocate_worst_fit_in_order(Taskset& taskset, const std::vector<std::int64_t>& utilisations) {
  allocate(taskset, utilisations, all_in_order(taskset));
}

}  // namespace rtgpu
