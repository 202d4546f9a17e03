#include "taskset/generators/randfixedsum.h"

#include "taskset/generators/bounded_split.h"
#include "taskset/generators/random.h"

#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

std::string in_ones(std::int64_t millionths) {
  // A millisecond has a million nanoseconds.
  return to_milliseconds(Duration::nanoseconds(millionths));
}

Error impossible_sum(const RandFixedSum& parameters, std::int64_t total) {
  const Range possible = possible_utilisation(parameters);
  Error error;
  error.code = ErrorCode::conflict;
  error.found = fmt::format("a utilisation of {} for {} tasks", in_ones(total), parameters.tasks);
  error.expected = fmt::format("one from {} to {}", in_ones(possible.low), in_ones(possible.high));
  error.advice = "Change the number of tasks, task_utilisation or utilisation_per_cpu.";
  return error;
}

}  // namespace

Range requested_utilisation(const RandFixedSum& parameters) {
  return {parameters.cpus * parameters.utilisation_per_cpu.low, parameters.cpus * parameters.utilisation_per_cpu.high};
}

Range possible_utilisation(const RandFixedSum& parameters) {
  return {parameters.tasks * parameters.task_utilisation.low, parameters.tasks * parameters.task_utilisation.high};
}

Result<Taskset> generate(const RandFixedSum& parameters, std::uint64_t seed) {
  Random random(seed);
  Origin origin;
  origin.generator = "randfixedsum";
  origin.seed = seed;
  for (int cpu = 0; cpu < parameters.cpus; ++cpu) {
    origin.requested.push_back(draw(random, parameters.utilisation_per_cpu));
  }
  const std::int64_t total = std::accumulate(origin.requested.begin(), origin.requested.end(), std::int64_t{0});
  const Range possible = possible_utilisation(parameters);
  if (total < possible.low || total > possible.high) return impossible_sum(parameters, total);
  const auto shares = split_within(random, total, static_cast<std::size_t>(parameters.tasks),
                                   parameters.task_utilisation.low, parameters.task_utilisation.high);
  return draw_tasks(random, parameters, shares, std::move(origin));
}

}  // namespace rtgpu
