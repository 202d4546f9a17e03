#include "tools/format/plan_report.h"

#include <variant>

namespace rtgpu {
namespace {

void add_slices(const Task& before, const Task& after, TaskChange& change) {
  for (std::size_t place = 0; place < before.segments.size(); ++place) {
    const auto* old_gpu = std::get_if<GpuSegment>(&before.segments[place]);
    const auto* new_gpu = std::get_if<GpuSegment>(&after.segments[place]);
    if (old_gpu == nullptr || new_gpu == nullptr || old_gpu->slices == new_gpu->slices) continue;
    change.values.push_back({"slices", place, old_gpu->slices, new_gpu->slices});
  }
}

}  // namespace

std::string_view search_end(const PlanReport& report) {
  if (report.interrupted) return "interrupted";
  return report.proposals.complete ? "complete" : "limit_reached";
}

std::vector<TaskChange> task_changes(const Taskset& before, const Taskset& after) {
  std::vector<TaskChange> changes;
  for (TaskIndex index = 0; index < before.tasks.size(); ++index) {
    const Task& was = before.tasks[index];
    const Task& is = after.tasks[index];
    TaskChange change;
    change.task = index;
    if (was.gpu_priority != is.gpu_priority) {
      change.values.push_back({"gpu_priority", 0, was.gpu_priority, is.gpu_priority});
    }
    if (was.cpu != is.cpu) change.values.push_back({"cpu", 0, was.cpu, is.cpu});
    add_slices(was, is, change);
    if (was.sms != is.sms) change.values.push_back({"sms", 0, was.sms.value_or(0), is.sms.value_or(0)});
    if (!change.values.empty()) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace rtgpu
