// When the jobs of a task are released. Internal to the runtime.
#pragma once

#include "analysis/simulation/scenario.h"
#include "rtgpu/gpu_policy.h"
#include "rtgpu/time.h"
#include "runtime/machine/machine.h"
#include "runtime/machine/signal.h"
#include "runtime/task_setup.h"

#include <atomic>
#include <cstdint>
#include <optional>

namespace rtgpu {

struct Release {
  Duration nominal;
  Duration actual;  // with release jitter
};

class ReleasePlan {
 public:
  // Refers to the set-up.
  ReleasePlan(TaskId task, const TaskSetup& setup);
  ReleasePlan(const ReleasePlan&) = delete;
  ReleasePlan& operator=(const ReleasePlan&) = delete;
  ~ReleasePlan();

  // Before each run. Nominal releases after `horizon` are none.
  void prepare(Machine& machine, Duration horizon, const ScenarioDraws* draws);
  // After it, while its machine is still there: nobody triggers any more.
  void retire();

  // By the task's thread: waits for the next one. nullopt: there is none any more.
  std::optional<Release> next();
  // Whether the last next() had to wait.
  bool waited() const { return waited_; }
  // After a job: plans the next one. With `skip`, releases that the job has missed are dropped; how many.
  std::int64_t plan_next(bool skip);

  // From any thread, also in a signal handler.
  void stop();
  void trigger();

 private:
  bool is_stopping() const { return stopping_.load(std::memory_order_acquire); }
  bool wait_until(Duration time);
  bool wait_for_trigger();
  bool wait_for_file();
  bool released_at(Duration asked);

  TaskId task_;
  const TaskSetup& setup_;
  int stop_file_ = -1;  // readable once stop() has been called; for tasks released by a file
  Machine* machine_ = nullptr;
  Duration horizon_;
  const ScenarioDraws* draws_ = nullptr;

  Signal signal_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> open_ = false;  // triggers count
  std::atomic<int> calls_ = 0;      // of trigger(), that look at the machine
  std::atomic<std::int64_t> triggers_ = 0;
  std::atomic<std::int64_t> triggered_at_ns_ = 0;  // the first that has not been served
  Duration last_trigger_;

  std::int64_t number_ = 0;  // of the next release, dropped ones included
  std::optional<Duration> last_nominal_;
  Release next_;
  bool waited_ = false;
};

}  // namespace rtgpu
