#include "rtgpu/policies/stream_priority.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rtgpu {
namespace {

// Submissions are counted below the level: 2^48 of them last for centuries.
constexpr unsigned kLevelShift = 48;

}  // namespace

std::vector<int> stream_levels(std::span<const PolicyTask> tasks, int levels) {
  std::vector<std::size_t> real_time;
  bool any_best_effort = false;
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (!tasks[task].uses_gpu) continue;
    any_best_effort = any_best_effort || tasks[task].best_effort;
    if (!tasks[task].best_effort) real_time.push_back(task);
  }
  std::ranges::stable_sort(real_time,
                           [&](std::size_t a, std::size_t b) { return tasks[a].gpu_priority > tasks[b].gpu_priority; });

  std::vector<int> result(tasks.size(), 0);
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (tasks[task].uses_gpu && tasks[task].best_effort) result[task] = levels - 1;
  }
  const auto own_levels = static_cast<std::size_t>(any_best_effort && levels > 1 ? levels - 1 : levels);
  for (std::size_t place = 0; place < real_time.size(); ++place) {
    const std::size_t level = real_time.size() <= own_levels ? place : place * own_levels / real_time.size();
    result[real_time[place]] = static_cast<int>(level);
  }
  return result;
}

StreamPriorityPolicy::StreamPriorityPolicy(PolicySetup setup_of)
    : UnarbitratedPolicy(std::move(setup_of)),
      levels_(stream_levels(setup().tasks, setup().stream_levels)),
      keys_(task_count()) {}

bool StreamPriorityPolicy::wants_boundary() const {
  const TaskId running = gpu().runs;
  return running != kNobody && !waiting().empty() && levels_[waiting().front()] < levels_[running];
}

void StreamPriorityPolicy::on_submit(TaskId task) {
  keys_[task] = (static_cast<std::uint64_t>(levels_[task]) << kLevelShift) + submissions_++;
  if (gpu().runs == kNobody) {
    run_on_gpu(task);
  } else {
    waiting().push(task, keys_[task]);
  }
}

void StreamPriorityPolicy::on_boundary(TaskId task) {
  if (!wants_boundary()) return;
  waiting().push(task, keys_[task]);
  run_next();
}

void StreamPriorityPolicy::append_state(std::vector<std::uint64_t>& state) const {
  if (gpu().runs != kNobody) state.push_back(waiting().count_before(keys_[gpu().runs]));
  waiting().append_order(state);
}

void StreamPriorityPolicy::run_next() {
  run_on_gpu(waiting().empty() ? kNobody : waiting().pop());
}

}  // namespace rtgpu
