// Attacks the bounds of every analysis over many tasksets: half of them gcaps-table3 at 0.1 ... 0.6 a core, half small
// and hand-shaped, of these again half with whole milliseconds. Both wait modes, and both lock waits where a policy has
// a lock or a mutex. Prints what was attacked and what was exceeded, and each counterexample, made small, into a file.
#include "analysis/falsification/attack.h"

#include "analysis/analysis.h"
#include "analysis/falsification/counterexample.h"
#include "analysis/simulation/simulator.h"
#include "benchmarks/arguments.h"
#include "taskset/generators/gcaps_table3.h"
#include "taskset/generators/random.h"
#include "taskset/validate.h"
#include "tests/support/attack_targets.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace rtgpu;

struct Tally {
  std::int64_t tasksets = 0;
  std::int64_t schedulable = 0;
  std::int64_t claims = 0;
  std::int64_t exceeded = 0;
};

struct Campaign {
  std::uint64_t seed = 0;
  std::int64_t runs = 0;
  std::optional<Policy> only;
  std::vector<AnalysisEntry> entries;
  std::vector<Tally> tallies;  // by entry
  std::int64_t written = 0;
};

Taskset target(std::uint64_t seed, std::int64_t index) {
  const std::uint64_t own_seed = seed_of(seed, static_cast<std::uint64_t>(index));
  std::mt19937_64 engine(own_seed);
  if (index % 4 == 1) return testing::attack_target(engine);
  while (index % 2 == 1) {
    Taskset taskset = testing::small_target(engine);
    if (validate(taskset).empty()) return taskset;
  }
  GcapsTable3 parameters;
  const std::int64_t utilisation = 100'000 * (1 + index / 2 % 6);
  parameters.utilisation_per_cpu = {utilisation, utilisation};
  if (index / 12 % 2 == 1) parameters.runlist_update = Duration();
  Taskset taskset = generate(parameters, own_seed);
  taskset.platform.gpus.front().stream_priorities = 6;
  taskset.platform.gpus.front().server_cpu = static_cast<int>(engine() % 4);
  return taskset;
}

std::vector<Claim> claims_for(const Taskset& taskset, const AnalysisEntry& entry) {
  const auto result = analyze(taskset, {.policy = entry.policy, .variant = entry.variant});
  return result ? claims_of(*result) : std::vector<Claim>{};
}

void write(Campaign& campaign, const Taskset& taskset, const AnalysisEntry& entry, const Sighting& sighting) {
  Counterexample counterexample{
      "found by an attack", entry.policy,      entry.variant,           sighting.claim.task, sighting.job,
      sighting.claim.bound, sighting.observed, attack_horizon(taskset), sighting.scenario,   taskset};
  counterexample = shrink(
      std::move(counterexample), [&](const Taskset& changed) { return claims_for(changed, entry); }, 1);
  const std::string name = fmt::format("counterexample-{}-{}-{}.json", to_string(entry.policy),
                                       to_string(entry.variant), campaign.written++);
  std::ofstream(name) << write_counterexample(counterexample);
  fmt::print("{}: {} tasks, {} {} > {}\n", name, counterexample.taskset.tasks.size(),
             counterexample.taskset.tasks[counterexample.task].name, to_string(counterexample.observed),
             to_string(counterexample.bound));
  std::fflush(stdout);
}

void attack_one(Campaign& campaign, const Taskset& taskset, std::size_t place, std::uint64_t seed) {
  const AnalysisEntry& entry = campaign.entries[place];
  Tally& tally = campaign.tallies[place];
  const auto result = analyze(taskset, {.policy = entry.policy, .variant = entry.variant});
  if (!result) return;
  ++tally.tasksets;
  if (result->schedulable) ++tally.schedulable;
  const std::vector<Claim> claims = claims_of(*result);
  Result<Simulator> simulator = Simulator::of(taskset, entry.policy, WaitChoice::file);
  if (claims.empty() || !simulator) return;
  tally.claims += static_cast<std::int64_t>(claims.size());
  const AttackOptions options{seed, campaign.runs, attack_horizon(taskset), true};
  const AttackResult found = attack(simulator->taskset(), *simulator, claims, options);
  if (!found.worst->exceeds()) return;
  ++tally.exceeded;
  if (entry.variant == Variant::safe || tally.exceeded <= 3) write(campaign, taskset, entry, *found.worst);
}

bool has_lock_wait(Policy policy) {
  return policy != Policy::tsg_rr && policy != Policy::stream_priority && policy != Policy::server &&
         policy != Policy::federated;
}

void attack_all(Campaign& campaign, const Taskset& given, std::uint64_t seed) {
  for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy, WaitChoice::file}) {
    for (const std::optional<LockWait> lock_wait :
         {std::optional<LockWait>(LockWait::suspend), std::optional<LockWait>(LockWait::spin),
          std::optional<LockWait>()}) {
      if ((wait == WaitChoice::file) != !lock_wait) continue;
      Taskset taskset = with_waits(given, wait);
      for (Task& task : taskset.tasks) task.lock_wait = lock_wait.value_or(task.lock_wait);
      Taskset divided = taskset;
      std::mt19937_64 engine(seed);
      testing::divide_sms(engine, divided);
      for (std::size_t place = 0; place < campaign.entries.size(); ++place) {
        const AnalysisEntry& entry = campaign.entries[place];
        if (campaign.only && *campaign.only != entry.policy) continue;
        if (lock_wait == LockWait::spin && !has_lock_wait(entry.policy)) continue;
        attack_one(campaign, entry.policy == Policy::federated ? divided : taskset, place, seed);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    fmt::print(stderr, "usage: rtgpu_attack TASKSETS SEED RUNS [POLICY]\n");
    return 2;
  }
  Campaign campaign;
  campaign.seed = static_cast<std::uint64_t>(benchmarks::number(argv[2]));
  campaign.runs = benchmarks::number(argv[3]);
  if (argc == 5) campaign.only = parse_policy(argv[4]);
  for (const AnalysisEntry& entry : analyses()) campaign.entries.push_back(entry);
  campaign.tallies.resize(campaign.entries.size());
  for (std::int64_t index = 0; index < benchmarks::number(argv[1]); ++index) {
    attack_all(campaign, target(campaign.seed, index), campaign.seed + static_cast<std::uint64_t>(index));
  }
  fmt::print("{:<16} {:<9} {:>9} {:>11} {:>9} {:>9}\n", "policy", "variant", "tasksets", "schedulable", "bounds",
             "exceeded");
  for (std::size_t place = 0; place < campaign.entries.size(); ++place) {
    const Tally& tally = campaign.tallies[place];
    fmt::print("{:<16} {:<9} {:>9} {:>11} {:>9} {:>9}\n", to_string(campaign.entries[place].policy),
               to_string(campaign.entries[place].variant), tally.tasksets, tally.schedulable, tally.claims,
               tally.exceeded);
  }
  return 0;
}
