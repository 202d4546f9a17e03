#include "taskset/taskset.h"

#include <algorithm>
#include <limits>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

// (W * interleave - L) / (2 sms) + L, rounded up.
Duration on_virtual_sms(const ParallelWork& parallel, int sms) {
  constexpr Int128 kOne = 1'000'000;
  const Int128 work = Int128{parallel.work.max.count()} * parallel.interleave_millionths;
  const Int128 span = Int128{parallel.span.max.count()} * kOne;
  const Int128 divisor = 2 * Int128{sms} * kOne;
  const Int128 shared = std::max<Int128>(work - span, 0);
  const Int128 bound = (shared + divisor - 1) / divisor + parallel.span.max.count();
  if (bound >= std::numeric_limits<std::int64_t>::max()) return Duration::infinite();
  return Duration::nanoseconds(static_cast<std::int64_t>(bound));
}

bool is_range(const ExecutionTime& time) {
  return time.min != time.max;
}

bool gives_best_case(const GpuSegment& gpu) {
  if (is_range(gpu.misc) || (gpu.exec && is_range(*gpu.exec))) return true;
  if (gpu.parallel && (is_range(gpu.parallel->work) || is_range(gpu.parallel->span))) return true;
  return std::ranges::any_of(gpu.exec_by_sms, [](const ExecOnSms& entry) { return is_range(entry.time); });
}

bool gives_best_case(const Segment& segment) {
  if (const auto* cpu = std::get_if<CpuSegment>(&segment)) return is_range(cpu->time);
  if (const auto* copy = std::get_if<CopySegment>(&segment)) return is_range(copy->time);
  return gives_best_case(std::get<GpuSegment>(segment));
}

// The entry with the most SMs that exist, if any.
const ExecOnSms* entry_on(const GpuSegment& segment, int sms) {
  const ExecOnSms* most = nullptr;
  for (const ExecOnSms& entry : segment.exec_by_sms) {
    if (entry.sms <= sms) most = &entry;
  }
  return most;
}

// Worst-case time on the core and on the GPU.
Duration demand_of(const Segment& segment) {
  if (const auto* cpu = std::get_if<CpuSegment>(&segment)) return cpu->time.max;
  const auto* gpu = std::get_if<GpuSegment>(&segment);
  if (gpu == nullptr) return {};
  return gpu->exec ? gpu->misc.max + gpu->exec->max : gpu->misc.max;
}

}  // namespace

std::string_view to_string(WaitMode mode) {
  return mode == WaitMode::suspend ? "suspend" : "busy";
}

std::string_view to_string(LockWait mode) {
  return mode == LockWait::suspend ? "suspend" : "spin";
}

std::vector<std::int64_t> utilisation_per_cpu(const Taskset& taskset) {
  // Summed in 10^-12, so that the rounding of many tasks does not show.
  constexpr Int128 kParts = 1'000'000'000'000;
  constexpr Int128 kMillionth = 1'000'000;
  std::vector<Int128> sums(static_cast<std::size_t>(taskset.platform.cpus));
  for (const Task& task : taskset.tasks) {
    Duration demand;
    for (const Segment& segment : task.segments) demand += demand_of(segment);
    sums[static_cast<std::size_t>(task.cpu)] += demand.count() * kParts / task.period.count();
  }
  std::vector<std::int64_t> utilisations;
  for (const Int128 sum : sums) {
    utilisations.push_back(static_cast<std::int64_t>((sum + kMillionth / 2) / kMillionth));
  }
  return utilisations;
}

bool uses_gpu(const Task& task) {
  return std::ranges::any_of(task.segments, [](const Segment& s) { return std::holds_alternative<GpuSegment>(s); });
}

std::optional<Duration> whole_gpu_exec(const GpuSegment& segment, std::optional<int> sms) {
  if (segment.exec) return segment.exec->max;
  if (!sms) return std::nullopt;
  const ExecOnSms* most = entry_on(segment, *sms);
  if (most != nullptr) return most->time.max;
  if (segment.parallel) return on_virtual_sms(*segment.parallel, *sms);
  return std::nullopt;
}

std::optional<ExecutionTime> gpu_exec_on(const GpuSegment& segment, int sms, int all) {
  std::optional<ExecutionTime> known;
  if (const ExecOnSms* entry = entry_on(segment, sms)) known = entry->time;
  if (segment.parallel) {
    const std::int64_t virtual_sms = 2 * std::int64_t{sms};
    const Duration least = Duration::nanoseconds(segment.parallel->work.min.count() / virtual_sms);
    const Duration most = on_virtual_sms(*segment.parallel, sms);
    known = known ? ExecutionTime{std::min(known->min, least), std::min(known->max, most)} : ExecutionTime{least, most};
  }
  if (!known && sms >= all) known = segment.exec;
  return known;
}

bool gives_best_cases(const Taskset& taskset) {
  return std::ranges::any_of(taskset.tasks, [](const Task& task) {
    return std::ranges::any_of(task.segments, [](const Segment& segment) { return gives_best_case(segment); });
  });
}

}  // namespace rtgpu
