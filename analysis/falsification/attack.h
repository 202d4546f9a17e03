// The search for a schedule that exceeds a bound.
#pragma once

#include "analysis/analysis.h"
#include "analysis/simulation/scenario.h"
#include "analysis/simulation/simulator.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rtgpu {

// A bound to attack: of one real-time task.
struct Claim {
  TaskIndex task = kNoTask;
  Duration bound;
};

// The bounds of a result that are at or below the deadlines. Of a published analysis only those of a taskset that it
// calls schedulable: they rest on the deadlines of the others.
std::vector<Claim> claims_of(const AnalysisResult& result);

// The run that came closest to a bound, or furthest beyond.
struct Sighting {
  Claim claim;
  Duration observed;     // the longest response of the task; counts from the nominal release
  std::int64_t job = 0;  // the job that took it
  Scenario scenario;
  bool exceeds() const { return observed > claim.bound; }
};

struct AttackOptions {
  std::uint64_t seed = 0;
  std::int64_t runs = 60;       // simulated schedules, at most
  Duration horizon;             // of each run
  bool stop_early = false;      // at the first schedule that exceeds a bound, instead of looking for a worse one
  bool below_best_case = true;  // parts of jobs may take less than their best cases: see may_go_below_best_case()
};

// Whether schedules in which parts of jobs take less than their best cases count against a bound: always, but for the
// published bounds of federated, which rest on best cases where the taskset gives any.
bool may_go_below_best_case(Policy policy, Variant variant, const Taskset& taskset);

struct AttackResult {
  std::int64_t runs = 0;
  std::optional<Sighting> worst;  // the largest observed / bound; empty without claims
  std::vector<Duration> longest;  // by claim: the longest response seen
};

// Long enough for jobs of every task to meet in many ways: four times the longest period.
Duration attack_horizon(const Taskset& taskset);

// Looks for a schedule in which a task takes longer than its claim.
//
// A third of the runs are shapes: the synchronous release; schedules in which the work of others reaches one task just
// as the analysis supposes, released with it, or earlier by as much as their own bounds let them be late, or so that
// their requests come just before its own; and random ones (offsets, gaps between releases, release jitter, shortened
// parts). The rest is a local search from the worst schedules so far of each bound. Deterministic for a seed. The
// taskset is as it is simulated: simulator.taskset().
AttackResult attack(const Taskset& taskset, Simulator& simulator, std::span<const Claim> claims,
                    const AttackOptions& options);

// The same, from a given schedule on.
AttackResult attack_from(const Taskset& taskset, Simulator& simulator, std::span<const Claim> claims,
                         const Scenario& start, const AttackOptions& options);

}  // namespace rtgpu
