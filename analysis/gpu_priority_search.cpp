#include "analysis/gpu_priority_search.h"

#include <utility>
#include <vector>

namespace rtgpu {
namespace {

// Whether `task` is the lowest of its core among the tasks that are not yet placed, which hold the places up to
// `level`. On its core the tasks are placed from the lowest up.
bool is_candidate(const RtaModel& model, TaskIndex lower_on_core, std::size_t level) {
  return lower_on_core == kNoTask || model.gpu_rank(lower_on_core) > level;
}

// By task: the next lower one of its core.
std::vector<TaskIndex> next_lower_on_core(const RtaModel& model) {
  std::vector<TaskIndex> lower(model.size(), kNoTask);
  for (const TaskIndex task : model.cpu_order()) {
    const auto higher = model.higher_on_core(task);
    if (!higher.empty()) lower[higher.back()] = task;
  }
  return lower;
}

bool fill_level(RtaModel& model, const MeetsDeadline& meets_deadline, const std::vector<TaskIndex>& lower,
                std::size_t level, WorkBudget& budget) {
  const auto order = model.cpu_order();
  for (std::size_t place = order.size(); place-- > 0;) {
    if (--budget.evaluations <= 0) return false;
    const TaskIndex task = order[place];
    if (model.gpu_rank(task) > level || !is_candidate(model, lower[task], level)) continue;
    model.swap_gpu_order(model.gpu_rank(task), level);
    if (meets_deadline(task)) return true;
  }
  return false;
}

}  // namespace

SearchOutcome search_gpu_priorities(RtaModel& model, const MeetsDeadline& meets_deadline, WorkBudget& budget) {
  std::vector<TaskIndex> given(model.gpu_order().begin(), model.gpu_order().end());
  const std::vector<TaskIndex> lower = next_lower_on_core(model);
  for (std::size_t level = given.size(); level-- > 0;) {
    if (fill_level(model, meets_deadline, lower, level, budget)) continue;
    model.set_gpu_order(std::move(given));
    return budget.evaluations <= 0 ? SearchOutcome::limit_reached : SearchOutcome::none;
  }
  return SearchOutcome::found;
}

}  // namespace rtgpu
