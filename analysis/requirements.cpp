#include "analysis/requirements.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

// A lower bound of the utilisation of a resource, in units of 2^-30.
class UtilisationFloor {
 public:
  void add(Duration demand, Duration period) {
    // demand <= period where this is used, so the shift stays within 128 bits and the share within 2^30.
    sum_ += static_cast<std::int64_t>((Int128{demand.count()} << kFraction) / period.count());
  }
  bool is_above_one() const { return sum_ > (std::int64_t{1} << kFraction); }

 private:
  static constexpr int kFraction = 30;
  std::int64_t sum_ = 0;
};

std::optional<Error> missing_time_slice(const Gpu& gpu, Policy policy) {
  if (gpu.overheads.time_slice > Duration()) return std::nullopt;
  return Error{ErrorCode::unsupported, Place{{}, "/platform/gpus/0/overheads/time_slice", 0, 0}, "no time slice",
               "a time above 0",
               fmt::format("Give the length of a time slice: {} serves the GPU in slices.", to_string(policy))};
}

std::optional<Error> missing_stream_priorities(const Gpu& gpu, Policy policy) {
  if (gpu.stream_priorities) return std::nullopt;
  return Error{ErrorCode::unsupported, Place{{}, "/platform/gpus/0/stream_priorities", 0, 0},
               "no number of stream priorities", "a number above 0",
               fmt::format("Give the number of stream priorities of the GPU: {} maps GPU priorities to them.",
                           to_string(policy))};
}

}  // namespace

std::optional<Error> missing_need(const RegisteredAnalysis& analysis, const Taskset& taskset) {
  const Gpu& gpu = taskset.platform.gpus.front();
  switch (analysis.needs) {
    case Needs::time_slice:
      return missing_time_slice(gpu, analysis.entry.policy);
    case Needs::stream_priorities:
      return missing_stream_priorities(gpu, analysis.entry.policy);
    case Needs::sm_partition:  // the taskset is one on its partition already
    case Needs::nothing:
      break;
  }
  return std::nullopt;
}

std::optional<Error> missing_search(const RegisteredAnalysis& analysis, GpuPriorities asked) {
  if (asked == GpuPriorities::file || analysis.entry.gpu_priority_search) return std::nullopt;
  return Error{ErrorCode::unsupported,
               {},
               "a search for GPU priorities",
               "the GPU priorities of the taskset",
               fmt::format("There is no such search for {}.", to_string(analysis.entry.policy))};
}

void check_utilisation(const RtaModel& model, const Taskset& taskset, Policy policy) {
  std::vector<UtilisationFloor> cores(static_cast<std::size_t>(taskset.platform.cpus));
  UtilisationFloor gpu;
  for (TaskIndex index = 0; index < model.size(); ++index) {
    const RtaTask& task = model.task(index);
    if (task.best_effort) continue;
    // Not exec of a task that waits busily: it goes on while the task is preempted.
    cores[static_cast<std::size_t>(taskset.tasks[index].cpu)].add(task.cpu + task.misc, task.period);
    gpu.add(task.exec, task.period);
  }
  bool above = policy != Policy::federated && gpu.is_above_one();
  for (const UtilisationFloor& core : cores) above = above || core.is_above_one();
  if (above) throw std::logic_error("a taskset with a utilisation above 1 was called schedulable");
}

}  // namespace rtgpu
