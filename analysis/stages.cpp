#include "analysis/stages.h"

#include "rtgpu/policies/stream_priority.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

DeviceStage gpu_stage(const GpuSegment& segment, const Gpu& gpu) {
  DeviceStage stage;
  const Duration exec = whole_gpu_exec(segment, gpu.sms).value_or(Duration());
  stage.misc = segment.misc.max;
  stage.slices = segment.slices;
  stage.launches = gpu.overheads.launch * (segment.slices - 1);
  stage.work = exec + stage.launches;
  const Duration slice = Duration::nanoseconds(ceil_div(exec, Duration::nanoseconds(segment.slices)));
  stage.longest_slice = segment.slices > 1 ? std::min(slice + gpu.overheads.launch, stage.work) : stage.work;
  stage.is_interruptible = segment.block.has_value();
  stage.longest_block = std::min(segment.block.value_or(stage.work), stage.work);
  const Duration turn = gpu.overheads.time_slice;
  // Work that takes no time waits for a turn all the same.
  if (turn > Duration()) stage.time_slices = std::max<std::int64_t>(1, ceil_div(stage.work, turn));
  return stage;
}

StagedTask staged_task(const Task& task, const Gpu& gpu) {
  StagedTask staged;
  staged.spins = task.lock_wait == LockWait::spin;
  staged.host.emplace_back();
  for (const Segment& segment : task.segments) {
    if (const auto* cpu = std::get_if<CpuSegment>(&segment)) {
      staged.host.back() += cpu->time.max;
      continue;
    }
    if (const auto* copy = std::get_if<CopySegment>(&segment)) {
      DeviceStage stage;
      stage.is_copy = true;
      stage.work = copy->time.max;
      stage.copy_engine = gpu.copy_engines > 1 && copy->direction == CopyDirection::to_host ? 1 : 0;
      staged.devices.push_back(stage);
    } else {
      staged.devices.push_back(gpu_stage(std::get<GpuSegment>(segment), gpu));
    }
    staged.host.emplace_back();
  }
  return staged;
}

}  // namespace

Duration StagedTask::cpu_total() const {
  Duration sum;
  for (const Duration time : host) sum += time;
  return sum;
}

Duration StagedTask::misc_total() const {
  Duration sum;
  for (const DeviceStage& stage : devices) sum += stage.misc;
  return sum;
}

Duration StagedTask::gpu_total() const {
  Duration sum;
  for (const DeviceStage& stage : devices) sum += stage.is_copy ? Duration() : stage.work;
  return sum;
}

std::int64_t StagedTask::gpu_stages() const {
  return std::ranges::count(devices, false, &DeviceStage::is_copy);
}

Result<StagedModel> StagedModel::of(const Taskset& taskset, WaitChoice wait) {
  Result<RtaModel> order = RtaModel::of(taskset, wait, CopySegments::covered);
  if (!order) return std::move(order.errors());
  StagedModel model(std::move(*order));
  const Gpu& gpu = taskset.platform.gpus.front();

  std::vector<PolicyTask> policy_tasks;
  for (const Task& task : taskset.tasks) {
    model.staged_.push_back(staged_task(task, gpu));
    model.staged_.back().busy = wait == WaitChoice::busy || (wait == WaitChoice::file && task.wait == WaitMode::busy);
    policy_tasks.push_back({task.gpu_priority, task.best_effort, uses_gpu(task)});
    model.has_copies_ =
        model.has_copies_ || std::ranges::count(model.staged_.back().devices, true, &DeviceStage::is_copy) > 0;
  }
  model.order_best_effort(taskset);
  model.order_cores(taskset);
  if (gpu.stream_priorities) model.stream_levels_ = rtgpu::stream_levels(policy_tasks, *gpu.stream_priorities);
  return model;
}

void StagedModel::order_best_effort(const Taskset& taskset) {
  std::vector<TaskIndex> best_effort;
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (taskset.tasks[task].best_effort) best_effort.push_back(task);
  }
  std::ranges::stable_sort(best_effort, [&](TaskIndex a, TaskIndex b) {
    return taskset.tasks[a].gpu_priority > taskset.tasks[b].gpu_priority;
  });
  best_effort_rank_.resize(taskset.tasks.size());
  std::size_t rank = order_.gpu_order().size();
  for (const TaskIndex task : best_effort) best_effort_rank_[task] = rank++;
}

void StagedModel::order_cores(const Taskset& taskset) {
  std::vector<std::vector<TaskIndex>> cores(static_cast<std::size_t>(taskset.platform.cpus));
  const auto core_of = [&](TaskIndex task) { return static_cast<std::size_t>(taskset.tasks[task].cpu); };
  for (const TaskIndex task : order_.cpu_order()) cores[core_of(task)].push_back(task);
  std::vector<std::size_t> real_time;
  for (const std::vector<TaskIndex>& core : cores) real_time.push_back(core.size());
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (taskset.tasks[task].best_effort) cores[core_of(task)].push_back(task);
  }
  core_places_.resize(taskset.tasks.size());
  for (std::size_t core = 0; core < cores.size(); ++core) {
    const std::size_t begin = by_core_.size();
    std::int64_t waiters = 0;
    for (const TaskIndex task : cores[core]) {
      core_places_[task] = {begin, begin + real_time[core], begin + cores[core].size(), by_core_.size(), waiters};
      by_core_.push_back(task);
      if (staged_[task].gpu_stages() > 0 && (staged_[task].busy || staged_[task].spins)) ++waiters;
    }
  }
}

std::span<const TaskIndex> StagedModel::lower_on_core(TaskIndex task) const {
  const CorePlace& place = core_places_[task];
  return std::span(by_core_).subspan(place.place + 1, place.end - place.place - 1);
}

std::span<const TaskIndex> StagedModel::higher_on_core(TaskIndex task) const {
  const CorePlace& place = core_places_[task];
  return std::span(by_core_).subspan(place.begin, std::min(place.place, place.real_time) - place.begin);
}

bool StagedModel::is_lower_on_core(TaskIndex other, TaskIndex task) const {
  const CorePlace& place = core_places_[task];
  return core_places_[other].place > place.place && core_places_[other].place < place.end;
}

bool StagedModel::has_gpu_user_below_elsewhere(TaskIndex task) const {
  return std::ranges::any_of(gpu_users(), [&](TaskIndex other) {
    return first_place_on_core(other) != first_place_on_core(task) && !is_higher_on_gpu(other, task);
  });
}

KnownTask least_known(const StagedTask& task) {
  KnownTask known;
  for (std::size_t stage = 0; stage < task.devices.size(); ++stage) {
    const DeviceStage& device = task.devices[stage];
    known.response += task.host[stage] + device.misc;
    known.submitted.push_back(known.response);
    known.response += device.work;
    known.completed.push_back(known.response);
    known.waits.push_back(device.work);
  }
  known.response += task.host.back();
  return known;
}

KnownTask nothing_known(const StagedTask& task) {
  const std::vector<Duration> none(task.devices.size(), Duration::infinite());
  return {Duration::infinite(), none, none, none};
}

}  // namespace rtgpu
