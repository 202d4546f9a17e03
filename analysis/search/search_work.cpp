#include "analysis/search/search_work.h"

#include "analysis/search/gpu_priorities.h"

#include <algorithm>

namespace rtgpu {

std::int64_t search_limit(const Taskset& taskset) {
  const auto tasks = static_cast<std::int64_t>(std::max<std::size_t>(taskset.tasks.size(), 1));
  return std::clamp<std::int64_t>(1'000'000 / (tasks * tasks), 50, 2'000);
}

bool SearchWork::spend(std::int64_t analyses) {
  if (ended_) return false;
  stopped_ = go_on_ && !go_on_();
  ended_ = stopped_ || left_ <= 0;
  if (ended_) return false;
  left_ -= analyses;
  return true;
}

Shortfall shortfall_of(const Taskset& taskset, const AnalysisResult& result) {
  Shortfall shortfall;
  for (const TaskResult& task : result.tasks) {
    if (!task.schedulable()) ++shortfall.failing;
    if (task.bound) shortfall.worst = std::max(shortfall.worst, *task.bound - taskset.tasks[task.task].deadline);
  }
  return shortfall;
}

std::optional<Candidate> try_taskset(Taskset taskset, const AnalysisOptions& options, SearchWork& work) {
  const bool searches = options.gpu_priorities == GpuPriorities::search || options.policy == Policy::federated;
  if (!work.spend(searches ? static_cast<std::int64_t>(taskset.tasks.size()) + 1 : 1)) return std::nullopt;
  const Result<AnalysisResult> result = analyze(taskset, options);
  if (!result) return std::nullopt;
  Candidate candidate;
  candidate.shortfall = shortfall_of(taskset, *result);
  for (const TaskResult& task : result->tasks) {
    if (!task.schedulable()) candidate.failing.push_back(task.task);
    if (task.outcome == Outcome::limit_reached) work.set_undecided();
  }
  if (result->gpu_priority_search == SearchOutcome::limit_reached) work.set_undecided();
  const bool found = result->gpu_priority_search == SearchOutcome::found;
  candidate.taskset = found ? with_gpu_order(taskset, result->gpu_priority_order) : std::move(taskset);
  return candidate;
}

}  // namespace rtgpu
