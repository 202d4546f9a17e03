#include "analysis/search/sm_partition.h"

#include "analysis/rta/federated_safe.h"
#include "analysis/safe.h"
#include "analysis/stages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// What the analyses of one search may take, in evaluations of a charge: about a tenth of a second.
constexpr std::int64_t kMaxSearchEvaluations = 10'000'000;

Error not_partitioned(std::string pointer, std::string found, std::string expected, std::string advice) {
  return Error{ErrorCode::unsupported, Place{{}, std::move(pointer), 0, 0}, std::move(found), std::move(expected),
               std::move(advice)};
}

// --- what is known of a task

// The sum of the worst cases of its GPU segments; nullopt if nothing is known of one on so few SMs.
std::optional<Duration> exec_on(const Task& task, int sms, int all) {
  Duration sum;
  for (const Segment& segment : task.segments) {
    const auto* gpu = std::get_if<GpuSegment>(&segment);
    if (gpu == nullptr) continue;
    const auto exec = gpu_exec_on(*gpu, sms, all);
    if (!exec) return std::nullopt;
    sum += exec->max;
  }
  return sum;
}

// The fewest SMs on which all of its execution times are known; 0 if there are none up to `all`. What is known on some
// is known on more.
int fewest_sms(const Task& task, int all) {
  if (!exec_on(task, all, all)) return 0;
  int low = 0;  // not enough
  int high = all;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (exec_on(task, middle, all) ? high : low) = middle;
  }
  return high;
}

Error unknown_exec(const Task& task, TaskIndex index, int sms, int all) {
  std::size_t place = 0;
  for (; place < task.segments.size(); ++place) {
    const auto* gpu = std::get_if<GpuSegment>(&task.segments[place]);
    if (gpu != nullptr && !gpu_exec_on(*gpu, sms, all)) break;
  }
  return not_partitioned(
      fmt::format("/tasks/{}/segments/{}/gpu", index, place),
      fmt::format("no execution time on {} of {} SMs", sms, all), "execution times by the number of SMs",
      "Give exec by_sms, or work and span: federated runs each task on SMs of its own, and exec alone "
      "is the time on all of them.");
}

void set_exec(Task& task, int sms, int all, bool best_cases) {
  task.sms = sms;
  for (Segment& segment : task.segments) {
    auto* gpu = std::get_if<GpuSegment>(&segment);
    if (gpu == nullptr) continue;
    ExecutionTime exec = *gpu_exec_on(*gpu, sms, all);
    if (!best_cases) exec.min = exec.max;
    gpu->exec = exec;
    gpu->exec_by_sms.clear();
    gpu->parallel.reset();
  }
}

Taskset on_sms(Taskset taskset, const std::vector<int>& sms) {
  const int all = *taskset.platform.gpus.front().sms;
  const bool best_cases = gives_best_cases(taskset);
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (sms[task] > 0) set_exec(taskset.tasks[task], sms[task], all, best_cases);
  }
  return taskset;
}

// --- the search

class SmPartitionSearch {
 public:
  SmPartitionSearch(const Taskset& taskset, WaitChoice wait, std::vector<int> fewest)
      : taskset_(taskset), wait_(wait), all_(*taskset.platform.gpus.front().sms), sms_(std::move(fewest)) {
    for (TaskIndex task = 0; task < sms_.size(); ++task) {
      const Task& each = taskset.tasks[task];
      is_open_.push_back(sms_[task] > 0 && !each.sms && !each.best_effort);
      if (is_open_.back()) open_.push_back(task);
    }
    std::ranges::stable_sort(
        open_, [&](TaskIndex a, TaskIndex b) { return taskset.tasks[a].priority > taskset.tasks[b].priority; });
  }

  bool has_open() const { return !open_.empty(); }

  SmPartition run() {
    SmPartition partition;
    partition.search = SearchOutcome::none;
    const std::vector<int> start = sms_;
    if (raise_to_least() && sum_of(sms_) <= all_) {
      const std::vector<int> least = sms_;
      if (grow()) {
        partition.search = SearchOutcome::found;
        partition.method = SmSearch::heuristic;
      } else {
        const std::vector<int> grown = sms_;
        sms_ = least;
        const bool found = try_from(0);
        partition.search = found ? SearchOutcome::found : SearchOutcome::none;
        partition.method = SmSearch::exact;
        if (!found) sms_ = grown;
      }
    } else {
      // No partition passes: that is known. What is left is to say how far it goes.
      partition.method = SmSearch::exact;
      sms_ = start;
      grow();
    }
    if (partition.search == SearchOutcome::found) take_back();
    if (partition.search == SearchOutcome::none && is_out_of_budget_) {
      partition.search = SearchOutcome::limit_reached;
      partition.method = SmSearch::heuristic;
    }
    partition.sms = sms_;
    return partition;
  }

 private:
  static std::int64_t sum_of(const std::vector<int>& sms) {
    return std::accumulate(sms.begin(), sms.end(), std::int64_t{0});
  }
  int free_sms() const { return static_cast<int>(std::max<std::int64_t>(all_ - sum_of(sms_), 0)); }

  std::vector<TaskResult> bounds(const std::vector<int>& sms) {
    const Taskset partitioned = on_sms(taskset_, sms);
    model_.assign(partitioned, wait_);
    WorkBudget budget{std::max<std::int64_t>(left_, 0)};
    std::vector<TaskResult> results = bound_all_safe(model_, partitioned, &build_federated_safe, options_, budget);
    spend(budget);
    return results;
  }

  void spend(const WorkBudget& budget) {
    left_ = budget.evaluations - static_cast<std::int64_t>(sms_.size());
    if (left_ <= 0) is_out_of_budget_ = true;
  }

  bool passes(const std::vector<int>& sms) {
    const Taskset partitioned = on_sms(taskset_, sms);
    model_.assign(partitioned, wait_);
    WorkBudget budget{std::max<std::int64_t>(left_, 0)};
    const bool passes = all_schedulable_safe(model_, partitioned, &build_federated_safe, options_, budget, workspace_);
    spend(budget);
    return passes;
  }

  // What each open task from `place` on may have if the others have what `sms_` says, more than the GPU has in all.
  std::vector<int> at_most_from(std::size_t place) const {
    const int free = free_sms();
    std::vector<int> most = sms_;
    for (std::size_t each = place; each < open_.size(); ++each) most[open_[each]] += free;
    return most;
  }

  // Raises each open task to the fewest SMs with which not everything is excluded. Whether there are any.
  bool raise_to_least() {
    const std::vector<int> most = at_most_from(0);
    if (!passes(most)) return false;
    std::vector<int> least = sms_;
    for (const TaskIndex task : open_) {
      int low = sms_[task] - 1;  // fails, as far as is known
      int high = most[task];
      while (high - low > 1 && !is_out_of_budget_) {
        std::vector<int> trial = most;
        trial[task] = low + (high - low) / 2;
        (passes(trial) ? high : low) = trial[task];
      }
      least[task] = is_out_of_budget_ ? sms_[task] : high;
    }
    sms_ = std::move(least);
    return true;
  }

  // The next number of SMs on which a task is faster, with no more than `free` in addition; 0 if there is none.
  int next_faster(TaskIndex task, int free) const {
    const Task& of = taskset_.tasks[task];
    const std::optional<Duration> now = exec_on(of, sms_[task], all_);
    int low = sms_[task];
    int high = sms_[task] + free;
    if (free <= 0 || *exec_on(of, high, all_) == *now) return 0;
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      (*exec_on(of, middle, all_) < *now ? high : low) = middle;
    }
    return high;
  }

  // By how much a task gets faster for each SM.
  Duration gain_of(TaskIndex task, int next) const {
    const Duration gain = *exec_on(taskset_.tasks[task], sms_[task], all_) - *exec_on(taskset_.tasks[task], next, all_);
    return Duration::nanoseconds(gain.count() / (next - sms_[task]));
  }

  // Gives SMs to whoever needs them most. Whether all pass in the end.
  bool grow() {
    while (true) {
      const std::vector<TaskResult> results = bounds(sms_);
      if (std::ranges::all_of(results, [](const TaskResult& result) { return result.schedulable(); })) return true;
      const std::optional<std::pair<TaskIndex, int>> chosen = choose(results);
      if (!chosen || is_out_of_budget_) return false;
      sms_[chosen->first] = chosen->second;
    }
  }

  std::optional<std::pair<TaskIndex, int>> choose(const std::vector<TaskResult>& results) const {
    const int free = free_sms();
    std::vector<TaskIndex> failing;
    for (const TaskResult& result : results) {
      if (!result.schedulable()) failing.push_back(result.task);
    }
    std::ranges::stable_sort(
        failing, [&](TaskIndex a, TaskIndex b) { return taskset_.tasks[a].priority > taskset_.tasks[b].priority; });
    // By core: the lowest priority that fails.
    std::vector<int> lowest(static_cast<std::size_t>(taskset_.platform.cpus), std::numeric_limits<int>::max());
    for (const TaskIndex task : failing) {
      lowest[static_cast<std::size_t>(taskset_.tasks[task].cpu)] = taskset_.tasks[task].priority;
      if (const int next = is_open_[task] ? next_faster(task, free) : 0; next > 0) return std::pair(task, next);
    }
    std::optional<std::pair<TaskIndex, int>> best;
    Duration most;
    for (const TaskIndex task : open_) {
      const Task& each = taskset_.tasks[task];
      const bool may_delay = each.priority > lowest[static_cast<std::size_t>(each.cpu)];
      const int next = may_delay ? next_faster(task, free) : 0;
      if (next == 0 || gain_of(task, next) <= most) continue;
      most = gain_of(task, next);
      best = std::pair(task, next);
    }
    return best;
  }

  // Tries what is left for the open tasks from `place` on; those before have theirs. In sms_, if it returns true.
  bool try_from(std::size_t place) {
    if (is_out_of_budget_ || !passes(at_most_from(place))) return false;
    if (place == open_.size()) return true;
    const TaskIndex task = open_[place];
    const int least = sms_[task];
    const int most = least + free_sms();
    for (int next = least; next > 0 && next <= most && !is_out_of_budget_;) {
      sms_[task] = next;
      if (try_from(place + 1)) return true;
      next = next_faster(task, most - next);
    }
    sms_[task] = least;
    return false;
  }

  // Leaves each open task the fewest SMs with which all still pass.
  void take_back() {
    const std::vector<TaskIndex> lowest_first(open_.rbegin(), open_.rend());
    for (const TaskIndex task : lowest_first) {
      int low = fewest_sms(taskset_.tasks[task], all_) - 1;
      int high = sms_[task];
      while (high - low > 1 && !is_out_of_budget_) {
        std::vector<int> trial = sms_;
        trial[task] = low + (high - low) / 2;
        const bool still = passes(trial) && !is_out_of_budget_;
        (still ? high : low) = trial[task];
      }
      sms_[task] = high;
    }
  }

  const Taskset& taskset_;
  WaitChoice wait_;
  int all_;
  std::vector<int> sms_;         // by task
  std::vector<TaskIndex> open_;  // tasks that SMs are looked for, highest CPU priority first
  std::vector<bool> is_open_;    // by task
  AnalysisOptions options_{.policy = Policy::federated};
  StagedModel model_;
  SafeWorkspace workspace_;
  std::int64_t left_ = kMaxSearchEvaluations;
  bool is_out_of_budget_ = false;
};

// The SMs that tasks have, or need at least.
Result<std::vector<int>> given_or_fewest(const Taskset& taskset, int all) {
  std::vector<int> sms(taskset.tasks.size(), 0);
  Errors errors;
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    const Task& each = taskset.tasks[task];
    if (!uses_gpu(each)) continue;
    sms[task] = each.sms.value_or(fewest_sms(each, all));
    const int asked = std::min(sms[task] > 0 ? sms[task] : all, all);
    if (!exec_on(each, asked, all)) errors.push_back(unknown_exec(each, task, asked, all));
  }
  if (!errors.empty()) return errors;
  std::int64_t sum = 0;
  for (const int each : sms) sum += each;
  if (sum <= all) return sms;
  return not_partitioned("/platform/gpus/0/sms", fmt::format("{} SMs", all), fmt::format("at least {} SMs", sum),
                         "Every task that uses the GPU needs SMs of its own under federated, best-effort ones too.");
}

}  // namespace

Result<SmPartition> sm_partition(const Taskset& taskset, WaitChoice wait) {
  const std::vector<Gpu>& gpus = taskset.platform.gpus;
  if (gpus.size() != 1) {
    return not_partitioned("/platform/gpus", fmt::format("{} GPUs", gpus.size()), "one GPU",
                           "Take each GPU with its tasks as a taskset of its own.");
  }
  if (!gpus.front().sms) {
    return not_partitioned("/platform/gpus/0/sms", "no number of SMs", "a number above 0",
                           "Give the number of SMs of the GPU: federated divides them among the tasks.");
  }
  Result<std::vector<int>> sms = given_or_fewest(taskset, *gpus.front().sms);
  if (!sms) return std::move(sms.errors());
  SmPartitionSearch search(taskset, wait, *sms);
  if (search.has_open()) return search.run();
  SmPartition partition;
  partition.sms = *std::move(sms);
  return partition;
}

Taskset with_sms(Taskset taskset, const SmPartition& partition) {
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (partition.sms[task] > 0) taskset.tasks[task].sms = partition.sms[task];
  }
  return taskset;
}

Result<PartitionedTaskset> on_sm_partition(const Taskset& taskset, WaitChoice wait) {
  Result<SmPartition> partition = sm_partition(taskset, wait);
  if (!partition) return std::move(partition.errors());
  Taskset partitioned = on_sms(taskset, partition->sms);
  return PartitionedTaskset{*std::move(partition), std::move(partitioned)};
}

}  // namespace rtgpu
