#include "analysis/simulation/run.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

// How many steps of a run lie between two looks at it.
constexpr std::uint32_t kWatchedSteps = 1U << 16U;

SimTimeRange range_of(const ExecutionTime& time) {
  return {time.min.count(), time.max.count()};
}

SimSegment segment_of(const Segment& segment, const Gpu& gpu) {
  SimSegment made;
  if (const auto* cpu = std::get_if<CpuSegment>(&segment)) {
    made.on_core = range_of(cpu->time);
  } else if (const auto* copy = std::get_if<CopySegment>(&segment)) {
    made.kind = SegmentKind::copy;
    made.on_device = range_of(copy->time);
    made.copy_engine = copy_engine_of(*copy, gpu);
  } else {
    const auto& work = std::get<GpuSegment>(segment);
    made.kind = SegmentKind::gpu;
    made.on_core = range_of(work.misc);
    made.on_device.max = whole_gpu_exec(work, gpu.sms).value_or(Duration()).count();
    made.on_device.min = work.exec ? work.exec->min.count() : 0;
    made.launch = gpu.overheads.launch.count();
    made.slices = work.slices;
    made.block = work.block.value_or(Duration()).count();
  }
  return made;
}

SimTask task_of(const Task& task, const Gpu& gpu, WaitChoice wait) {
  SimTask made;
  made.core = static_cast<std::size_t>(task.cpu);
  made.best_effort = task.best_effort;
  made.busy = wait == WaitChoice::busy || (wait == WaitChoice::file && task.wait == WaitMode::busy);
  made.spins = task.lock_wait == LockWait::spin;
  made.period = task.period.count();
  made.deadline = task.deadline.count();
  made.jitter = task.jitter.count();
  for (const Segment& segment : task.segments) made.segments.push_back(segment_of(segment, gpu));
  return made;
}

}  // namespace

Simulator::Run::Run(const Taskset& taskset, std::unique_ptr<GpuPolicy> policy, Policy which, WaitChoice wait)
    : policy_(std::move(policy)),
      boundary_kind_(policy_->boundary_kind()),
      has_partitions_(policy_->runs_all_submitted()),
      copies_by_priority_(which != Policy::stream_priority),
      on_core_(static_cast<std::size_t>(taskset.platform.cpus)),
      jobs_(taskset.tasks.size()),
      backlogs_(taskset.tasks.size()),
      running_(on_core_.size(), kNone),
      is_touched_(on_core_.size(), 0),
      copying_(kCopyEngines, kNone) {
  for (const Task& task : taskset.tasks) {
    tasks_.push_back(task_of(task, taskset.platform.gpus.front(), wait));
    on_core_[static_cast<std::size_t>(task.cpu)].push_back(static_cast<std::uint32_t>(tasks_.size() - 1));
  }
  for (auto& core : on_core_) {
    std::ranges::stable_sort(core, [&](std::uint32_t a, std::uint32_t b) {
      const Task& first = taskset.tasks[a];
      const Task& second = taskset.tasks[b];
      if (first.best_effort != second.best_effort) return second.best_effort;
      return first.priority > second.priority;
    });
  }
  if (which == Policy::server) server_core_ = static_cast<std::size_t>(taskset.platform.gpus.front().server_cpu);
  observation_.tasks.resize(tasks_.size());
}

const Observation& Simulator::Run::run(const Scenario& scenario, Duration horizon, Schedule* schedule) {
  reset(scenario);
  recorder_.reset();
  if (schedule != nullptr) {
    recorder_ = std::make_unique<Recorder>(*schedule, tasks_.size(), running_.size(), copying_.size());
    schedule->sm_partitions = has_partitions_;
  }
  last_release_ = horizon.count();
  const Nanoseconds end = 2 * last_release_;
  for (std::uint32_t task = 0; task < tasks_.size(); ++task) plan_release(task);
  std::uint32_t steps = 0;
  for (Nanoseconds next = next_event(); next <= end; next = next_event()) {
    advance(next);
    handle_due();
    if (watch_ && ++steps % kWatchedSteps == 0) watch_(Duration::nanoseconds(now_));
  }
  const bool is_cut_off = std::ranges::any_of(jobs_, [](const SimJob& job) { return job.state != JobState::idle; });
  if (is_cut_off) {
    advance(end);
    count_cut_off();
  }
  if (recorder_) recorder_->finish(Duration::nanoseconds(now_));
  return observation_;
}

void Simulator::Run::reset(const Scenario& scenario) {
  policy_->reset();
  for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
    jobs_[task] = SimJob{};
    jobs_[task].next_nominal = scenario.tasks[task].offset.count();
    backlogs_[task].clear();
  }
  draws_ = ScenarioDraws(scenario);
  now_ = 0;
  std::ranges::fill(running_, kNone);
  std::ranges::fill(is_touched_, char{0});
  any_touched_ = false;
  on_gpu_ = kNone;
  switch_left_ = 0;
  turn_done_ = 0;
  turns_ = 0;
  std::ranges::fill(copying_, kNone);
  submissions_ = 0;
  std::ranges::fill(observation_.tasks, TaskObservation{});
  observation_.events = 0;
}

Nanoseconds Simulator::Run::next_event() {
  Nanoseconds next = kNever;
  for (const SimJob& job : jobs_) next = std::min(next, job.next_actual);
  for (std::size_t core = 0; core < running_.size(); ++core) {
    if (takes_time_on(core)) next = std::min(next, now_ + jobs_[running_[core]].on_core_left);
  }
  for (const std::uint32_t task : copying_) {
    if (task != kNone) next = std::min(next, now_ + jobs_[task].device_left);
  }
  return std::min(next, next_on_gpu());
}

// What holds now goes on until `to`.
void Simulator::Run::advance(Nanoseconds to) {
  const Nanoseconds passed = to - now_;
  if (passed == 0) return;
  if (recorder_) record();
  now_ = to;
  for (std::size_t core = 0; core < running_.size(); ++core) {
    if (takes_time_on(core)) jobs_[running_[core]].on_core_left -= passed;
  }
  for (const std::uint32_t task : copying_) {
    if (task != kNone) jobs_[task].device_left -= passed;
  }
  if (has_partitions_) {
    for (SimJob& job : jobs_) {
      if (job.state == JobState::gpu) job.device_left -= passed;
    }
  }
  if (on_gpu_ == kNone) return;
  if (switch_left_ > 0) {
    switch_left_ -= passed;
    return;
  }
  jobs_[on_gpu_].device_left -= passed;
  jobs_[on_gpu_].device_done += passed;
  turn_done_ += passed;
}

// Ends of work come before releases, so that a job that is complete by the next release is not in its way.
void Simulator::Run::handle_due() {
  for (std::size_t core = 0; core < running_.size(); ++core) {
    if (takes_time_on(core) && jobs_[running_[core]].on_core_left == 0) touch(running_[core]);
  }
  gpu_due();
  copies_due();
  settle();
  for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
    if (jobs_[task].next_actual <= now_) release_due(task);
  }
  settle();
}

void Simulator::Run::record() {
  const Duration now = Duration::nanoseconds(now_);
  const TaskId boosted = policy_->boosted();
  for (std::uint32_t task = 0; task < tasks_.size(); ++task) {
    const SimJob& job = jobs_[task];
    recorder_->task(task, job.number, job.segment, job.state, task == boosted, now);
    if (has_partitions_) recorder_->partition(task, job.state == JobState::gpu, job.submission, now);
  }
  for (std::size_t core = 0; core < running_.size(); ++core) {
    const std::uint32_t task = running_[core];
    recorder_->core(core, task == kNone ? kNoTask : task, task != kNone && core == server_core_ && is_served(task),
                    now);
  }
  recorder_->gpu(on_gpu_ == kNone ? kNoTask : on_gpu_, switch_left_ > 0, turns_, now);
  for (std::size_t engine = 0; engine < copying_.size(); ++engine) {
    recorder_->copy(engine, copying_[engine] == kNone ? kNoTask : copying_[engine], now);
  }
}

}  // namespace rtgpu
