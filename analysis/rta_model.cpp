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

struct SegmentPlace {
  TaskIndex task = 0;
  std::size_t segment = 0;
};

std::string pointer_to(SegmentPlace place) {
  return fmt::format("/tasks/{}/segments/{}", place.task, place.segment);
}

// Adds a segment to the sums; an error if the recurrences have no place for it.
std::optional<Error> add_segment(const Segment& segment, const Gpu& gpu, RtaTask& task, SegmentPlace place) {
  if (const auto* cpu = std::get_if<CpuSegment>(&segment)) {
    task.cpu += cpu->time.max;
    return std::nullopt;
  }
  if (std::holds_alternative<CopySegment>(segment)) {
    return unsupported(pointer_to(place), "a copy segment", "segments on a core or the GPU",
                       "This analysis has no copy engine; count the copy in misc or exec.");
  }
  const auto& work = std::get<GpuSegment>(segment);
  const std::optional<Duration> exec = work.exec ? work.exec->max : whole_gpu_exec(work, gpu.sms);
  if (!exec) {
    return unsupported(pointer_to(place) + "/gpu", "an execution time that depends on the number of SMs",
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

// Falls with the priority, so that sorting by it puts the highest first.
std::int64_t falling(int priority) {
  return -std::int64_t{priority};
}

}  // namespace

Result<RtaModel> RtaModel::of(const Taskset& taskset, WaitChoice wait, CopySegments copies) {
  RtaModel model;
  Errors errors = model.assign(taskset, wait, copies);
  if (!errors.empty()) return errors;
  return model;
}

Errors RtaModel::assign(const Taskset& taskset, WaitChoice wait, CopySegments copies) {
  if (taskset.platform.gpus.size() != 1) {
    return {unsupported("/platform/gpus", fmt::format("{} GPUs", taskset.platform.gpus.size()), "one GPU",
                        "Analyse each GPU with its tasks as a taskset of its own.")};
  }
  assign_tasks(taskset);
  Errors errors;
  for (TaskIndex index = 0; index < taskset.tasks.size(); ++index) {
    const std::vector<Segment>& segments = taskset.tasks[index].segments;
    for (std::size_t place = 0; place < segments.size(); ++place) {
      if (copies == CopySegments::covered && std::holds_alternative<CopySegment>(segments[place])) continue;
      auto error = add_segment(segments[place], taskset.platform.gpus.front(), tasks_[index], {index, place});
      if (error) errors.push_back(std::move(*error));
    }
  }
  if (!errors.empty()) return errors;
  resolve_wait(taskset, wait);
  order_tasks(taskset);
  return errors;
}

void RtaModel::assign_tasks(const Taskset& taskset) {
  overheads_ = taskset.platform.gpus.front().overheads;
  server_core_ = taskset.platform.gpus.front().server_cpu;
  tasks_.resize(taskset.tasks.size());
  for (TaskIndex index = 0; index < tasks_.size(); ++index) {
    const Task& task = taskset.tasks[index];
    RtaTask sums;
    sums.segments.swap(tasks_[index].segments);  // keeps their memory
    sums.segments.clear();
    sums.core = task.cpu;
    sums.period = task.period;
    sums.deadline = task.deadline;
    sums.release_jitter = task.jitter;
    sums.best_effort = task.best_effort;
    tasks_[index] = std::move(sums);
  }
}

// A task that does not use the GPU never waits for it. It takes the mode of the others where they agree, so that a file
// in which they do means the same as that mode for all.
void RtaModel::resolve_wait(const Taskset& taskset, WaitChoice choice) {
  bool any_busy = false;
  bool any_suspend = false;
  gpu_users_.clear();
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
  order_by_cpu_priority(taskset);
  order_by_gpu_priority(taskset);
  order_by_core(taskset);
}

// Highest first; equal ones in the order of the taskset.
void RtaModel::order_by_cpu_priority(const Taskset& taskset) {
  keys_.clear();
  for (TaskIndex index = 0; index < tasks_.size(); ++index) {
    if (!tasks_[index].best_effort) keys_.emplace_back(falling(taskset.tasks[index].priority), index);
  }
  std::ranges::sort(keys_);
  cpu_order_.clear();
  for (const auto& [key, index] : keys_) cpu_order_.push_back(index);
}

// Equal GPU priorities (only tasks that do not use the GPU may have them) follow the CPU priorities.
void RtaModel::order_by_gpu_priority(const Taskset& taskset) {
  keys_.clear();
  for (std::size_t place = 0; place < cpu_order_.size(); ++place) {
    keys_.emplace_back(falling(taskset.tasks[cpu_order_[place]].gpu_priority), place);
  }
  if (!std::ranges::is_sorted(keys_)) std::ranges::sort(keys_);
  gpu_order_.clear();
  for (const auto& [key, place] : keys_) gpu_order_.push_back(cpu_order_[place]);
  rank_gpu_order();
}

void RtaModel::order_by_core(const Taskset& taskset) {
  keys_.clear();
  for (std::size_t place = 0; place < cpu_order_.size(); ++place) {
    keys_.emplace_back(taskset.tasks[cpu_order_[place]].cpu, place);
  }
  std::ranges::sort(keys_);
  by_core_.clear();
  for (const auto& [key, place] : keys_) by_core_.push_back(cpu_order_[place]);
  core_begin_.assign(tasks_.size(), 0);
  core_place_.assign(tasks_.size(), 0);
  busy_higher_.assign(tasks_.size(), 0);
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

void RtaModel::set_gpu_order(std::vector<TaskIndex> order) {
  gpu_order_ = std::move(order);
  rank_gpu_order();
}

void RtaModel::rank_gpu_order() {
  gpu_rank_.assign(tasks_.size(), 0);
  for (std::size_t rank = 0; rank < gpu_order_.size(); ++rank) gpu_rank_[gpu_order_[rank]] = rank;
}

void RtaModel::swap_gpu_order(std::size_t a, std::size_t b) {
  std::swap(gpu_order_[a], gpu_order_[b]);
  gpu_rank_[gpu_order_[a]] = a;
  gpu_rank_[gpu_order_[b]] = b;
}

}  // namespace rtgpu
