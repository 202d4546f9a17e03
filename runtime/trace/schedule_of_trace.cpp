#include "runtime/trace/schedule_of_trace.h"

#include "analysis/simulation/recorder.h"
#include "runtime/trace/traced_jobs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace rtgpu {
namespace {

constexpr std::size_t kMaxCopyEngines = 16;

// A set of small numbers that is emptied often.
class Changes {
 public:
  explicit Changes(std::size_t size) : is_in_(size, 0) {}

  void add(std::size_t index) {
    if (is_in_[index] != 0) return;
    is_in_[index] = 1;
    in_.push_back(index);
  }
  const std::vector<std::size_t>& all() const { return in_; }
  void clear() {
    for (const std::size_t index : in_) is_in_[index] = 0;
    in_.clear();
  }

 private:
  std::vector<char> is_in_;
  std::vector<std::size_t> in_;
};

// Who has the cores of a machine that does not tell: partitioned fixed priorities.
class InferredCores {
 public:
  InferredCores(const Taskset& taskset, WaitChoice wait) : on_core_(static_cast<std::size_t>(taskset.platform.cpus)) {
    for (TaskIndex index = 0; index < taskset.tasks.size(); ++index) {
      const Task& task = taskset.tasks[index];
      busy_.push_back(wait == WaitChoice::busy || (wait == WaitChoice::file && task.wait == WaitMode::busy) ? 1 : 0);
      spins_.push_back(task.lock_wait == LockWait::spin ? 1 : 0);
      on_core_[static_cast<std::size_t>(task.cpu)].push_back(index);
    }
    for (std::vector<TaskIndex>& core : on_core_) {
      std::ranges::stable_sort(core, [&](TaskIndex a, TaskIndex b) {
        const Task& first = taskset.tasks[a];
        const Task& second = taskset.tasks[b];
        if (first.best_effort != second.best_effort) return second.best_effort;
        return first.priority > second.priority;
      });
    }
  }

  TaskIndex running(std::size_t core, const std::vector<TracedJobs>& tasks, TaskIndex boosted) const {
    TaskIndex found = kNoTask;
    for (const TaskIndex task : on_core_[core]) {
      if (!wants_core(task, tasks[task].state())) continue;
      if (task == boosted) return task;
      if (found == kNoTask) found = task;
    }
    return found;
  }

 private:
  bool wants_core(TaskIndex task, JobState state) const {
    switch (state) {
      case JobState::idle:
        return false;
      case JobState::enter_waiting:
      case JobState::leave_waiting:
        return spins_[task] != 0;
      case JobState::gpu:
      case JobState::copy:
        return busy_[task] != 0;
      default:
        return true;
    }
  }

  std::vector<std::vector<TaskIndex>> on_core_;  // highest first
  std::vector<char> busy_;
  std::vector<char> spins_;
};

class Conversion {
 public:
  Conversion(const Trace& trace, const Taskset& taskset, WaitChoice wait)
      : trace_(trace),
        taskset_(taskset),
        cores_(static_cast<std::size_t>(taskset.platform.cpus), kNoTask),
        recorder_(schedule_, taskset.tasks.size(), cores_.size(), kMaxCopyEngines),
        changed_tasks_(taskset.tasks.size()),
        changed_cores_(cores_.size()) {
    for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) jobs_.emplace_back(task, taskset.tasks[task]);
    copies_.fill(kNoTask);
    const bool tells_cores =
        std::ranges::any_of(trace.events, [](const TraceEvent& event) { return event.kind == TraceKind::dispatch; });
    if (!tells_cores) inferred_.emplace(taskset, wait);
  }

  Schedule convert() {
    // What holds after the last event of a moment is what lasts.
    const std::vector<TraceEvent>& events = trace_.events;
    for (std::size_t next = 0; next < events.size();) {
      const std::int64_t now = events[next].time_ns;
      if (now > trace_.end.count()) break;
      for (; next < events.size() && events[next].time_ns == now; ++next) apply(events[next]);
      record(Duration::nanoseconds(now));
    }
    for (const TracedJobs& jobs : jobs_) {
      for (const JobRecord& job : jobs.cut_off(trace_.end)) recorder_.job(job);
    }
    recorder_.finish(trace_.end);
    return std::move(schedule_);
  }

 private:
  void apply(const TraceEvent& event) {
    if (event.kind == TraceKind::dispatch) return dispatch(event);
    const TaskIndex task = event.task;
    if (task >= jobs_.size()) return;
    apply_to_devices(event);
    if (const std::optional<JobRecord> complete = jobs_[task].apply(event)) recorder_.job(*complete);
    touch(task);
  }

  void touch(TaskIndex task) {
    changed_tasks_.add(task);
    if (inferred_) changed_cores_.add(static_cast<std::size_t>(taskset_.tasks[task].cpu));
  }

  void dispatch(const TraceEvent& event) {
    if (event.segment >= cores_.size()) return;
    cores_[event.segment] = event.task < jobs_.size() ? event.task : kNoTask;
    changed_cores_.add(event.segment);
  }

  void apply_to_devices(const TraceEvent& event) {
    switch (event.kind) {
      case TraceKind::boost:
        boost(event.task);
        break;
      case TraceKind::unboost:
        if (boosted_ == event.task) boost(kNoTask);
        break;
      case TraceKind::context_switch:
      case TraceKind::begin:
        on_gpu_ = event.task;
        switching_ = event.kind == TraceKind::context_switch;
        ++turns_;
        break;
      case TraceKind::preempt:
      case TraceKind::end:
        if (on_gpu_ == event.task) on_gpu_ = kNoTask;
        break;
      case TraceKind::copy_begin:
        if (TaskIndex* engine = engine_of(event)) *engine = event.task;
        break;
      case TraceKind::copy_end:
        if (TaskIndex* engine = engine_of(event)) *engine = kNoTask;
        break;
      default:
        break;
    }
  }

  void boost(TaskIndex task) {
    if (boosted_ != kNoTask) touch(boosted_);
    boosted_ = task;
    if (boosted_ != kNoTask) touch(boosted_);
  }

  TaskIndex* engine_of(const TraceEvent& event) {
    if (event.value < 0 || event.value >= static_cast<std::int64_t>(kMaxCopyEngines)) return nullptr;
    return &copies_[static_cast<std::size_t>(event.value)];
  }

  void record(Duration now) {
    for (const TaskIndex task : changed_tasks_.all()) {
      const TracedJobs& jobs = jobs_[task];
      recorder_.task(task, jobs.job(), jobs.segment(), jobs.state(), task == boosted_, now);
    }
    for (const std::size_t core : changed_cores_.all()) {
      if (inferred_) cores_[core] = inferred_->running(core, jobs_, boosted_);
      recorder_.core(core, cores_[core], false, now);
    }
    changed_tasks_.clear();
    changed_cores_.clear();
    recorder_.gpu(on_gpu_, on_gpu_ != kNoTask && switching_, turns_, now);
    for (std::size_t engine = 0; engine < copies_.size(); ++engine) recorder_.copy(engine, copies_[engine], now);
  }

  const Trace& trace_;
  const Taskset& taskset_;
  Schedule schedule_;

  std::vector<TracedJobs> jobs_;  // by task
  std::optional<InferredCores> inferred_;
  std::vector<TaskIndex> cores_;
  TaskIndex boosted_ = kNoTask;
  TaskIndex on_gpu_ = kNoTask;
  bool switching_ = false;
  std::int64_t turns_ = 0;
  std::array<TaskIndex, kMaxCopyEngines> copies_{};

  Recorder recorder_;
  Changes changed_tasks_;
  Changes changed_cores_;
};

}  // namespace

Schedule schedule_of(const Trace& trace, const Taskset& taskset, WaitChoice wait) {
  return Conversion(trace, taskset, wait).convert();
}

}  // namespace rtgpu
