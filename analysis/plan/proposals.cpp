#include "analysis/plan/proposals.h"

#include "analysis/falsification/counterexample.h"
#include "analysis/search/cores.h"
#include "analysis/search/gpu_priorities.h"
#include "analysis/search/slices.h"
#include "analysis/search/sm_partition.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

constexpr std::array kChangeKinds = {ChangeKind::policy, ChangeKind::gpu_priorities, ChangeKind::slices,
                                     ChangeKind::cores, ChangeKind::sms};

// A set of kinds as bits.
using KindSet = unsigned;
constexpr KindSet bit_of(ChangeKind kind) {
  return 1U << static_cast<unsigned>(kind);
}
constexpr bool holds(KindSet set, ChangeKind kind) {
  return (set & bit_of(kind)) != 0;
}
constexpr KindSet kAllKinds = (1U << kChangeKinds.size()) - 1;

KindSet set_of(std::span<const ChangeKind> kinds) {
  KindSet set = 0;
  for (const ChangeKind kind : kinds) set |= bit_of(kind);
  return set;
}

std::vector<ChangeKind> kinds_of(KindSet set) {
  std::vector<ChangeKind> kinds;
  for (const ChangeKind kind : kChangeKinds) {
    if (holds(set, kind)) kinds.push_back(kind);
  }
  return kinds;
}

int slices_of(const Segment& segment) {
  const auto* gpu = std::get_if<GpuSegment>(&segment);
  return gpu == nullptr ? 1 : gpu->slices;
}

// What searches changed in a task.
KindSet changes_of(const Task& before, const Task& after) {
  KindSet set = 0;
  if (before.gpu_priority != after.gpu_priority) set |= bit_of(ChangeKind::gpu_priorities);
  if (before.cpu != after.cpu) set |= bit_of(ChangeKind::cores);
  // SMs that the taskset left open are not changed by being named.
  if (before.sms && before.sms != after.sms) set |= bit_of(ChangeKind::sms);
  for (std::size_t place = 0; place < before.segments.size(); ++place) {
    if (slices_of(before.segments[place]) != slices_of(after.segments[place])) set |= bit_of(ChangeKind::slices);
  }
  return set;
}

bool names_sms(const Taskset& taskset) {
  return std::ranges::any_of(taskset.tasks, [](const Task& task) { return task.sms.has_value(); });
}

// Leaves the SMs of all tasks to the analysis, which partitions those that no task names.
Taskset without_sms(Taskset taskset) {
  for (Task& task : taskset.tasks) task.sms.reset();
  return taskset;
}

// What of a taskset has a meaning under a policy, and can be searched.
KindSet searchable(const Taskset& taskset, Policy policy) {
  KindSet set = 0;
  if (can_search_gpu_priorities(policy)) set |= bit_of(ChangeKind::gpu_priorities);
  if (policy == Policy::mpcp) set |= bit_of(ChangeKind::slices);
  if (taskset.platform.cpus > 1) set |= bit_of(ChangeKind::cores);
  if (policy == Policy::federated && names_sms(taskset)) set |= bit_of(ChangeKind::sms);
  return set;
}

class ProposalSearch {
 public:
  ProposalSearch(const Taskset& taskset, const ProposalOptions& options)
      : taskset_(with_waits(taskset, options.wait)), options_(options), allowed_(set_of(options.allowed)) {
    add_policies();
  }

  Proposals run() {
    for (std::size_t kinds = 1; kinds <= kChangeKinds.size(); ++kinds) {
      if (stopped_ || result_.proposals.size() >= options_.limit) break;
      for (const Policy policy : policies_) try_policy(policy, kinds);
    }
    std::ranges::stable_sort(result_.proposals, [](const Proposal& a, const Proposal& b) {
      return std::pair(a.kinds.size(), a.changed_tasks) < std::pair(b.kinds.size(), b.changed_tasks);
    });
    if (result_.proposals.size() > options_.limit) {
      result_.proposals.erase(result_.proposals.begin() + static_cast<std::ptrdiff_t>(options_.limit),
                              result_.proposals.end());
    }
    return std::move(result_);
  }

 private:
  void add_policies() {
    policies_ = options_.policies;
    if (!holds(allowed_, ChangeKind::policy)) return;
    for (const AnalysisEntry& entry : analyses()) {
      if (entry.variant == Variant::safe && std::ranges::count(policies_, entry.policy) == 0) {
        policies_.push_back(entry.policy);
      }
    }
  }

  bool is_change(Policy policy) const { return std::ranges::count(options_.policies, policy) == 0; }

  // Every combination of that many kinds, the policy among them if it is another one.
  void try_policy(Policy policy, std::size_t kinds) {
    const KindSet with_policy = is_change(policy) ? bit_of(ChangeKind::policy) : 0;
    const KindSet possible = searchable(taskset_, policy) & allowed_;
    for (KindSet set = 0; set <= kAllKinds && !stopped_; ++set) {
      if ((set & ~possible) != 0) continue;
      const KindSet all = set | with_policy;
      if (static_cast<std::size_t>(std::popcount(all)) != kinds || is_dominated(all)) continue;
      try_changes(policy, set);
    }
  }

  // Whether a proposal does with less of it.
  bool is_dominated(KindSet set) const {
    return std::ranges::any_of(found_, [&](KindSet found) { return found != set && (found & ~set) == 0; });
  }

  AnalysisOptions analysis_of(Policy policy, GpuPriorities priorities) const {
    AnalysisOptions analysis;
    analysis.policy = policy;
    analysis.gpu_priorities = priorities;
    return analysis;
  }

  void try_changes(Policy policy, KindSet set) {
    SearchWork work(search_limit(taskset_), options_.go_on);
    SearchedTaskset searched = search(policy, set, work);
    result_.complete = result_.complete && !work.is_incomplete();
    stopped_ = work.stopped();
    if (searched.passes()) propose(policy, std::move(searched));
  }

  // Cores first: slices are cut for the mapping that is nearest to passing.
  SearchedTaskset search(Policy policy, KindSet set, SearchWork& work) const {
    const bool with_priorities = holds(set, ChangeKind::gpu_priorities);
    const AnalysisOptions analysis = analysis_of(policy, with_priorities ? GpuPriorities::search : GpuPriorities::file);
    if (set == bit_of(ChangeKind::gpu_priorities)) return find_gpu_priorities(taskset_, analysis, work);
    SearchedTaskset searched;
    searched.taskset = holds(set, ChangeKind::sms) ? without_sms(taskset_) : taskset_;
    if (holds(set, ChangeKind::cores)) searched = find_cores(searched.taskset, analysis, work);
    if (holds(set, ChangeKind::slices) && !searched.passes()) {
      const bool first = !holds(set, ChangeKind::cores);
      searched = find_slices(searched.taskset, analysis, work);
      searched.exact = searched.exact && first;
    }
    if (!holds(set, ChangeKind::cores) && !holds(set, ChangeKind::slices)) {
      const std::optional<Candidate> as_it_is = try_taskset(searched.taskset, analysis, work);
      if (as_it_is && as_it_is->passes()) searched.outcome = SearchOutcome::not_needed;
    }
    if (holds(set, ChangeKind::sms)) searched.exact = false;
    if (with_priorities && searched.passes()) {
      searched = with_fewer_exchanges(taskset_, std::move(searched), analysis, work);
    }
    return searched;
  }

  // The SMs that the analysis chose are written down, those of the file where they do.
  Taskset with_sms_written(const Taskset& taskset, const SmPartition& partition,
                           const AnalysisOptions& analysis) const {
    if (partition.sms.empty()) return taskset;
    Taskset written = with_sms(taskset, partition);
    for (TaskIndex task = 0; task < written.tasks.size(); ++task) {
      if (!taskset_.tasks[task].sms || taskset_.tasks[task].sms == written.tasks[task].sms) continue;
      Taskset as_before = written;
      as_before.tasks[task].sms = taskset_.tasks[task].sms;
      const Result<AnalysisResult> result = analyze(as_before, analysis);
      if (result && result->schedulable) written = std::move(as_before);
    }
    return written;
  }

  // Takes what was found if it passes as it is written.
  void propose(Policy policy, SearchedTaskset searched) {
    const AnalysisOptions analysis = analysis_of(policy, GpuPriorities::file);
    Result<AnalysisResult> verified = analyze(searched.taskset, analysis);
    if (!verified || !verified->schedulable) return;
    searched.taskset = with_sms_written(searched.taskset, verified->sm_partition, analysis);
    verified = analyze(searched.taskset, analysis);
    if (!verified || !verified->schedulable || !validate(searched.taskset).empty()) return;
    KindSet set = is_change(policy) ? bit_of(ChangeKind::policy) : 0;
    for (TaskIndex task = 0; task < taskset_.tasks.size(); ++task) {
      set |= changes_of(taskset_.tasks[task], searched.taskset.tasks[task]);
    }
    const bool known = std::ranges::any_of(result_.proposals, [&](const Proposal& each) {
      return each.policy == policy && each.taskset == searched.taskset;
    });
    if (known || is_dominated(set)) return;
    found_.push_back(set);
    Proposal proposal;
    proposal.policy = policy;
    proposal.kinds = kinds_of(set);
    proposal.changed_tasks = count_changed_tasks(taskset_, searched.taskset);
    proposal.fewest = searched.exact || proposal.changed_tasks == 0;
    proposal.taskset = std::move(searched.taskset);
    proposal.result = *std::move(verified);
    result_.proposals.push_back(std::move(proposal));
  }

  const Taskset taskset_;
  const ProposalOptions& options_;
  KindSet allowed_;
  std::vector<Policy> policies_;
  std::vector<KindSet> found_;
  Proposals result_;
  bool stopped_ = false;
};

}  // namespace

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::policy:
      return "policy";
    case ChangeKind::gpu_priorities:
      return "gpu-priorities";
    case ChangeKind::slices:
      return "slices";
    case ChangeKind::cores:
      return "cores";
    case ChangeKind::sms:
      return "sms";
  }
  return "?";
}

std::span<const ChangeKind> all_change_kinds() {
  return kChangeKinds;
}

std::size_t count_changed_tasks(const Taskset& before, const Taskset& after) {
  std::size_t changed = 0;
  for (TaskIndex task = 0; task < before.tasks.size(); ++task) {
    if (changes_of(before.tasks[task], after.tasks[task]) != 0) ++changed;
  }
  return changed;
}

Proposals find_proposals(const Taskset& taskset, const ProposalOptions& options) {
  return ProposalSearch(taskset, options).run();
}

}  // namespace rtgpu
