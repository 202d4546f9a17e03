#include "taskset/importers/imported.h"

#include <queue>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

// Worst-case CPU and GPU time over the period, in billionths.
Int128 load_of(const Task& task) {
  Int128 demand = 0;
  for (const Segment& segment : task.segments) {
    if (const auto* cpu = std::get_if<CpuSegment>(&segment)) demand += cpu->time.max.count();
    if (const auto* gpu = std::get_if<GpuSegment>(&segment)) {
      demand += gpu->misc.max.count() + (gpu->exec ? gpu->exec->max.count() : 0);
    }
  }
  return demand * 1'000'000'000 / task.period.count();
}

struct CoreLoad {
  Int128 load = 0;
  int core = 0;
};

// Whether a task rather goes to `b`.
struct MoreLoaded {
  bool operator()(const CoreLoad& a, const CoreLoad& b) const {
    return a.load != b.load ? a.load > b.load : a.core > b.core;
  }
};

}  // namespace

void place_in_order(Taskset& taskset, int cpus) {
  taskset.platform.cpus = cpus;
  std::priority_queue<CoreLoad, std::vector<CoreLoad>, MoreLoaded> cores;
  for (int core = 0; core < cpus; ++core) cores.push({0, core});
  for (Task& task : taskset.tasks) {
    CoreLoad least = cores.top();
    cores.pop();
    task.cpu = least.core;
    least.load += load_of(task);
    cores.push(least);
  }
}

Result<Imported> imported(std::vector<Taskset> tasksets, std::vector<std::string> notes, const std::string& source) {
  for (const Taskset& taskset : tasksets) {
    Errors errors = validate(taskset);
    if (errors.empty()) continue;
    for (Error& error : errors) error.place.source = source;
    return errors;
  }
  return Imported{std::move(tasksets), std::move(notes)};
}

}  // namespace rtgpu
