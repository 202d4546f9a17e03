// One run: the threads of the tasks, of the device and of the trace, on one machine. Internal to the runtime.
#pragma once

#include "analysis/simulation/scenario.h"
#include "rtgpu/error.h"
#include "rtgpu/gpu_policy.h"
#include "rtgpu/policy.h"
#include "runtime/arbiter.h"
#include "runtime/device/device.h"
#include "runtime/latency_sampler.h"
#include "runtime/machine/machine.h"
#include "runtime/measured.h"
#include "runtime/task_runner.h"
#include "runtime/trace/trace.h"
#include "taskset/taskset.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rtgpu {

struct RunSetup {
  const Taskset* taskset = nullptr;
  Policy policy = Policy::mpcp;
  std::unique_ptr<GpuPolicy> gpu_policy;
  std::vector<StreamId> streams;  // of the tasks
  Duration horizon;
  std::optional<ScenarioDraws> draws;
  std::size_t trace_events = 0;  // 0: no trace
  bool measures = false;         // what the machine takes, on a real one
};

class Run {
 public:
  // Refers to machine, device and runners. Threads are started on the machine.
  Run(Machine& machine, Device& device, std::span<const std::unique_ptr<TaskRunner>> runners, RunSetup setup);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Returns when every thread has ended.
  Errors execute();
  bool device_lost() const { return arbiter_.is_lost(); }
  // What the machine took, if the set-up says so.
  MeasuredOverheads measured(std::span<const std::unique_ptr<TaskRunner>> runners) const;
  // Once, after execute().
  Trace take_trace();

 private:
  class Ends;

  void start_tasks(std::span<const std::unique_ptr<TaskRunner>> runners);
  void start_services();
  void start_samplers();
  void task_ended();
  void collect_now_and_then();
  void on_dispatch(int core, std::size_t task);

  Machine& machine_;
  Device& device_;
  RunSetup setup_;
  Arbiter arbiter_;
  Tracer tracer_;
  TraceRing* device_trace_ = nullptr;
  TraceRing* core_trace_ = nullptr;
  Signal collector_signal_;
  std::vector<std::unique_ptr<LatencySampler>> samplers_;  // one for each core with tasks
  std::atomic<std::size_t> tasks_left_ = 0;
  std::size_t dispatches_ = 0;
  Duration end_;
};

}  // namespace rtgpu
