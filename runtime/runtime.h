// The runtime: releases jobs of tasks on threads of their own, and lets their GPU segments onto the device in the order
// of a policy, the one that was analysed.
//
//   rtgpu::Runtime rt({.device = "host", .policy = "mpcp"});
//   rt.add_task({.name = "detect", .period = 33ms, .priority = 80, .cpu = 2},
//               [&](rtgpu::Job& job) { job.gpu("infer", [&](rtgpu::Stream s) { ... }); });
//   rt.run_for(10s);
//   std::cout << rt.report();
#pragma once

#include "analysis/simulation/scenario.h"
#include "rtgpu/error.h"
#include "rtgpu/time.h"
#include "runtime/admission.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/device/device.h"
#include "runtime/job.h"
#include "runtime/machine/realtime.h"
#include "runtime/measured.h"
#include "runtime/run_report.h"
#include "runtime/task_setup.h"
#include "runtime/trace/trace.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace rtgpu {

struct RuntimeOptions {
  // "host": work takes its declared time; "host:compute": kernels are computed; "cuda", "cuda:N": a GPU.
  std::string device = "host";
  std::string policy = "mpcp";
  std::string trace = {};  // file for a Chrome trace of each run; none: no trace
  // What an emulated device is, and what the analysis counts for its driver. 0 and 1 where nothing is said; of a CUDA
  // device, what it says of itself.
  Gpu gpu = {};
  CudaOptions cuda = {};
  RealtimeOptions realtime = {};
  // Runs in virtual time: deterministic, and as fast as it can. Code takes what its segments declare.
  bool virtual_time = false;
  // Events that a thread can record before they are collected; with a trace file or `keep_trace`.
  std::size_t trace_events = 1U << 16U;
  bool keep_trace = false;  // for Runtime::trace()
  bool measure = false;     // for Runtime::admit_as_measured(); on a real machine
};

// What is wrong with a set-up.
class SetupError : public std::runtime_error {
 public:
  explicit SetupError(Errors errors);
  const Errors& errors() const { return errors_; }

 private:
  Errors errors_;
};

class TaskRunner;

// A task that was added. Valid as long as its runtime.
class TaskHandle {
 public:
  explicit TaskHandle(TaskRunner& runner) : runner_(&runner) {}
  const std::string& name() const;
  // Asks for a job, if the task is released by triggers; without effect while no run goes on. From any thread, also in
  // a signal handler.
  void trigger();
  // How far it is. During a run, from any thread.
  std::int64_t jobs() const;
  std::int64_t misses() const;
  Duration max_response() const;

 private:
  TaskRunner* runner_;
};

// One thread sets it up and runs it; stop() and what TaskHandle says may be called from any thread. Set-up errors are
// thrown as SetupError.
class Runtime {
 public:
  using Body = std::function<void(Job&)>;

  explicit Runtime(RuntimeOptions options);
  // On a device of one's own.
  Runtime(RuntimeOptions options, std::unique_ptr<Device> device);
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;
  ~Runtime();

  // Not during a run, nor after the first one.
  TaskHandle& add_task(TaskSetup setup, Body body);
  // Every task of a set, doing what its segments declare. With a scenario (of the whole set, in its order) release
  // times and execution times are drawn from it, otherwise jobs take their worst case from 0 on.
  void add_taskset(const Taskset& taskset, std::optional<Scenario> scenario = {});

  // Those that were added, in that order. Task `index` is below `task_count()`.
  std::size_t task_count() const;
  const TaskHandle& task(std::size_t index) const;

  // The tasks and the platform, as the analysis sees them.
  const Taskset& taskset() const;
  const DeviceProperties& device() const;

  // Whether every deadline holds under this policy, by the execution times that the tasks declare.
  Admission admit(WaitChoice wait = WaitChoice::file) const;

  // The same for the machine as the last run found it, with `measure`: latencies and lost time are part of the bounds
  // (runtime/measured.h), which are then those of report(). An error if nothing was measured.
  const std::optional<MeasuredOverheads>& measured() const;
  Admission admit_as_measured(WaitChoice wait = WaitChoice::file) const;

  // Releases jobs for this long, and returns when the last job has ended. Infinite: until stop(), on a real machine.
  void run_for(Duration time);
  // No further releases; jobs that run end. Before a run: of that one. From any thread, also in a signal handler.
  void stop();

  // Of the last run.
  RunReport report() const;
  // Of the last run, if `keep_trace` was set.
  const Trace& trace() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rtgpu
