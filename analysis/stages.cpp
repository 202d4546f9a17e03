#include "analysis/stages.h"

#include "rtgpu/policies/stream_priority.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

// `times` are those that RtaModel has found.
DeviceStage gpu_stage(const GpuSegment& segment, RtaGpuSegment times, const Gpu& gpu) {
  DeviceStage device;
  device.misc = times.misc;
  device.work = times.exec;
  device.slices = segment.slices;
  if (segment.slices > 1) {
    device.launches = gpu.overheads.launch * (segment.slices - 1);
    const Duration exec = times.exec - device.launches;
    const Duration slice = Duration::nanoseconds(ceil_div(exec, Duration::nanoseconds(segment.slices)));
    device.longest_slice = std::min(slice + gpu.overheads.launch, device.work);
  } else {
    device.longest_slice = device.work;
  }
  device.is_interruptible = segment.block.has_value();
  device.longest_block = std::min(segment.block.value_or(device.work), device.work);
  const Duration turn = gpu.overheads.time_slice;
  // Work that takes no time waits for a turn all the same.
  if (turn > Duration()) device.time_slices = std::max<std::int64_t>(1, ceil_div(device.work, turn));
  return device;
}

DeviceStage copy_stage(const CopySegment& segment, const Gpu& gpu) {
  DeviceStage device;
  device.is_copy = true;
  device.work = segment.time.max;
  device.copy_engine = gpu.copy_engines > 1 && segment.direction == CopyDirection::to_host ? 1 : 0;
  return device;
}

void stage(const Task& task, const RtaTask& sums, const Gpu& gpu, StagedTask& staged) {
  staged.host.clear();
  staged.devices.clear();
  staged.spins = task.lock_wait == LockWait::spin;
  staged.host.emplace_back();
  std::size_t gpu_segment = 0;
  for (const Segment& segment : task.segments) {
    if (const auto* cpu = std::get_if<CpuSegment>(&segment)) {
      staged.host.back() += cpu->time.max;
      continue;
    }
    if (const auto* copy = std::get_if<CopySegment>(&segment)) {
      staged.devices.push_back(copy_stage(*copy, gpu));
    } else {
      staged.devices.push_back(gpu_stage(std::get<GpuSegment>(segment), sums.segments[gpu_segment++], gpu));
    }
    staged.host.emplace_back();
  }
  staged.cpu_total = sums.cpu;
  staged.misc_total = sums.misc;
  staged.gpu_total = sums.exec;
  staged.gpu_stages = sums.gpu_segments;
}

}  // namespace

Result<StagedModel> StagedModel::of(const Taskset& taskset, WaitChoice wait) {
  StagedModel model;
  Errors errors = model.assign(taskset, wait);
  if (!errors.empty()) return errors;
  return model;
}

Errors StagedModel::assign(const Taskset& taskset, WaitChoice wait) {
  Errors errors = order_.assign(taskset, wait, CopySegments::covered);
  if (!errors.empty()) return errors;
  assign_stages(taskset, wait);
  order_best_effort(taskset);
  order_cores(taskset);
  map_to_streams(taskset);
  return errors;
}

void StagedModel::assign_stages(const Taskset& taskset, WaitChoice wait) {
  const Gpu& gpu = taskset.platform.gpus.front();
  has_copies_ = false;
  staged_.resize(taskset.tasks.size());
  for (TaskIndex index = 0; index < staged_.size(); ++index) {
    const Task& task = taskset.tasks[index];
    StagedTask& staged = staged_[index];
    stage(task, order_.task(index), gpu, staged);
    staged.busy = wait == WaitChoice::busy || (wait == WaitChoice::file && task.wait == WaitMode::busy);
    has_copies_ = has_copies_ || std::ssize(staged.devices) > staged.gpu_stages;
  }
}

void StagedModel::map_to_streams(const Taskset& taskset) {
  stream_levels_.clear();
  stream_priorities_ = taskset.platform.gpus.front().stream_priorities;
  given_stream_levels_.clear();
  if (!stream_priorities_) return;
  std::vector<PolicyTask> policy_tasks;
  for (const Task& task : taskset.tasks) {
    policy_tasks.push_back({task.gpu_priority, task.best_effort, uses_gpu(task)});
  }
  stream_levels_ = rtgpu::stream_levels(policy_tasks, *stream_priorities_);
  given_stream_levels_ = stream_levels_;
}

void StagedModel::map_order_to_streams() {
  std::vector<PolicyTask> policy_tasks;
  for (TaskIndex index = 0; index < size(); ++index) {
    const RtaTask& each = task(index);
    const int priority = each.best_effort ? 0 : -static_cast<int>(order_.gpu_rank(index));
    policy_tasks.push_back({priority, each.best_effort, each.uses_gpu});
  }
  stream_levels_ = rtgpu::stream_levels(policy_tasks, stream_priorities_.value_or(1));
}

void StagedModel::order_best_effort(const Taskset& taskset) {
  std::vector<TaskIndex> best_effort;
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (taskset.tasks[task].best_effort) best_effort.push_back(task);
  }
  std::ranges::stable_sort(best_effort, [&](TaskIndex a, TaskIndex b) {
    return taskset.tasks[a].gpu_priority > taskset.tasks[b].gpu_priority;
  });
  best_effort_rank_.assign(taskset.tasks.size(), 0);
  best_effort_users_.clear();
  std::size_t rank = order_.gpu_order().size();
  for (const TaskIndex task : best_effort) {
    best_effort_rank_[task] = rank++;
    if (order_.task(task).uses_gpu) best_effort_users_.push_back(task);
  }
}

void StagedModel::order_cores(const Taskset& taskset) {
  const auto core_of = [&](TaskIndex task) { return static_cast<std::size_t>(taskset.tasks[task].cpu); };
  const auto count = static_cast<std::size_t>(taskset.platform.cpus);
  // Where the tasks of each core begin, which moves on to their end as they are put there.
  core_ends_.assign(count + 1, 0);
  for (TaskIndex task = 0; task < staged_.size(); ++task) ++core_ends_[core_of(task) + 1];
  for (std::size_t core = 0; core < count; ++core) core_ends_[core + 1] += core_ends_[core];
  core_places_.assign(staged_.size(), {});
  for (TaskIndex task = 0; task < staged_.size(); ++task) core_places_[task].begin = core_ends_[core_of(task)];
  by_core_.resize(staged_.size());
  const auto put = [&](TaskIndex task) { by_core_[core_ends_[core_of(task)]++] = task; };
  for (const TaskIndex task : order_.cpu_order()) put(task);
  for (TaskIndex task = 0; task < staged_.size(); ++task) core_places_[task].real_time = core_ends_[core_of(task)];
  for (TaskIndex task = 0; task < staged_.size(); ++task) {
    if (taskset.tasks[task].best_effort) put(task);
  }
  std::int64_t waiters = 0;
  for (std::size_t place = 0; place < by_core_.size(); ++place) {
    const TaskIndex task = by_core_[place];
    CorePlace& here = core_places_[task];
    if (place == here.begin) waiters = 0;
    here.end = core_ends_[core_of(task)];
    here.place = place;
    here.waiters_above = waiters;
    if (staged_[task].gpu_stages > 0 && (staged_[task].busy || staged_[task].spins)) ++waiters;
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
  const auto is_elsewhere = [&](TaskIndex other) { return first_place_on_core(other) != first_place_on_core(task); };
  if (order_.task(task).best_effort) {
    return std::ranges::any_of(gpu_users(),
                               [&](TaskIndex other) { return is_elsewhere(other) && !is_higher_on_gpu(other, task); });
  }
  if (std::ranges::any_of(best_effort_users_, is_elsewhere)) return true;
  // From the lowest up: mostly one of the first is it.
  for (std::size_t rank = order_.gpu_order().size(); rank-- > order_.gpu_rank(task) + 1;) {
    const TaskIndex other = order_.gpu_order()[rank];
    if (order_.task(other).uses_gpu && is_elsewhere(other)) return true;
  }
  return false;
}

Duration demand_alone(const StagedTask& task) {
  Duration sum = task.cpu_total;
  for (const DeviceStage& device : task.devices) sum += device.misc + device.work;
  return sum;
}

void set_least_known(const StagedTask& task, KnownTask& known) {
  const std::size_t stages = task.devices.size();
  known.submitted.resize(stages);
  known.completed.resize(stages);
  known.waits.resize(stages);
  known.response = Duration();
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const DeviceStage& device = task.devices[stage];
    known.response += task.host[stage] + device.misc;
    known.submitted[stage] = known.response;
    known.response += device.work;
    known.completed[stage] = known.response;
    known.waits[stage] = device.work;
  }
  known.response += task.host.back();
}

KnownTask least_known(const StagedTask& task) {
  KnownTask known;
  set_least_known(task, known);
  return known;
}

KnownTask nothing_known(const StagedTask& task) {
  const std::vector<Duration> none(task.devices.size(), Duration::infinite());
  return {Duration::infinite(), none, none, none};
}

}  // namespace rtgpu
