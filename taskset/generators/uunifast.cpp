#include "taskset/generators/uunifast.h"

#include "taskset/generators/random.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Platform platform_of(const UUniFast& parameters) {
  Platform platform;
  platform.cpus = parameters.cpus;
  Gpu& gpu = platform.gpus.front();
  gpu.overheads.runlist_update = parameters.runlist_update;
  gpu.overheads.context_switch = parameters.context_switch;
  gpu.overheads.time_slice = parameters.time_slice;
  gpu.overheads.lock = parameters.lock;
  if (parameters.stream_priorities > 0) gpu.stream_priorities = parameters.stream_priorities;
  return platform;
}

// Utilisations of the tasks; nullopt if every split was discarded.
std::optional<std::vector<std::int64_t>> draw_split(Random& random, const UUniFast& parameters, std::int64_t total) {
  const auto count = static_cast<std::size_t>(parameters.tasks);
  for (int attempt = 0; attempt < kMaxDiscards; ++attempt) {
    std::vector<std::int64_t> shares = split_uniformly(random, total, count);
    if (!parameters.discards || *std::ranges::max_element(shares) <= parameters.task_utilisation) return shares;
  }
  return std::nullopt;
}

Error no_split(const UUniFast& parameters, std::int64_t total) {
  Error error;
  error.code = ErrorCode::unsupported;
  error.found = fmt::format("no split among {} draws of a utilisation of {} among {} tasks", kMaxDiscards,
                            to_milliseconds(Duration::nanoseconds(total)), parameters.tasks);
  error.expected = fmt::format("one in which no task has more than {}",
                               to_milliseconds(Duration::nanoseconds(parameters.task_utilisation)));
  error.advice = "Give more tasks, a larger task_utilisation, or a smaller utilisation_per_cpu.";
  return error;
}

std::int64_t draw_period(Random& random, const UUniFast& parameters) {
  if (parameters.uniform_periods) return draw(random, parameters.period_ms);
  return log_uniform(random, parameters.period_ms.low, parameters.period_ms.high);
}

Task draw_task(Random& random, const UUniFast& parameters, std::size_t index, std::int64_t utilisation,
               std::int64_t gpu_share) {
  Task task;
  task.name = fmt::format("task{}", index);
  task.period = Duration::milliseconds(draw_period(random, parameters));
  task.deadline = task.period;
  const bool uses_gpu = random.between(0, kMillion - 1) < gpu_share;
  const SegmentShape shape{parameters.gpu_segments, parameters.gpu_to_cpu, parameters.misc_share};
  task.segments = draw_segments(random, shape, share_of(task.period.count(), utilisation), uses_gpu);
  return task;
}

}  // namespace

Result<Taskset> generate(const UUniFast& parameters, std::uint64_t seed) {
  Random random(seed);
  Taskset taskset;
  taskset.platform = platform_of(parameters);
  Origin origin;
  origin.generator = parameters.discards ? "uunifast-discard" : "uunifast";
  origin.seed = seed;
  for (int cpu = 0; cpu < parameters.cpus; ++cpu) {
    origin.requested.push_back(draw(random, parameters.utilisation_per_cpu));
  }
  const std::int64_t total = std::accumulate(origin.requested.begin(), origin.requested.end(), std::int64_t{0});
  const auto shares = draw_split(random, parameters, total);
  if (!shares) return no_split(parameters, total);
  const std::int64_t gpu_share = draw(random, parameters.gpu_share);
  for (std::size_t index = 0; index < shares->size(); ++index) {
    taskset.tasks.push_back(draw_task(random, parameters, index, (*shares)[index], gpu_share));
  }
  assign_rate_monotonic(taskset);
  allocate_worst_fit(taskset, *shares);
  origin.achieved = utilisation_per_cpu(taskset);
  taskset.origin = std::move(origin);
  return taskset;
}

}  // namespace rtgpu
