// rtgpu_acceptance TASKSETS SEED: the share of gcaps-table3 tasksets that each analysis calls schedulable, by
// utilisation.
#include "analysis/analysis.h"
#include "benchmarks/arguments.h"
#include "taskset/generators/gcaps_table3.h"
#include "taskset/generators/random.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rtgpu;

bool is_accepted(const Taskset& taskset, const AnalysisEntry& entry, WaitChoice wait) {
  const auto result = analyze(taskset, {.policy = entry.policy, .variant = entry.variant, .wait = wait});
  return result && result->schedulable;
}

std::vector<Taskset> tasksets_at(std::int64_t utilisation, std::int64_t count, std::uint64_t seed) {
  GcapsTable3 parameters;
  parameters.utilisation_per_cpu = {utilisation, utilisation};
  parameters.time_slice = Duration::milliseconds(1);
  parameters.sms = 48;
  std::vector<Taskset> tasksets;
  for (std::int64_t index = 0; index < count; ++index) {
    tasksets.push_back(generate(parameters, seed_of(seed, static_cast<std::uint64_t>(index))));
    tasksets.back().platform.gpus.front().stream_priorities = 6;
  }
  return tasksets;
}

template <class Accepts>
double percent_of(const std::vector<Taskset>& tasksets, Accepts accepts) {
  const auto accepted = std::ranges::count_if(tasksets, accepts);
  return 100.0 * static_cast<double>(accepted) / static_cast<double>(tasksets.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: rtgpu_acceptance TASKSETS SEED\n");
    return 2;
  }
  fmt::print("{:>11}  {:<16} {:<9} {:>7} {:>7}\n", "utilisation", "policy", "variant", "suspend", "busy");
  for (const std::int64_t utilisation : {100'000, 200'000, 300'000, 400'000, 500'000}) {
    const auto tasksets =
        tasksets_at(utilisation, benchmarks::number(argv[1]), static_cast<std::uint64_t>(benchmarks::number(argv[2])));
    for (const AnalysisEntry& entry : analyses()) {
      const auto accepted = [&](WaitChoice wait) {
        return percent_of(tasksets, [&](const Taskset& set) { return is_accepted(set, entry, wait); });
      };
      fmt::print("{:>11}  {:<16} {:<9} {:>7.1f} {:>7.1f}\n", static_cast<double>(utilisation) / 1e6,
                 to_string(entry.policy), to_string(entry.variant), accepted(WaitChoice::suspend),
                 accepted(WaitChoice::busy));
    }
  }
  return 0;
}
