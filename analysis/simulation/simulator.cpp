#include "analysis/simulation/simulator.h"

#include "analysis/search/sm_partition.h"
#include "analysis/simulation/run.h"
#include "rtgpu/gpu_policy.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Error not_simulated(std::string pointer, std::string found, std::string expected, std::string advice) {
  return Error{ErrorCode::unsupported, Place{{}, std::move(pointer), 0, 0}, std::move(found), std::move(expected),
               std::move(advice)};
}

Errors uncovered(const Taskset& taskset) {
  Errors errors;
  if (taskset.platform.gpus.size() != 1) {
    errors.push_back(not_simulated("/platform/gpus", fmt::format("{} GPUs", taskset.platform.gpus.size()), "one GPU",
                                   "Simulate each GPU with its tasks as a taskset of its own."));
    return errors;
  }
  for (std::size_t task = 0; task < taskset.tasks.size(); ++task) {
    for (std::size_t place = 0; place < taskset.tasks[task].segments.size(); ++place) {
      const auto* gpu = std::get_if<GpuSegment>(&taskset.tasks[task].segments[place]);
      if (gpu == nullptr || whole_gpu_exec(*gpu, taskset.platform.gpus.front().sms)) continue;
      errors.push_back(not_simulated(fmt::format("/tasks/{}/segments/{}/gpu", task, place),
                                     "an execution time that depends on the number of SMs",
                                     "the execution time on the whole GPU", "Give exec, or platform.gpus[0].sms."));
    }
  }
  return errors;
}

}  // namespace

PolicySetup policy_setup(const Taskset& taskset) {
  const Gpu& gpu = taskset.platform.gpus.front();
  PolicySetup setup;
  for (const Task& task : taskset.tasks) setup.tasks.push_back({task.gpu_priority, task.best_effort, uses_gpu(task)});
  setup.runlist_update = gpu.overheads.runlist_update;
  setup.context_switch = gpu.overheads.context_switch;
  setup.time_slice = gpu.overheads.time_slice;
  setup.lock = gpu.overheads.lock;
  setup.stream_levels = gpu.stream_priorities.value_or(0);
  return setup;
}

Result<Simulator> Simulator::of(const Taskset& taskset, Policy policy, WaitChoice wait) {
  if (policy != Policy::federated) return of_whole_gpu(taskset, policy, wait);
  Result<PartitionedTaskset> partitioned = on_sm_partition(taskset, wait);
  if (!partitioned) return std::move(partitioned.errors());
  return of_whole_gpu(std::move(partitioned->taskset), policy, wait);
}

Result<Simulator> Simulator::of_whole_gpu(Taskset taskset, Policy policy, WaitChoice wait) {
  Errors errors = uncovered(taskset);
  if (!errors.empty()) return errors;
  Result<std::unique_ptr<GpuPolicy>> made = make_policy(policy, policy_setup(taskset));
  if (!made) return std::move(made.errors());
  auto run = std::make_unique<Run>(taskset, std::move(*made), policy, wait);
  return Simulator(std::move(taskset), std::move(run));
}

Simulator::Simulator(Taskset taskset, std::unique_ptr<Run> run) : taskset_(std::move(taskset)), run_(std::move(run)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

void Simulator::watch(std::function<void(Duration)> watch) {
  run_->watch(std::move(watch));
}

const Observation& Simulator::run(const Scenario& scenario, Duration horizon, Schedule* schedule) {
  return run_->run(scenario, horizon, schedule);
}

}  // namespace rtgpu
