// rtgpu_acceptance TASKSETS SEED: the share of gcaps-table3 tasksets that each analysis calls schedulable, by
// utilisation.
#include "analysis/analysis.h"
#include "analysis/rta/fmlp_plus_safe.h"
#include "analysis/rta/gcaps_safe.h"
#include "analysis/rta/mpcp_safe.h"
#include "analysis/rta/stream_priority_safe.h"
#include "analysis/rta/tsg_rr_safe.h"
#include "analysis/safe.h"
#include "benchmarks/arguments.h"
#include "taskset/generators/gcaps_table3.h"
#include "taskset/generators/random.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rtgpu;

struct Analysis {
  Policy policy;
  BuildWindowed build;
};
constexpr std::array kAnalyses = {
    Analysis{Policy::gcaps, &build_gcaps_safe},         Analysis{Policy::gcaps_wc, &build_gcaps_wc_safe},
    Analysis{Policy::tsg_rr, &build_tsg_rr_safe},       Analysis{Policy::mpcp, &build_mpcp_safe},
    Analysis{Policy::fmlp_plus, &build_fmlp_plus_safe}, Analysis{Policy::stream_priority, &build_stream_priority_safe}};

bool is_accepted(const Taskset& taskset, const Analysis& analysis, WaitChoice wait) {
  const Result<StagedModel> model = StagedModel::of(taskset, wait);
  if (!model) return false;
  WorkBudget budget;
  const auto results = bound_all_safe(*model, taskset, analysis.build, AnalysisOptions{}, budget);
  return std::ranges::all_of(results, &TaskResult::schedulable);
}

bool is_accepted_published(const Taskset& taskset, Policy policy, WaitChoice wait) {
  AnalysisOptions options;
  options.variant = Variant::published;
  options.policy = policy;
  options.wait = wait;
  const Result<AnalysisResult> result = analyze(taskset, options);
  return result && result->schedulable;
}

std::vector<Taskset> tasksets_at(std::int64_t utilisation, std::int64_t count, std::uint64_t seed) {
  GcapsTable3 parameters;
  parameters.utilisation_per_cpu = {utilisation, utilisation};
  parameters.time_slice = Duration::milliseconds(1);
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
    const auto row = [&](Policy policy, std::string_view variant, auto accepts) {
      fmt::print("{:>11}  {:<16} {:<9} {:>7.1f} {:>7.1f}\n", static_cast<double>(utilisation) / 1e6, to_string(policy),
                 variant, percent_of(tasksets, [&](const Taskset& set) { return accepts(set, WaitChoice::suspend); }),
                 percent_of(tasksets, [&](const Taskset& set) { return accepts(set, WaitChoice::busy); }));
    };
    for (const Analysis& analysis : kAnalyses) {
      row(analysis.policy, "safe",
          [&](const Taskset& set, WaitChoice wait) { return is_accepted(set, analysis, wait); });
    }
    for (const Policy policy : {Policy::gcaps, Policy::tsg_rr}) {
      row(policy, "published",
          [&](const Taskset& set, WaitChoice wait) { return is_accepted_published(set, policy, wait); });
    }
  }
  return 0;
}
