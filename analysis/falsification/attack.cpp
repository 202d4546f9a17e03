#include "analysis/falsification/attack.h"

#include "analysis/falsification/shapes.h"
#include "taskset/generators/random.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

// Whether a is further towards its bound, or beyond, than b.
bool is_worse(const Sighting& a, const Sighting& b) {
  return Int128{a.observed.count()} * std::max<std::int64_t>(b.claim.bound.count(), 1) >
         Int128{b.observed.count()} * std::max<std::int64_t>(a.claim.bound.count(), 1);
}

class Search {
 public:
  Search(const Taskset& taskset, Simulator& simulator, std::span<const Claim> claims, const AttackOptions& options)
      : simulator_(simulator),
        options_(options),
        shapes_(taskset, claims, options.below_best_case),
        random_(options.seed) {
    for (const Claim& claim : claims) worst_.push_back({claim, {}, 0, {}});
  }

  void start_with_shapes(std::size_t tasks) {
    run(synchronous_scenario(tasks));
    while (goes_on() && 3 * runs_ < options_.runs) {
      run(random_.between(0, 2) == 0 ? shapes_.random(random_) : shapes_.predicted(random_));
    }
  }

  void start_from(const Scenario& scenario) { run(scenario); }

  // Changes to the worst schedule so far of one bound or another, now and then a fresh one.
  void climb() {
    while (goes_on()) {
      if (random_.between(0, 9) == 0) {
        run(shapes_.predicted(random_));
      } else {
        run(shapes_.changed(target().scenario, random_));
      }
    }
  }

  AttackResult result() const {
    AttackResult result;
    result.runs = runs_;
    for (const Sighting& sighting : worst_) result.longest.push_back(sighting.observed);
    result.worst = *std::ranges::max_element(worst_, [](const auto& a, const auto& b) { return is_worse(b, a); });
    return result;
  }

 private:
  bool goes_on() const { return !(options_.stop_early && exceeded_) && runs_ < options_.runs; }

  // A bound that was not reached yet; of two the one that is closer to being reached. Bounds that were reached exactly
  // would keep the search where it cannot get any further.
  const Sighting& target() {
    const Sighting& first = any();
    const Sighting& second = any();
    if (first.observed == first.claim.bound) return second;
    if (second.observed == second.claim.bound) return first;
    return is_worse(first, second) ? first : second;
  }

  const Sighting& any() {
    return worst_[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(worst_.size()) - 1))];
  }

  void run(const Scenario& scenario) {
    ++runs_;
    const Observation& seen = simulator_.run(scenario, options_.horizon);
    for (Sighting& worst : worst_) {
      const TaskObservation& task = seen.tasks[worst.claim.task];
      if (task.max_response < worst.observed || (task.max_response == worst.observed && runs_ > 1)) continue;
      worst.observed = task.max_response;
      worst.job = task.longest_job;
      worst.scenario = scenario;
      exceeded_ = exceeded_ || worst.exceeds();
    }
  }

  Simulator& simulator_;
  const AttackOptions& options_;
  Shapes shapes_;
  Random random_;
  std::vector<Sighting> worst_;  // by claim
  bool exceeded_ = false;
  std::int64_t runs_ = 0;
};

}  // namespace

std::vector<Claim> claims_of(const AnalysisResult& result) {
  std::vector<Claim> claims;
  if (result.variant == Variant::published && !result.schedulable) return claims;
  for (const TaskResult& task : result.tasks) {
    if (task.schedulable()) claims.push_back({task.task, *task.bound});
  }
  return claims;
}

bool may_go_below_best_case(Policy policy, Variant variant, const Taskset& taskset) {
  return policy != Policy::federated || variant == Variant::safe || !gives_best_cases(taskset);
}

Duration attack_horizon(const Taskset& taskset) {
  Duration longest;
  for (const Task& task : taskset.tasks) longest = std::max(longest, task.period);
  return longest * 4;
}

AttackResult attack(const Taskset& taskset, Simulator& simulator, std::span<const Claim> claims,
                    const AttackOptions& options) {
  if (claims.empty()) return {};
  Search search(taskset, simulator, claims, options);
  search.start_with_shapes(taskset.tasks.size());
  search.climb();
  return search.result();
}

AttackResult attack_from(const Taskset& taskset, Simulator& simulator, std::span<const Claim> claims,
                         const Scenario& start, const AttackOptions& options) {
  if (claims.empty()) return {};
  Search search(taskset, simulator, claims, options);
  search.start_from(start);
  search.climb();
  return search.result();
}

}  // namespace rtgpu
