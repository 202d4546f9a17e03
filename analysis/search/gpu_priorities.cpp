#include "analysis/search/gpu_priorities.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

// Whether its GPU priority has a meaning.
bool is_ordered_by_gpu_priority(const Task& task) {
  return std::ranges::any_of(task.segments,
                             [](const Segment& segment) { return !std::holds_alternative<CpuSegment>(segment); });
}

// As the analyses order them.
std::vector<TaskIndex> gpu_order_of(const Taskset& taskset) {
  std::vector<TaskIndex> order;
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    const Task& each = taskset.tasks[task];
    if (!each.best_effort && is_ordered_by_gpu_priority(each)) order.push_back(task);
  }
  std::ranges::stable_sort(order, std::greater(), [&](TaskIndex task) {
    return std::pair(taskset.tasks[task].gpu_priority, taskset.tasks[task].priority);
  });
  return order;
}

}  // namespace

bool can_search_gpu_priorities(Policy policy) {
  return std::ranges::any_of(analyses(), [&](const AnalysisEntry& entry) {
    return entry.policy == policy && entry.variant == Variant::safe && entry.gpu_priority_search;
  });
}

Taskset with_gpu_order(Taskset taskset, std::span<const TaskIndex> order) {
  std::vector<TaskIndex> ordered;
  std::vector<int> values;
  for (const TaskIndex task : order) {
    if (!is_ordered_by_gpu_priority(taskset.tasks[task])) continue;
    ordered.push_back(task);
    values.push_back(taskset.tasks[task].gpu_priority);
  }
  std::ranges::sort(values, std::greater());
  if (std::ranges::adjacent_find(values) != values.end()) {
    std::iota(values.rbegin(), values.rend(), 1);
  }
  for (std::size_t place = 0; place < ordered.size(); ++place) {
    taskset.tasks[ordered[place]].gpu_priority = values[place];
  }
  return taskset;
}

SearchedTaskset with_fewer_exchanges(const Taskset& file, SearchedTaskset found, const AnalysisOptions& options,
                                     SearchWork& work) {
  AnalysisOptions as_written = options;
  as_written.gpu_priorities = GpuPriorities::file;
  std::vector<std::size_t> place_in_file(file.tasks.size());
  const std::vector<TaskIndex> file_order = gpu_order_of(file);
  for (std::size_t place = 0; place < file_order.size(); ++place) place_in_file[file_order[place]] = place;
  std::vector<TaskIndex> order = gpu_order_of(found.taskset);
  bool any_changed = true;
  while (any_changed) {
    any_changed = false;
    for (std::size_t place = 0; place + 1 < order.size(); ++place) {
      if (place_in_file[order[place]] < place_in_file[order[place + 1]]) continue;
      std::swap(order[place], order[place + 1]);
      std::optional<Candidate> nearer = try_taskset(with_gpu_order(found.taskset, order), as_written, work);
      if (work.ended()) return found;
      if (nearer && nearer->passes()) {
        found.taskset = std::move(nearer->taskset);
        found.shortfall = nearer->shortfall;
        any_changed = true;
      } else {
        std::swap(order[place], order[place + 1]);
      }
    }
  }
  return found;
}

SearchedTaskset find_gpu_priorities(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work) {
  SearchedTaskset searched;
  searched.taskset = taskset;
  AnalysisOptions as_given = options;
  as_given.gpu_priorities = GpuPriorities::file;
  const std::optional<Candidate> given = try_taskset(taskset, as_given, work);
  if (!given) return searched;
  searched.shortfall = given->shortfall;
  if (given->passes()) {
    searched.outcome = SearchOutcome::not_needed;
    searched.exact = true;
    return searched;
  }
  AnalysisOptions with_search = options;
  with_search.gpu_priorities = GpuPriorities::search;
  std::optional<Candidate> found = try_taskset(taskset, with_search, work);
  if (found && found->passes()) {
    // What is written down has to pass as it is.
    found = try_taskset(std::move(found->taskset), as_given, work);
  }
  if (!found || !found->passes()) {
    searched.outcome = work.is_incomplete() ? SearchOutcome::limit_reached : SearchOutcome::none;
    return searched;
  }
  searched.outcome = SearchOutcome::found;
  searched.taskset = std::move(found->taskset);
  searched.shortfall = found->shortfall;
  return with_fewer_exchanges(taskset, std::move(searched), options, work);
}

}  // namespace rtgpu
