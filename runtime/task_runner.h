// Runs the jobs of one task, on a thread of its own. Internal to the runtime.
#pragma once

#include "analysis/simulation/scenario.h"
#include "runtime/arbiter.h"
#include "runtime/device/work.h"
#include "runtime/job.h"
#include "runtime/release_plan.h"
#include "runtime/statistics.h"
#include "runtime/task_setup.h"
#include "runtime/trace/nvtx.h"
#include "runtime/trace/trace_ring.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <thread>

namespace rtgpu {

// What all tasks of a run have in common.
struct RunContext {
  Machine& machine;
  Device& device;
  Arbiter& arbiter;
  Duration horizon;                   // the last nominal release
  const ScenarioDraws* draws;         // of synthetic work; none: worst cases
  bool calls_take_their_cost;         // enter and leave calls are emulated, as declared
  Duration launch;                    // of each further slice, where that is emulated
  std::optional<int> sms;             // of the device
  std::span<const StreamId> streams;  // of the tasks
};

// How far a task is.
struct LiveCounts {
  std::int64_t jobs = 0;
  std::int64_t misses = 0;
  Duration max_response;
};

class TaskRunner {
 public:
  using Body = std::function<void(Job&)>;

  // Without a body, jobs do what their segments declare.
  TaskRunner(TaskId id, TaskSetup setup, Body body);
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  const TaskSetup& setup() const { return setup_; }
  TaskId id() const { return id_; }
  // After a run.
  const TaskStatistics& statistics() const { return statistics_; }
  // By how much the execution of a job exceeded what its segments declare; 0 where that cannot be told: for functions
  // of the user, and for tasks that wait busily or spin.
  Duration overshoot() const;
  // During a run, from any thread.
  LiveCounts live() const {
    return {live_.jobs.load(std::memory_order_relaxed), live_.misses.load(std::memory_order_relaxed),
            Duration::nanoseconds(live_.max_response_ns.load(std::memory_order_relaxed))};
  }
  void set_memory(std::span<std::byte> memory) { memory_ = memory; }

  // Before each run.
  void prepare(const RunContext& context, TraceRing& trace);
  // After it, while its machine is still there: nobody triggers any more.
  void retire() { releases_.retire(); }
  // The thread.
  void run();
  // From any thread, also in a signal handler.
  void stop() { releases_.stop(); }
  void trigger() { releases_.trigger(); }

 private:
  friend class Job;

  class Died;

  void run_job(const Release& release);
  void do_body();
  void do_declared_work();
  void end_job();
  void watch_overrun();
  void overrun(const OverrunInfo& info);
  Duration deadline() const { return release_.nominal + setup_.deadline; }

  bool next_is_device_segment() const;
  void begin_cpu_segment();
  void finish_cpu_segments();
  void begin_device_segment(TraceKind arrives);
  void go_on_with_cpu();
  const GpuSegment* declared_segment() const;
  Duration part(JobPart which, Duration min, Duration max) const;
  Duration call_time(JobPart which) const;
  void step();
  void spend(Duration time);

  // What Job offers.
  GpuStatus enter(std::string_view name);
  GpuStatus leave();
  GpuStatus copy(std::string_view name, CopyRequest request);
  void give_up();
  GpuStatus usable_device() const;
  GpuStatus refusal_of_work() const;
  GpuStatus run_work(const GpuSegment* declared);
  void complete_batch(const GpuSegment* declared);
  bool is_own_thread() const { return std::this_thread::get_id() == thread_; }

  GpuStatus refuse(GpuStatus status);
  GpuStatus count(GpuStatus status);
  void note_completion(GpuStatus status);
  JobPlace place() const { return {id_, job_, static_cast<std::uint16_t>(segment_)}; }
  void trace(TraceKind kind, Duration when, std::int64_t value = 0);
  void note_fault(std::string_view what);
  void note_fault_in_flight();
  Overrun decide(const OverrunInfo& info);

  TaskId id_;
  TaskSetup setup_;
  Body body_;
  std::span<std::byte> memory_;
  std::optional<RunContext> context_;
  TraceRing* trace_ = nullptr;
  std::thread::id thread_;

  ReleasePlan releases_;
  WorkBatch batch_;
  StreamTarget target_;
  TaskStatistics statistics_;

  // The job.
  std::int64_t job_ = -1;
  Release release_;
  bool woke_ = false;             // for this job, and nothing has happened since
  bool skips_ = false;            // releases that the job has missed
  std::size_t segment_ = 0;       // the one that the job is in
  std::size_t next_segment_ = 0;  // the first that it has not begun
  bool in_cpu_segment_ = false;
  Duration spent_;  // in the CPU segment, or in the misc of a GPU segment
  Duration execution_at_start_;
  bool aborted_ = false;
  bool deadline_seen_ = false;
  bool budget_seen_ = false;
  bool inside_ = false;
  std::optional<NvtxRange> range_;  // of the GPU segment, opened and closed by the job's thread

  struct {
    std::atomic<std::int64_t> jobs = 0;
    std::atomic<std::int64_t> misses = 0;
    std::atomic<std::int64_t> max_response_ns = 0;
  } live_;
};

}  // namespace rtgpu
