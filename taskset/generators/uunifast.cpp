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

}  // namespace

Result<Taskset> generate(const UUniFast& parameters, std::uint64_t seed) {
  Random random(seed);
  Origin origin;
  origin.generator = parameters.discards ? "uunifast-discard" : "uunifast";
  origin.seed = seed;
  for (int cpu = 0; cpu < parameters.cpus; ++cpu) {
    origin.requested.push_back(draw(random, parameters.utilisation_per_cpu));
  }
  const std::int64_t total = std::accumulate(origin.requested.begin(), origin.requested.end(), std::int64_t{0});
  const auto shares = draw_split(random, parameters, total);
  if (!shares) return no_split(parameters, total);
  return draw_tasks(random, parameters, *shares, std::move(origin));
}

}  // namespace rtgpu
