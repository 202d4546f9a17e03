#include "taskset/generators/gcaps_table3.h"

#include "taskset/generators/random.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::int64_t kHundredth = kMillion / 100;
constexpr std::int64_t kProgramStep = 5 * kHundredth;

class Generator {
 public:
  Generator(const GcapsTable3& parameters, std::uint64_t seed) : parameters_(parameters), seed_(seed), random_(seed) {}

  Taskset make() {
    Taskset taskset;
    taskset.platform = platform_of(parameters_);
    Origin origin;
    origin.generator = "gcaps-table3";
    origin.seed = seed_;
    const std::int64_t gpu_share = draw(random_, parameters_.gpu_share);  // of the taskset
    for (int cpu = 0; parameters_.tasks == 0 && cpu < parameters_.cpus; ++cpu) {
      const auto count = static_cast<std::size_t>(draw(random_, parameters_.tasks_per_cpu));
      const std::int64_t utilisation = draw(random_, parameters_.utilisation_per_cpu);
      origin.requested.push_back(utilisation);
      const auto split = parameters_.as_program ? &split_unevenly : &split_uniformly;
      for (const std::int64_t share : split(random_, utilisation, count)) {
        add_task(taskset, share, gpu_share);
        taskset.tasks.back().cpu = cpu;
      }
    }
    for (int task = 0; task < parameters_.tasks; ++task) add_task(taskset, draw_task_utilisation(), gpu_share);
    draw_best_effort(random_, parameters_.best_effort_share, taskset);
    if (parameters_.sms > 0) give_parallel_work(taskset, parameters_.sms);
    assign_rate_monotonic(taskset);
    allocate(taskset);
    if (parameters_.tasks > 0) origin.requested = drawn_for_cores(taskset);
    origin.achieved = utilisation_per_cpu(taskset);
    taskset.origin = std::move(origin);
    return taskset;
  }

 private:
  std::int64_t draw_task_utilisation() {
    const Range range = parameters_.task_utilisation;
    const std::int64_t steps = (range.high - range.low) / kProgramStep;
    if (!parameters_.as_program || steps == 0) return draw(random_, range);
    return range.low + kProgramStep * random_.between(0, steps - 1);
  }

  void allocate(Taskset& taskset) const {
    if (!parameters_.as_program) {
      allocate_worst_fit(taskset, utilisations_);
    } else if (parameters_.tasks > 0) {
      allocate_worst_fit_in_order(taskset, utilisations_);
    }
  }

  void add_task(Taskset& taskset, std::int64_t utilisation, std::int64_t gpu_share) {
    if (parameters_.as_program) {
      utilisation = std::max(kHundredth, (utilisation + kHundredth / 2) / kHundredth * kHundredth);
      gpu_share = draw(random_, parameters_.gpu_share);
    }
    const bool uses_gpu = random_.between(0, kMillion - 1) < gpu_share;
    Task task;
    task.name = fmt::format("task{}", taskset.tasks.size());
    task.period = Duration::milliseconds(draw(random_, parameters_.period_ms));
    task.deadline = task.period;
    const SegmentShape shape{parameters_.gpu_segments, parameters_.gpu_to_cpu, parameters_.misc_share,
                             parameters_.as_program};
    task.segments = draw_segments(random_, shape, share_of(task.period.count(), utilisation), uses_gpu);
    taskset.tasks.push_back(std::move(task));
    utilisations_.push_back(utilisation);
  }

  // What was drawn for the tasks of each core.
  std::vector<std::int64_t> drawn_for_cores(const Taskset& taskset) const {
    std::vector<std::int64_t> sums(static_cast<std::size_t>(taskset.platform.cpus));
    for (std::size_t task = 0; task < utilisations_.size(); ++task) {
      sums[static_cast<std::size_t>(taskset.tasks[task].cpu)] += utilisations_[task];
    }
    return sums;
  }

  const GcapsTable3& parameters_;
  std::uint64_t seed_;
  Random random_;
  std::vector<std::int64_t> utilisations_;  // by task, in millionths
};

}  // namespace

Taskset generate(const GcapsTable3& parameters, std::uint64_t seed) {
  return Generator(parameters, seed).make();
}

}  // namespace rtgpu
