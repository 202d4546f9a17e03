// Discrete-event simulation of a taskset under a GPU access policy: integer time, partitioned preemptive fixed-priority
// cores, one GPU, copy engines, and the policy's own state machine.
#pragma once

#include "analysis/analysis.h"
#include "analysis/simulation/scenario.h"
#include "analysis/simulation/schedule.h"
#include "rtgpu/gpu_policy.h"
#include "rtgpu/policy.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace rtgpu {

// What a run showed of one task. Responses count from the nominal release.
struct TaskObservation {
  std::int64_t jobs = 0;    // completed
  std::int64_t misses = 0;  // jobs of a real-time task not complete by their deadline
  // The longest response; of a job that the run's end cut off, the time it had taken by then.
  Duration max_response;
  Duration total_response;          // of the completed jobs; infinite if beyond the range
  std::int64_t longest_job = 0;     // the job of max_response
  std::int64_t incomplete = 0;      // jobs that the run's end cut off
  bool longest_incomplete = false;  // max_response is of one of them: it would have taken longer
};

struct Observation {
  std::vector<TaskObservation> tasks;  // in the order of the taskset
  std::int64_t events = 0;             // releases, ends of phases, and ends of GPU and copy work
};

// What a policy is told of a taskset: a task of the policy for each of the taskset.
PolicySetup policy_setup(const Taskset& taskset);

// Runs scenarios on one taskset. Keeps its buffers from run to run: in steady state a run allocates nothing (unless it
// records, or a task falls further behind than ever before). Deterministic; one thread at a time.
class Simulator {
 public:
  // For a valid taskset. Errors (unsupported): a policy that has no state machine or needs something of the platform;
  // several GPUs; an exec that depends on the number of SMs where that is not given. Under federated the tasks have the
  // SMs that analyze() gives them (AnalysisResult::sm_partition), which may take a tenth of a second to find.
  static Result<Simulator> of(const Taskset& taskset, Policy policy, WaitChoice wait);

  // What is simulated: the taskset that the simulator was made of; under federated with the SMs of each task and, as
  // exec, the execution times on those.
  const Taskset& taskset() const { return taskset_; }

  ~Simulator();
  Simulator(Simulator&&) noexcept;
  Simulator& operator=(Simulator&&) noexcept;

  // Calls `watch` from time to time with the time that a run has reached: for whoever waits for a long one.
  void watch(std::function<void(Duration)> watch);

  // Releases jobs for `horizon`, then lets what is released complete, for as long again at most. `scenario` has a task
  // for each of the taskset. With `schedule`, records the run into it.
  const Observation& run(const Scenario& scenario, Duration horizon, Schedule* schedule = nullptr);

 private:
  class Run;
  Simulator(Taskset taskset, std::unique_ptr<Run> run);
  static Result<Simulator> of_whole_gpu(Taskset taskset, Policy policy, WaitChoice wait);

  Taskset taskset_;
  std::unique_ptr<Run> run_;
};

}  // namespace rtgpu
