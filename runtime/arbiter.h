// Lets GPU segments onto the device in the order that the policy decides: what task threads and the device report
// becomes events of the policy, and its decisions become wake-ups, boosts, and what the device runs.
//
// One lock guards policy and device. It is held for one event at a time, and its holder inherits the priority of
// whoever waits for it. Without contention, entering and leaving make no system call; handing over makes one, the
// wake-up.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/time.h"
#include "runtime/device/device.h"
#include "runtime/execution_log.h"
#include "runtime/gpu_status.h"
#include "runtime/histogram.h"
#include "runtime/job_place.h"
#include "runtime/latency_sampler.h"
#include "runtime/machine/machine.h"
#include "runtime/machine/priority_lock.h"
#include "runtime/machine/signal.h"
#include "runtime/trace/trace_ring.h"
#include "taskset/taskset.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rtgpu {

// What the arbiter knows of a task.
struct ArbiterTask {
  StreamId stream = kNoStream;
  LockWait lock_wait = LockWait::suspend;
  WaitMode wait = WaitMode::suspend;
  // Longest time that work or a copy of the task may run on the device without an end; infinite: no watchdog.
  Duration watchdog = Duration::infinite();
};

class Arbiter final : public DeviceListener {
 public:
  // Refers to machine and device. `tasks` are those the policy was made for. With `copies_by_rank` copies are served by
  // GPU priority, otherwise in order of submission.
  Arbiter(Machine& machine, Device& device, std::unique_ptr<GpuPolicy> policy, std::vector<ArbiterTask> tasks,
          bool copies_by_rank);

  const GpuPolicy& policy() const { return *policy_; }

  // The following are called by a task's own thread, one at a time for each task.

  // Waits until the policy lets the task in, at most until `until`; then the enter call takes `call_time`. Not ok: the
  // task is outside.
  GpuStatus enter(const JobPlace& place, Duration call_time, Duration until, TraceRing& trace);
  // The task's misc is done: its work goes to the device.
  GpuStatus submit(const JobPlace& place, const WorkBatch& batch, TraceRing& trace);
  // Waits until that has ended. failed: by the device, or by the watchdog; the task is still inside.
  GpuStatus await(TaskId task, TraceRing& trace);
  // Not ok: nothing has changed.
  GpuStatus leave(const JobPlace& place, Duration call_time, TraceRing& trace);
  // Takes the task out at once, wherever it is. Its work is dropped if the device can do that.
  void cancel(const JobPlace& place, TraceRing& trace);
  // Copies, and waits for the end of the copy.
  GpuStatus copy(const JobPlace& place, CopyRequest request, TraceRing& trace);
  // What the device has to tell, at once.
  void look_at_device(TraceRing& trace);
  // When the task was last told of a grant, or of the end of its work or copy. For the task's own thread, after it has
  // waited.
  Duration told_at(TaskId task) const { return tasks_[task].told_at; }

  // The thread of the device: tells the policy what the device does. Until stop_serving().
  void serve(TraceRing& trace);
  void stop_serving();
  // How late serve() noticed events, and the CPU time that it took each time, on a real machine. After a run.
  const Histogram& device_latency() const { return device_latency_; }
  const Histogram& device_handling() const { return device_handling_; }
  const LatenessLog& device_late() const { return device_late_; }
  // What serve() executed, of a device that is `attended`; empty otherwise.
  const ExecutionLog& device_execution() const { return device_execution_; }
  // For devices with threads of their own.
  void on_device_event(const DeviceEvent& event) override;
  void trace_device_events_into(TraceRing& trace) { device_trace_ = &trace; }

  // The device no longer answers: every call from now on is refused.
  bool is_lost() const { return lost_.load(std::memory_order_acquire); }

 private:
  // What a task that waits has to hear of.
  enum class News : std::uint8_t { none, granted, complete, failed };

  struct TaskState {
    ArbiterTask setup;
    Signal signal;
    std::atomic<News> news = News::none;
    JobPlace place;
    Duration told_at;  // written before `news`
    Duration ran;      // of its work, before that was last put on the GPU
    // What it does on the device has been given up, and is there all the same.
    bool is_overdue = false;
  };

  // What a copy engine does.
  struct Copying {
    TaskId task = kNobody;
    Duration since;
  };

  struct Call;

  // Whom to wake when the lock has been given up.
  struct Wakes {
    // Each event of the device ends one task's work or copy, and lets one in.
    std::array<TaskId, 2 * DeviceEvents::kMost + 2> tasks{};
    std::size_t count = 0;
    bool device = false;
    bool all = false;
    void add(TaskId task) { tasks[count++] = task; }
  };

  void apply(const Decision& decision, TaskId caller, Duration now, TraceRing& trace, Wakes& wakes);
  void follow_gpu(Duration now, TraceRing& trace);
  void follow_boost(Duration now, TraceRing& trace);
  void device_changed(Duration now, Wakes& wakes);
  Duration next_due(Duration now);
  Duration work_watchdog_due() const;
  Duration copy_watchdog_due(const Copying& copying) const;
  void end_what_hangs(Duration now, TraceRing& trace, Wakes& wakes);
  Duration patience_with(const TaskState& state) const;
  bool gives_up(TaskId task, Duration now, TraceRing& trace, Wakes& wakes);
  void copy_begins(TaskId task, int engine, Duration now, TraceRing& trace);
  void copy_ends(TaskId task, int engine, News news, Duration now, TraceRing& trace, Wakes& wakes);
  void lose(Duration now, TraceRing& trace, Wakes& wakes);
  void tell(TaskId task, News news, Duration now);
  void wake(const Wakes& wakes);
  void note_device_latency(Duration due, Duration woke);
  void await_busily(TaskState& state, TraceRing& trace);
  void handle(const DeviceEvent& event, Duration now, TraceRing& trace, Wakes& wakes);
  void work_ended(TaskId task, bool failed, Duration now, TraceRing& trace, Wakes& wakes);
  bool wait_for_grant(TaskId task, Duration until);
  void spend_call(Duration call_time, bool waited);
  GpuStatus call(const Call& call, const JobPlace& place, Duration call_time, Duration until, TraceRing& trace);
  void end_call(const Call& call, TaskId task, Duration now, TraceRing& trace, Wakes& wakes);
  GpuStatus give_up_waiting(const JobPlace& place, TraceRing& trace);
  void trace_of(TaskId task, TraceKind kind, Duration now, TraceRing& trace, std::int64_t value = 0);

  Machine& machine_;
  Device& device_;
  std::unique_ptr<GpuPolicy> policy_;
  bool copies_by_rank_;
  std::vector<TaskState> tasks_;
  std::vector<TaskId> task_of_stream_;
  TraceRing* device_trace_ = nullptr;

  mutable PriorityLock lock_;
  TaskId boosted_ = kNobody;
  TaskId on_gpu_ = kNobody;
  Duration running_since_;          // infinite while the GPU moves to its context
  std::array<Copying, 2> copying_;  // by engine
  bool wants_boundary_ = false;
  std::uint64_t submissions_ = 0;
  Duration device_due_ = Duration::infinite();  // when the thread of the device looks again
  Signal device_signal_;
  Histogram device_latency_;  // of serve() alone, like the next two
  Histogram device_handling_;
  LatenessLog device_late_;
  ExecutionLog device_execution_;
  Duration device_executed_;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> lost_ = false;
};

}  // namespace rtgpu
