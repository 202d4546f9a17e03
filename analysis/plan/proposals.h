// What would make a taskset schedulable: changed tasksets that the safe analysis passes, fewest changes first.
#pragma once

#include "analysis/analysis.h"
#include "analysis/search/search_work.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace rtgpu {

// What a proposal may change.
enum class ChangeKind : std::uint8_t { policy, gpu_priorities, slices, cores, sms };
std::string_view to_string(ChangeKind kind);  // "policy", "gpu-priorities", "slices", "cores", "sms"
std::span<const ChangeKind> all_change_kinds();

struct Proposal {
  Policy policy = Policy::gcaps;
  std::vector<ChangeKind> kinds;  // ascending, without repetition
  std::size_t changed_tasks = 0;  // whose GPU priority, slices, core or SMs differ
  bool fewest = false;            // no fewer changes of the same kinds do, as far as the searches say (`exact`)
  Taskset taskset;                // how tasks wait is written down as well
  AnalysisResult result;          // of that taskset, by the safe analysis: schedulable
};

struct ProposalOptions {
  std::vector<Policy> policies;  // what the taskset may be under without that being a change; at least one
  WaitChoice wait = WaitChoice::file;
  std::vector<ChangeKind> allowed;
  std::size_t limit = 5;             // proposals; more than 0
  std::function<bool()> go_on = {};  // asked before each analysis
};

struct Proposals {
  std::vector<Proposal> proposals;  // by number of kinds, then of changed tasks, then in the order of policies
  bool complete = true;             // every search came to its own end
};

// For a taskset that is not schedulable under any of the policies. Kinds of changes are tried alone, then two together,
// and so on; together with a policy that is no change, or with another one, which is a change of its own. Kinds that
// hold all those of a proposal found before are left out: those of one policy or of another. Each search is bounded
// (search_limit()), so what is not found may exist. Deterministic. Each proposal was analysed as it is written.
//
// Under federated the SMs of every task are written down (search/sm_partition.h): those that the taskset left open are
// no change, others are.
Proposals find_proposals(const Taskset& taskset, const ProposalOptions& options);

// How many tasks differ in what searches change.
std::size_t count_changed_tasks(const Taskset& before, const Taskset& after);

}  // namespace rtgpu
