#include "taskset/taskset.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace rtgpu {
namespace {

// Ranks `missing` below `lowest`, or down to 1 if no task of the class has a priority.
void assign_below(std::vector<Task*>& missing, std::optional<int> lowest) {
  std::stable_sort(missing.begin(), missing.end(), [](const Task* a, const Task* b) {
    return std::tie(a->deadline, a->period, a->name) < std::tie(b->deadline, b->period, b->name);
  });
  std::int64_t next = lowest ? std::int64_t{*lowest} - 1 : static_cast<std::int64_t>(missing.size());
  // At the end of int the priorities would be equal, which validate() reports, as it does for all beyond its range.
  constexpr std::int64_t kLeast = std::numeric_limits<int>::min();
  for (Task* task : missing) task->priority = static_cast<int>(std::max(next--, kLeast));
}

void assign_class(Taskset& taskset, const std::vector<bool>& priority_given, bool best_effort) {
  std::vector<Task*> missing;
  std::optional<int> lowest;
  for (std::size_t i = 0; i < taskset.tasks.size(); ++i) {
    Task& task = taskset.tasks[i];
    if (task.best_effort != best_effort) continue;
    if (priority_given[i]) {
      lowest = std::min(task.priority, lowest.value_or(task.priority));
    } else {
      missing.push_back(&task);
    }
  }
  assign_below(missing, lowest);
}

}  // namespace

void assign_missing_priorities(Taskset& taskset, const std::vector<bool>& priority_given,
                               const std::vector<bool>& gpu_priority_given) {
  assign_class(taskset, priority_given, false);
  assign_class(taskset, priority_given, true);
  for (std::size_t i = 0; i < taskset.tasks.size(); ++i) {
    if (!gpu_priority_given[i]) taskset.tasks[i].gpu_priority = taskset.tasks[i].priority;
  }
}

}  // namespace rtgpu
