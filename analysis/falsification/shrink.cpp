#include "analysis/falsification/counterexample.h"
#include "analysis/search/sm_partition.h"
#include "analysis/simulation/simulator.h"
#include "taskset/generators/random.h"
#include "taskset/validate.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace rtgpu {
namespace {

constexpr std::int64_t kRunsPerChange = 60;

class Shrinker {
 public:
  Shrinker(Counterexample start, const ClaimsOf& claims_of, std::uint64_t seed)
      : best_(std::move(start)), claims_of_(claims_of), random_(seed) {}

  Counterexample run() {
    while (remove_a_task() || remove_a_segment()) {
    }
    compact_cores();
    make_worse();
    simplify_draws();
    cut_horizon();
    return std::move(best_);
  }

 private:
  // Takes a change if what it leaves still exceeds a bound, the same schedule or one close to it.
  bool take(Taskset taskset, const Scenario& scenario) {
    if (!validate(taskset).empty()) return false;
    const std::vector<Claim> claims = claims_of_(taskset);
    Result<Simulator> simulator = Simulator::of(taskset, best_.policy, WaitChoice::file);
    if (claims.empty() || !simulator) return false;
    AttackOptions options;
    options.seed = random_.bits();
    options.runs = kRunsPerChange;
    options.horizon = best_.horizon;
    options.stop_early = true;
    options.below_best_case = may_go_below_best_case(best_.policy, best_.variant, taskset);
    const AttackResult result = attack_from(simulator->taskset(), *simulator, claims, scenario, options);
    if (!result.worst || !result.worst->exceeds()) return false;
    best_.taskset = std::move(taskset);
    take(*result.worst);
    return true;
  }

  void take(const Sighting& sighting) {
    best_.scenario = sighting.scenario;
    best_.task = sighting.claim.task;
    best_.bound = sighting.claim.bound;
    best_.observed = sighting.observed;
    best_.job = sighting.job;
  }

  bool remove_a_task() {
    for (std::size_t task = best_.taskset.tasks.size(); task-- > 0;) {
      if (best_.taskset.tasks.size() == 1) return false;
      Taskset taskset = best_.taskset;
      Scenario scenario = best_.scenario;
      taskset.tasks.erase(taskset.tasks.begin() + static_cast<std::ptrdiff_t>(task));
      scenario.tasks.erase(scenario.tasks.begin() + static_cast<std::ptrdiff_t>(task));
      if (take(std::move(taskset), scenario)) return true;
    }
    return false;
  }

  bool remove_a_segment() {
    for (std::size_t task = 0; task < best_.taskset.tasks.size(); ++task) {
      for (std::size_t segment = best_.taskset.tasks[task].segments.size(); segment-- > 0;) {
        Taskset taskset = best_.taskset;
        std::vector<Segment>& segments = taskset.tasks[task].segments;
        if (segments.size() == 1) break;
        segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(segment));
        if (take(std::move(taskset), best_.scenario)) return true;
      }
    }
    return false;
  }

  // Cores that are in use, numbered from 0.
  void compact_cores() {
    Taskset taskset = best_.taskset;
    int& server_cpu = taskset.platform.gpus.front().server_cpu;
    const bool has_server = best_.policy == Policy::server;
    if (!has_server) server_cpu = Gpu{}.server_cpu;
    std::vector<int> used;
    for (const Task& task : taskset.tasks) used.push_back(task.cpu);
    if (has_server) used.push_back(server_cpu);
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    const auto number_of = [&](int cpu) {
      return static_cast<int>(std::ranges::lower_bound(used, cpu) - used.begin());
    };
    for (Task& task : taskset.tasks) task.cpu = number_of(task.cpu);
    if (has_server) server_cpu = number_of(server_cpu);
    taskset.platform.cpus = static_cast<int>(used.size());
    take(std::move(taskset), best_.scenario);
  }

  // Of what is left, the worst schedule that is easily found.
  void make_worse() {
    const std::vector<Claim> claims = claims_of_(best_.taskset);
    Result<Simulator> simulator = Simulator::of(best_.taskset, best_.policy, WaitChoice::file);
    if (claims.empty() || !simulator) return;
    AttackOptions options;
    options.seed = random_.bits();
    options.runs = 10 * kRunsPerChange;
    options.horizon = best_.horizon;
    options.below_best_case = may_go_below_best_case(best_.policy, best_.variant, best_.taskset);
    const AttackResult result = attack_from(simulator->taskset(), *simulator, claims, best_.scenario, options);
    if (result.worst && result.worst->exceeds()) take(*result.worst);
  }

  // One schedule, as it is, that shows no less.
  bool still_exceeds(const Scenario& scenario, Duration horizon) {
    Result<Simulator> simulator = Simulator::of(best_.taskset, best_.policy, WaitChoice::file);
    if (!simulator) return false;
    const TaskObservation& seen = simulator->run(scenario, horizon).tasks[best_.task];
    if (seen.max_response < best_.observed) return false;
    best_.scenario = scenario;
    best_.horizon = horizon;
    best_.observed = seen.max_response;
    best_.job = seen.longest_job;
    return true;
  }

  void simplify_draws() {
    for (std::size_t task = 0; task < best_.scenario.tasks.size(); ++task) {
      for (int TaskScenario::*chance :
           {&TaskScenario::shorten_chance, &TaskScenario::gap_chance, &TaskScenario::jitter_chance}) {
        Scenario scenario = best_.scenario;
        scenario.tasks[task].*chance = 0;
        still_exceeds(scenario, best_.horizon);
      }
      Scenario scenario = best_.scenario;
      if (scenario.tasks[task].gap_chance == 0) scenario.tasks[task].longest_gap = {};
      still_exceeds(scenario, best_.horizon);
      scenario = best_.scenario;
      scenario.tasks[task].offset = {};
      still_exceeds(scenario, best_.horizon);
    }
    Scenario scenario = best_.scenario;
    scenario.below_best_case = false;
    still_exceeds(scenario, best_.horizon);
    scenario.seed = 0;
    still_exceeds(scenario, best_.horizon);
  }

  // Up to the completion of the job, found by halving.
  void cut_horizon() {
    Duration low;
    while (low + Duration::milliseconds(1) < best_.horizon) {
      const Duration middle = Duration::nanoseconds((low.count() + best_.horizon.count()) / 2);
      if (!still_exceeds(best_.scenario, middle)) low = middle;
    }
  }

  Counterexample best_;
  const ClaimsOf& claims_of_;
  Random random_;
};

}  // namespace

Taskset with_waits(Taskset taskset, WaitChoice wait) {
  if (wait == WaitChoice::file) return taskset;
  for (Task& task : taskset.tasks) task.wait = wait == WaitChoice::busy ? WaitMode::busy : WaitMode::suspend;
  return taskset;
}

Counterexample shrink(Counterexample start, const ClaimsOf& claims_of, std::uint64_t seed) {
  // SMs that a search set aside are written down: the rest would be given others.
  if (start.policy == Policy::federated) {
    const Result<SmPartition> partition = sm_partition(start.taskset, WaitChoice::file);
    if (partition) start.taskset = with_sms(std::move(start.taskset), *partition);
  }
  return Shrinker(std::move(start), claims_of, seed).run();
}

Result<Duration> replay(const Counterexample& counterexample) {
  Result<Simulator> simulator = Simulator::of(counterexample.taskset, counterexample.policy, WaitChoice::file);
  if (!simulator) return std::move(simulator.errors());
  const Observation& seen = simulator->run(counterexample.scenario, counterexample.horizon);
  return seen.tasks[counterexample.task].max_response;
}

}  // namespace rtgpu
