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
  if (turn > Duration()) stage.time_slices = ceil_div(stage.work, turn);
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
  std::vector<TaskIndex> by_gpu(taskset.tasks.size());
  std::vector<std::vector<TaskIndex>> cores(static_cast<std::size_t>(taskset.platform.cpus));
  for (TaskIndex index = 0; index < taskset.tasks.size(); ++index) {
    const Task& task = taskset.tasks[index];
    model.staged_.push_back(staged_task(task, gpu));
    model.staged_.back().busy = wait == WaitChoice::busy || (wait == WaitChoice::file && task.wait == WaitMode::busy);
    policy_tasks.push_back({task.gpu_priority, task.best_effort, uses_gpu(task)});
    by_gpu[index] = index;
    cores[static_cast<std::size_t>(task.cpu)].push_back(index);
    model.has_copies_ =
        model.has_copies_ || std::ranges::count(model.staged_.back().devices, true, &DeviceStage::is_copy) > 0;
  }
  std::ranges::stable_sort(by_gpu, [&](TaskIndex a, TaskIndex b) {
    const Task& first = taskset.tasks[a];
    const Task& second = taskset.tasks[b];
    if (first.best_effort != second.best_effort) return second.best_effort;
    return first.gpu_priority > second.gpu_priority;
  });
  model.gpu_rank_.resize(by_gpu.size());
  for (std::size_t rank = 0; rank < by_gpu.size(); ++rank) model.gpu_rank_[by_gpu[rank]] = rank;
  if (gpu.stream_priorities) model.stream_levels_ = stream_levels(policy_tasks, *gpu.stream_priorities);

  model.lower_on_core_.resize(taskset.tasks.size());
  for (TaskIndex index = 0; index < taskset.tasks.size(); ++index) {
    if (taskset.tasks[index].best_effort) continue;
    for (const TaskIndex other : cores[static_cast<std::size_t>(taskset.tasks[index].cpu)]) {
      if (other != index && !model.order_.is_higher_on_core(other, index)) model.lower_on_core_[index].push_back(other);
    }
  }
  return model;
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
