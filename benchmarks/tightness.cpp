// How far the safe bounds are from what simulation shows, over random tasksets (gcaps-table3, suspend and busy): bound
// / longest response seen by an attack, and the share of tasksets that the analysis accepts among those that the attack
// does not break.
#include "analysis/analysis.h"
#include "analysis/falsification/attack.h"
#include "analysis/simulation/simulator.h"
#include "benchmarks/arguments.h"
#include "taskset/generators/gcaps_table3.h"
#include "taskset/generators/random.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rtgpu;

struct Row {
  std::int64_t accepted = 0;
  std::int64_t unbroken = 0;
  std::vector<double> ratios;  // of tasks that use the GPU, in accepted tasksets
};

// Whether an attack on the deadlines themselves finds a miss.
bool is_broken(const Taskset& taskset, Simulator& simulator, std::uint64_t seed, std::int64_t runs) {
  std::vector<Claim> deadlines;
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (!taskset.tasks[task].best_effort) deadlines.push_back({task, taskset.tasks[task].deadline});
  }
  const AttackResult result =
      attack(simulator.taskset(), simulator, deadlines,
             {.seed = seed, .runs = runs, .horizon = attack_horizon(taskset), .stop_early = true});
  return result.worst && result.worst->exceeds();
}

void measure(const Taskset& taskset, Policy policy, WaitChoice wait, std::uint64_t seed, std::int64_t runs, Row& row) {
  const Result<AnalysisResult> result = analyze(taskset, {.policy = policy, .wait = wait});
  Result<Simulator> simulator = Simulator::of(taskset, policy, wait);
  if (!result || !simulator) return;
  if (!result->schedulable) {
    row.unbroken += is_broken(taskset, *simulator, seed, runs) ? 0 : 1;
    return;
  }
  ++row.accepted;
  ++row.unbroken;
  const std::vector<Claim> claims = claims_of(*result);
  const AttackResult seen = attack(simulator->taskset(), *simulator, claims,
                                   {.seed = seed, .runs = runs, .horizon = attack_horizon(taskset)});
  for (std::size_t place = 0; place < claims.size(); ++place) {
    if (!uses_gpu(taskset.tasks[claims[place].task])) continue;
    row.ratios.push_back(static_cast<double>(claims[place].bound.count()) /
                         static_cast<double>(seen.longest[place].count()));
  }
}

double quantile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: rtgpu_tightness TASKSETS SEED RUNS\n");
    return 2;
  }
  const std::int64_t count = benchmarks::number(argv[1]);
  const auto seed = static_cast<std::uint64_t>(benchmarks::number(argv[2]));
  const std::int64_t runs = benchmarks::number(argv[3]);
  fmt::print("{:>11}  {:<15} {:<7} {:>8} {:>10} {:>8} {:>7} {:>7}\n", "utilisation", "policy", "wait", "accepted",
             "not broken", "of these", "median", "95 %");
  for (const std::int64_t utilisation : {200'000, 300'000, 400'000}) {
    for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp, Policy::fmlp_plus,
                                Policy::stream_priority, Policy::federated, Policy::server}) {
      for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
        Row row;
        for (std::int64_t index = 0; index < count; ++index) {
          GcapsTable3 parameters;
          parameters.utilisation_per_cpu = {utilisation, utilisation};
          parameters.time_slice = Duration::milliseconds(1);
          parameters.sms = 48;
          Taskset taskset = generate(parameters, seed_of(seed, static_cast<std::uint64_t>(index)));
          taskset.platform.gpus.front().stream_priorities = 6;
          measure(taskset, policy, wait, seed + static_cast<std::uint64_t>(index), runs, row);
        }
        const auto percent = [&](std::int64_t part, std::int64_t whole) {
          return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
        };
        fmt::print("{:>11}  {:<15} {:<7} {:>8.1f} {:>10.1f} {:>8.1f} {:>7.2f} {:>7.2f}\n",
                   static_cast<double>(utilisation) / 1e6, to_string(policy),
                   wait == WaitChoice::suspend ? "suspend" : "busy", percent(row.accepted, count),
                   percent(row.unbroken, count), percent(row.accepted, row.unbroken), quantile(row.ratios, 0.5),
                   quantile(row.ratios, 0.95));
        std::fflush(stdout);
      }
    }
  }
  return 0;
}
