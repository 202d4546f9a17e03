#include "taskset/exporters/exported.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::array kLargestUnitFirst = {TimeUnit::s, TimeUnit::ms, TimeUnit::us, TimeUnit::ns};

bool all_whole(const std::vector<Duration>& times, TimeUnit unit) {
  return std::ranges::all_of(times, [&](Duration time) { return time.count() % length_of(unit) == 0; });
}

Result<ExecutionTime> segment_time(const Segment& segment, const Gpu& gpu) {
  if (const auto* cpu = std::get_if<CpuSegment>(&segment)) return cpu->time;
  if (const auto* copy = std::get_if<CopySegment>(&segment)) return copy->time;
  return gpu_time(std::get<GpuSegment>(segment), gpu);
}

bool has_copy(const Task& task) {
  return std::ranges::any_of(task.segments, [](const Segment& s) { return std::holds_alternative<CopySegment>(s); });
}

}  // namespace

std::int64_t length_of(TimeUnit unit) {
  constexpr std::array<std::int64_t, 4> kNanoseconds = {1, 1'000, 1'000'000, 1'000'000'000};
  return kNanoseconds[static_cast<std::size_t>(unit)];
}

Result<TimeUnit> unit_for(const std::vector<Duration>& times, const ExportOptions& options) {
  if (!options.unit)
    return *std::ranges::find_if(kLargestUnitFirst, [&](TimeUnit unit) { return all_whole(times, unit); });
  if (all_whole(times, *options.unit)) return *options.unit;
  Error error;
  error.code = ErrorCode::conflict;
  error.found = fmt::format("times that are not whole numbers of {}", to_string(*options.unit));
  error.expected = "a unit in which all times are whole";
  error.advice = "Take a smaller unit; in ns all are.";
  return error;
}

Result<ExecutionTime> gpu_time(const GpuSegment& segment, const Gpu& gpu) {
  const auto worst = whole_gpu_exec(segment, gpu.sms);
  if (!worst) {
    Error error;
    error.code = ErrorCode::unsupported;
    error.found = "a GPU segment whose time depends on the number of SMs, which is not given";
    error.expected = "exec, or sms of the GPU";
    return error;
  }
  const Duration best = segment.exec ? segment.exec->min : Duration();
  return ExecutionTime{segment.misc.min + best,
                       segment.misc.max + *worst + gpu.overheads.launch * (segment.slices - 1)};
}

Result<ExecutionTime> time_of_all(const Task& task, const Gpu& gpu) {
  ExecutionTime all;
  for (const Segment& segment : task.segments) {
    const Result<ExecutionTime> time = segment_time(segment, gpu);
    if (!time) return time.errors();
    all.min += time->min;
    all.max += time->max;
  }
  return all;
}

std::vector<std::string> lost_properties(const Taskset& taskset) {
  std::vector<std::string> lost;
  const auto& tasks = taskset.tasks;
  const auto best_effort = std::ranges::count_if(tasks, &Task::best_effort);
  if (best_effort > 0) lost.push_back(fmt::format("{} best-effort tasks are left out", best_effort));
  const Gpu& gpu = taskset.platform.gpus.front();
  if (gpu.overheads != Overheads{})
    lost.emplace_back("overheads of the platform are left out, but for launches of slices");
  if (std::ranges::any_of(tasks, has_copy)) lost.emplace_back("copies count as time on the core");
  return lost;
}

}  // namespace rtgpu
