#include "analysis/rta_model.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Error unsupported(std::string pointer, std::string found, std::string expected, std::string advice) {
  return Error{ErrorCode::unsupported, Place{{}, std::move(pointer)}, std::move(found), std::move(expected),
               std::move(advice)};
}

// Adds a segment to the sums; an error if the recurrences have no place for it.
std::optional<Error> add_segment(const Segment& segment, const Gpu& gpu, RtaTask& task, std::string_view pointer) {
  if (const auto* cpu = std::get_if<CpuSegment>(&segment)) {
    task.cpu += cpu->time.max;
    return std::nullopt;
  }
  if (std::holds_alternative<CopySegment>(segment)) {
    return unsupported(std::string(pointer), "a copy segment", "segments on a core or the GPU",
                       "This analysis has no copy engine; count the copy in misc or exec.");
  }
  const auto& work = std::get<GpuSegment>(segment);
  const std::optional<Duration> exec = whole_gpu_exec(work, gpu.sms);
  if (!exec) {
    return unsupported(fmt::format("{}/gpu", pointer), "an execution time that depends on the number of SMs",
                       "the execution time on the whole GPU", "Give exec, or platform.gpus[0].sms.");
  }
  const Duration launches = gpu.overheads.launch * (work.slices - 1);
  task.uses_gpu = true;
  ++task.gpu_segments;
  task.misc += work.misc.max;
  task.exec += *exec + launches;
  task.segments.push_back({work.misc.max, *exec + launches});
  task.launches += launches;
  const Duration slice = gpu.overheads.time_slice;
  if (slice > Duration()) task.time_slices += ceil_div(*exec + launches, slice);
  return std::nullopt;
}

// Positions sorted by falling key; equal keys in the order of the taskset.
template <class Key>
std::vector<TaskIndex> real_time_tasks_by(const Taskset& taskset, Key key) {
  std::vector<TaskIndex> order;
  order.reserve(taskset.tasks.size());
  for (TaskIndex index = 0; index < taskset.tasks.size(); ++index) {
    if (!taskset.tasks[index].best_effort) order.push_back(index);
  }
  std::ranges::stable_sort(order, [&](TaskIndex a, TaskIndex b) { return key(a) > key(b); });
  return order;
}

}  // namespace

Result<RtaModel> RtaModel::of(const Taskset& taskset, WaitChoice wait, CopySegments copies) {
  if (taskset.platform.gpus.size() != 1) {
    return unsupported("/platform/gpus", fmt::format("{} GPUs", taskset.platform.gpus.size()), "one GPU",
                       "Analyse each GPU with its tasks as a taskset of its own.");
  }
  RtaModel model(taskset);
  Errors errors;
  for (TaskIndex index = 0; index < taskset.tasks.size(); ++index) {
    const std::vector<Segment>& segments = taskset.tasks[index].segments;
    for (std::size_t place = 0; place < segments.size(); ++place) {
      const std::string pointer = fmt::format("/tasks/{}/segments/{}", index, place);
      if (copies == CopySegments::covered && std::holds_alternative<CopySegment>(segments[place])) continue;
      auto error = add_segment(segments[place], taskset.platform.gpus.front(), model.tasks_[index], pointer);
      if (error) errors.push_back(std::move(*error));
    }
  }
  if (!errors.empty()) return errors;
  model.resolve_wait(taskset, wait);
  model.order_tasks(taskset);
  return model;
}

RtaModel::RtaModel(const Taskset& taskset) : overheads_(taskset.platform.gpus.front().overheads) {
  tasks_.reserve(taskset.tasks.size());
  for (const Task& task : taskset.tasks) {
    RtaTask sums;
    sums.core = task.cpu;
    sums.period = task.period;
    sums.deadline = task.deadline;
    sums.release_jitter = task.jitter;
    sums.best_effort = task.best_effort;
    tasks_.push_back(sums);
  }
}

// A task that does not use the GPU never waits for it. It takes the mode of the others where they agree, so that a file
// in which they do means the same as that mode for all.
void RtaModel::resolve_wait(const Taskset& taskset, WaitChoice choice) {
  bool any_busy = false;
  bool any_suspend = false;
  for (TaskIndex index = 0; index < tasks_.size(); ++index) {
    RtaTask& task = tasks_[index];
    task.busy =
        choice == WaitChoice::busy || (choice == WaitChoice::file && taskset.tasks[index].wait == WaitMode::busy);
    if (!task.uses_gpu) continue;
    gpu_users_.push_back(index);
    if (task.best_effort) continue;
    (task.busy ? any_busy : any_suspend) = true;
  }
  if (any_busy && any_suspend) {
    wait_label_ = WaitLabel::mixed;
    for (RtaTask& task : tasks_) task.busy = task.busy && task.uses_gpu;
    return;
  }
  const bool all_busy = any_busy || (!any_suspend && choice == WaitChoice::busy);
  wait_label_ = all_busy ? WaitLabel::busy : WaitLabel::suspend;
  for (RtaTask& task : tasks_) task.busy = all_busy;
}

void RtaModel::order_tasks(const Taskset& taskset) {
  cpu_order_ = real_time_tasks_by(taskset, [&](TaskIndex index) { return taskset.tasks[index].priority; });
  set_gpu_order(real_time_tasks_by(taskset, [&](TaskIndex index) {
    // Equal GPU priorities (only tasks that do not use the GPU may have them) follow the CPU priorities.
    return std::pair(taskset.tasks[index].gpu_priority, taskset.tasks[index].priority);
  }));

  by_core_ = cpu_order_;
  std::ranges::stable_sort(by_core_, {}, [&](TaskIndex index) { return taskset.tasks[index].cpu; });
  core_begin_.resize(tasks_.size());
  core_place_.resize(tasks_.size());
  busy_higher_.resize(tasks_.size());
  std::size_t begin = 0;
  std::int64_t busy = 0;
  for (std::size_t place = 0; place < by_core_.size(); ++place) {
    const TaskIndex index = by_core_[place];
    if (place > 0 && taskset.tasks[index].cpu != taskset.tasks[by_core_[place - 1]].cpu) {
      begin = place;
      busy = 0;
    }
    core_begin_[index] = begin;
    core_place_[index] = place;
    busy_higher_[index] = busy;
    if (tasks_[index].busy && tasks_[index].uses_gpu) ++busy;
  }
}

std::span<const TaskIndex> RtaModel::higher_on_core(TaskIndex index) const {
  return std::span(by_core_).subspan(core_begin_[index], core_place_[index] - core_begin_[index]);
}

bool RtaModel::is_higher_on_core(TaskIndex other, TaskIndex than) const {
  if (tasks_[other].best_effort || tasks_[than].best_effort) return false;
  return core_begin_[other] == core_begin_[than] && core_place_[other] < core_place_[than];
}

std::span<const TaskIndex> RtaModel::higher_on_gpu(TaskIndex index) const {
  return std::span(gpu_order_).first(gpu_rank_[index]);
}

bool RtaModel::is_higher_on_gpu(TaskIndex other, TaskIndex than) const {
  return !tasks_[other].best_effort && (tasks_[than].best_effort || gpu_rank_[other] < gpu_rank_[than]);
}

void RtaModel::set_gpu_order(std::vector<TaskIndex> order) {
  gpu_order_ = std::move(order);
  gpu_rank_.resize(tasks_.size());
  for (std::size_t rank = 0; rank < gpu_order_.size(); ++rank) gpu_rank_[gpu_order_[rank]] = rank;
}

void RtaModel::swap_gpu_order(std::size_t a, std::size_t b) {
  std::swap(gpu_order_[a], gpu_order_[b]);
  gpu_rank_[gpu_order_[a]] = a;
  gpu_rank_[gpu_order_[b]] = b;
}

}  // namespace rtgpu
