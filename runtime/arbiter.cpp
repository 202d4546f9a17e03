#include "runtime/arbiter.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace rtgpu {
namespace {

// A run that is longer than this is measured in part.
constexpr Duration kLoggedExecution = Duration::seconds(600);

Waiting waiting_of(LockWait wait) {
  return wait == LockWait::spin ? Waiting::spinning : Waiting::suspended;
}
Waiting waiting_of(WaitMode wait) {
  return wait == WaitMode::busy ? Waiting::spinning : Waiting::suspended;
}

GpuStatus status_of(Misuse misuse) {
  return misuse == Misuse::already_inside ? GpuStatus::already_inside : GpuStatus::not_inside;
}

}  // namespace

Arbiter::Arbiter(Machine& machine, Device& device, std::unique_ptr<GpuPolicy> policy, std::vector<ArbiterTask> tasks,
                 bool copies_by_rank)
    : machine_(machine),
      device_(device),
      policy_(std::move(policy)),
      copies_by_rank_(copies_by_rank),
      tasks_(tasks.size()) {
  if (device.properties().attended && !machine.is_virtual()) device_execution_ = ExecutionLog(kLoggedExecution);
  for (TaskId task = 0; task < tasks.size(); ++task) {
    const StreamId stream = tasks[task].stream;
    tasks_[task].setup = tasks[task];
    if (stream == kNoStream) continue;
    if (stream >= task_of_stream_.size()) task_of_stream_.resize(stream + 1, kNobody);
    task_of_stream_[stream] = task;
  }
}

// The two calls of a segment differ in these alone.
struct Arbiter::Call {
  Decision (GpuPolicy::*ask)(TaskId);
  Decision (GpuPolicy::*end)(TaskId);
  TraceKind asks;
  TraceKind ends;
};

GpuStatus Arbiter::enter(const JobPlace& place, Duration call_time, Duration until, TraceRing& trace) {
  constexpr Call kEnter{&GpuPolicy::enter, &GpuPolicy::entered, TraceKind::enter, TraceKind::inside};
  return call(kEnter, place, call_time, until, trace);
}

GpuStatus Arbiter::leave(const JobPlace& place, Duration call_time, TraceRing& trace) {
  constexpr Call kLeave{&GpuPolicy::leave, &GpuPolicy::left, TraceKind::leave, TraceKind::left};
  return call(kLeave, place, call_time, Duration::infinite(), trace);
}

GpuStatus Arbiter::call(const Call& call, const JobPlace& place, Duration call_time, Duration until, TraceRing& trace) {
  Wakes wakes;
  bool granted = false;
  bool is_over = false;
  {
    const std::lock_guard guard(lock_);
    if (is_lost()) return GpuStatus::device_lost;
    const Duration now = machine_.now();
    const Decision decision = (*policy_.*call.ask)(place.task);
    if (decision.misuse != Misuse::none) return status_of(decision.misuse);
    tasks_[place.task].place = place;
    tasks_[place.task].news.store(News::none, std::memory_order_relaxed);
    trace_of(place.task, call.asks, now, trace);
    granted = decision.granted == place.task;
    apply(decision, place.task, now, trace, wakes);
    // A call that takes no time is over at once: no need to take the lock again. In virtual time it is a step of its
    // own.
    is_over = granted && call_time == Duration() && !machine_.is_virtual();
    if (is_over) end_call(call, place.task, now, trace, wakes);
  }
  wake(wakes);
  if (is_over) return GpuStatus::ok;
  if (!granted && !wait_for_grant(place.task, until)) return give_up_waiting(place, trace);
  spend_call(call_time, !granted);
  Wakes wakes_at_end;
  {
    const std::lock_guard guard(lock_);
    end_call(call, place.task, machine_.now(), trace, wakes_at_end);
  }
  wake(wakes_at_end);
  return GpuStatus::ok;
}

void Arbiter::end_call(const Call& call, TaskId task, Duration now, TraceRing& trace, Wakes& wakes) {
  trace_of(task, call.ends, now, trace);
  apply((*policy_.*call.end)(task), task, now, trace, wakes);
}

GpuStatus Arbiter::give_up_waiting(const JobPlace& place, TraceRing& trace) {
  cancel(place, trace);
  return is_lost() ? GpuStatus::device_lost : GpuStatus::aborted;
}

GpuStatus Arbiter::submit(const JobPlace& place, const WorkBatch& batch, TraceRing& trace) {
  const TaskId task = place.task;
  Wakes wakes;
  {
    const std::lock_guard guard(lock_);
    if (is_lost()) return GpuStatus::device_lost;
    const Duration now = machine_.now();
    if (policy_->phase(task) != Phase::inside) return GpuStatus::not_inside;
    tasks_[task].news.store(News::none, std::memory_order_relaxed);
    tasks_[task].ran = {};
    tasks_[task].is_overdue = false;
    trace_of(task, TraceKind::submit, now, trace);
    device_.submit(tasks_[task].setup.stream, batch, now);
    apply(policy_->submit(task), task, now, trace, wakes);
    device_changed(now, wakes);
  }
  wake(wakes);
  return GpuStatus::ok;
}

GpuStatus Arbiter::await(TaskId task, TraceRing& trace) {
  TaskState& state = tasks_[task];
  if (state.setup.wait == WaitMode::busy && device_.properties().attended && !machine_.is_virtual()) {
    await_busily(state, trace);
  }
  while (state.news.load(std::memory_order_acquire) == News::none) {
    machine_.wait(state.signal, waiting_of(state.setup.wait), Duration::infinite());
  }
  if (is_lost()) return GpuStatus::device_lost;
  return state.news.load(std::memory_order_acquire) == News::complete ? GpuStatus::ok : GpuStatus::failed;
}

// Whoever waits busily sees the end of its work itself, as soon as it can be seen.
void Arbiter::await_busily(TaskState& state, TraceRing& trace) {
  constexpr Duration kPause = Duration::nanoseconds(200);
  while (state.news.load(std::memory_order_acquire) == News::none) {
    if (device_.look(state.setup.stream, machine_.now())) {
      look_at_device(trace);
    } else {
      machine_.wait(state.signal, Waiting::spinning, machine_.now() + kPause);
    }
  }
}

void Arbiter::look_at_device(TraceRing& trace) {
  Wakes wakes;
  {
    const std::lock_guard guard(lock_);
    const Duration now = machine_.now();
    for (const DeviceEvent& event : device_.advance(now)) handle(event, now, trace, wakes);
    device_changed(now, wakes);
  }
  wake(wakes);
}

void Arbiter::cancel(const JobPlace& place, TraceRing& trace) {
  const TaskId task = place.task;
  TaskState& state = tasks_[task];
  Wakes wakes;
  bool has_to_await = false;
  {
    const std::lock_guard guard(lock_);
    const Duration now = machine_.now();
    has_to_await = policy_->phase(task) == Phase::submitted && !is_lost() && !device_.abandon(state.setup.stream, now);
  }
  if (has_to_await) await(task, trace);
  {
    const std::lock_guard guard(lock_);
    const Duration now = machine_.now();
    if (policy_->phase(task) != Phase::idle) trace_of(task, TraceKind::left, now, trace);
    if (on_gpu_ == task) trace_of(task, TraceKind::end, now, trace);
    apply(policy_->cancel(task), task, now, trace, wakes);
    device_changed(now, wakes);
    state.news.store(News::none, std::memory_order_relaxed);
    state.signal.take();  // a grant that came too late
  }
  wake(wakes);
}

GpuStatus Arbiter::copy(const JobPlace& place, CopyRequest request, TraceRing& trace) {
  const TaskId task = place.task;
  TaskState& state = tasks_[task];
  Wakes wakes;
  {
    const std::lock_guard guard(lock_);
    if (is_lost()) return GpuStatus::device_lost;
    const Duration now = machine_.now();
    state.place = place;
    state.news.store(News::none, std::memory_order_relaxed);
    state.is_overdue = false;
    request.place = place;
    request.key = copies_by_rank_ ? policy_->rank(task) : ++submissions_;
    const int engine = device_.copy_engine(request.direction);
    trace_of(task, TraceKind::copy_submit, now, trace, engine);
    if (device_.copy(state.setup.stream, request, now)) copy_begins(task, engine, now, trace);
    device_changed(now, wakes);
  }
  wake(wakes);
  return await(task, trace);
}

void Arbiter::serve(TraceRing& trace) {
  if (!machine_.is_virtual()) device_executed_ = machine_.execution_time();
  device_.enter_thread();
  while (!stopping_.load(std::memory_order_acquire)) {
    device_.attend(machine_.now());
    Wakes wakes;
    Duration due;
    Duration was_due;
    Duration now;
    {
      const std::lock_guard guard(lock_);
      now = machine_.now();
      was_due = device_due_;
      for (const DeviceEvent& event : device_.advance(now)) handle(event, now, trace, wakes);
      end_what_hangs(now, trace, wakes);
      due = next_due(now);
      device_due_ = due;
    }
    wakes.device = false;  // it is awake
    wake(wakes);
    note_device_latency(was_due, now);
    machine_.wait(device_signal_, Waiting::suspended, due);
  }
}

void Arbiter::note_device_latency(Duration due, Duration woke) {
  if (machine_.is_virtual()) return;
  const Duration executed = machine_.execution_time();
  const Duration took = executed - std::exchange(device_executed_, executed);
  device_handling_.add(took);
  device_execution_.add(woke, took);
  if (due > woke) return;
  device_latency_.add(woke - due);
  if (woke - due >= LatencySampler::kNoted) device_late_.add({due, woke - due});
}

void Arbiter::stop_serving() {
  stopping_.store(true, std::memory_order_release);
  machine_.notify(device_signal_);
}

void Arbiter::on_device_event(const DeviceEvent& event) {
  Wakes wakes;
  {
    const std::lock_guard guard(lock_);
    const Duration now = machine_.now();
    if (!device_.confirm(event)) return;
    handle(event, now, *device_trace_, wakes);
    device_changed(now, wakes);
  }
  wake(wakes);
}

void Arbiter::handle(const DeviceEvent& event, Duration now, TraceRing& trace, Wakes& wakes) {
  if (is_lost()) return;
  const TaskId task = event.stream == kNoStream ? kNobody : task_of_stream_[event.stream];
  switch (event.kind) {
    case DeviceEvent::Kind::switched:
      running_since_ = now;
      trace_of(task, TraceKind::begin, now, trace);
      break;
    case DeviceEvent::Kind::boundary:
      trace_of(task, TraceKind::slice, now, trace);
      apply(policy_->boundary(task), kNobody, now, trace, wakes);
      break;
    case DeviceEvent::Kind::complete:
    case DeviceEvent::Kind::failed:
      work_ended(task, event.kind == DeviceEvent::Kind::failed, now, trace, wakes);
      break;
    case DeviceEvent::Kind::copying:
      copy_begins(task, event.engine, now, trace);
      break;
    case DeviceEvent::Kind::copied:
      copy_ends(task, event.engine, News::complete, now, trace, wakes);
      break;
    case DeviceEvent::Kind::copy_failed:
      copy_ends(task, event.engine, News::failed, now, trace, wakes);
      break;
    case DeviceEvent::Kind::lost:
      lose(now, trace, wakes);
      break;
  }
}

void Arbiter::work_ended(TaskId task, bool failed, Duration now, TraceRing& trace, Wakes& wakes) {
  const bool is_overtaking = on_gpu_ != task && device_.properties().has_hardware_levels;
  const Decision decision = is_overtaking ? policy_->overtaken(task) : policy_->complete(task);
  if (decision.misuse != Misuse::none) return;  // it has been given up meanwhile
  if (is_overtaking) trace_of(task, TraceKind::begin, now, trace);
  trace_of(task, TraceKind::end, now, trace);
  tell(task, failed ? News::failed : News::complete, now);
  wakes.add(task);
  apply(decision, kNobody, now, trace, wakes);
}

void Arbiter::apply(const Decision& decision, TaskId caller, Duration now, TraceRing& trace, Wakes& wakes) {
  if (decision.granted != kNobody) {
    const bool enters = policy_->phase(decision.granted) == Phase::entering;
    trace_of(decision.granted, enters ? TraceKind::grant : TraceKind::leave_grant, now, trace);
    if (decision.granted != caller) {
      tell(decision.granted, News::granted, now);
      wakes.add(decision.granted);
    }
  }
  if (decision.gpu_changed) follow_gpu(now, trace);
  follow_boost(now, trace);
  const bool wants = policy_->wants_boundary();
  if (wants != wants_boundary_) device_.want_boundary(wants, now);
  if (wants != wants_boundary_ || decision.gpu_changed) device_changed(now, wakes);
  wants_boundary_ = wants;
}

void Arbiter::follow_gpu(Duration now, TraceRing& trace) {
  const GpuState& gpu = policy_->gpu();
  if (on_gpu_ != kNobody && policy_->phase(on_gpu_) == Phase::submitted) {
    trace_of(on_gpu_, TraceKind::preempt, now, trace);
  }
  if (on_gpu_ != kNobody && !running_since_.is_infinite()) tasks_[on_gpu_].ran += now - running_since_;
  on_gpu_ = gpu.runs;
  running_since_ = now;
  if (gpu.runs == kNobody) {
    device_.select(kNoStream, {}, now);
    return;
  }
  const Duration switch_time = gpu.switches ? policy_->context_switch() : Duration();
  device_.select(tasks_[gpu.runs].setup.stream, switch_time, now);
  const bool at_once = switch_time == Duration();
  if (!at_once) running_since_ = Duration::infinite();
  trace_of(gpu.runs, at_once ? TraceKind::begin : TraceKind::context_switch, now, trace);
}

void Arbiter::follow_boost(Duration now, TraceRing& trace) {
  const TaskId boosted = is_lost() ? kNobody : policy_->boosted();
  if (boosted == boosted_) return;
  if (boosted_ != kNobody) trace_of(boosted_, TraceKind::unboost, now, trace);
  if (boosted != kNobody) trace_of(boosted, TraceKind::boost, now, trace);
  boosted_ = boosted;
  machine_.boost(boosted == kNobody ? Machine::kNoTask : boosted);
}

// The thread of the device is woken only if it would sleep too long.
void Arbiter::device_changed(Duration now, Wakes& wakes) {
  const Duration due = next_due(now);
  if (due >= device_due_) return;
  device_due_ = due;
  wakes.device = true;
}

Duration Arbiter::next_due(Duration now) {
  Duration due = std::min(device_.next_event(now), work_watchdog_due());
  for (const Copying& copying : copying_) due = std::min(due, copy_watchdog_due(copying));
  return due;
}

// When the work on the GPU will have run for as long as it may.
Duration Arbiter::work_watchdog_due() const {
  if (on_gpu_ == kNobody || is_lost()) return Duration::infinite();
  const TaskState& state = tasks_[on_gpu_];
  return running_since_ + (patience_with(state) - state.ran);
}

Duration Arbiter::copy_watchdog_due(const Copying& copying) const {
  if (copying.task == kNobody || is_lost()) return Duration::infinite();
  return copying.since + patience_with(tasks_[copying.task]);
}

// What a real device has begun cannot be recalled: it has as long again to end after it has been given up.
Duration Arbiter::patience_with(const TaskState& state) const {
  return state.is_overdue ? 2 * state.setup.watchdog : state.setup.watchdog;
}

void Arbiter::end_what_hangs(Duration now, TraceRing& trace, Wakes& wakes) {
  if (work_watchdog_due() <= now) {
    const TaskId task = on_gpu_;
    if (gives_up(task, now, trace, wakes)) work_ended(task, true, now, trace, wakes);
  }
  for (std::size_t engine = 0; engine < copying_.size(); ++engine) {
    if (copy_watchdog_due(copying_[engine]) > now) continue;
    const TaskId task = copying_[engine].task;
    if (gives_up(task, now, trace, wakes)) {
      copy_ends(task, static_cast<int>(engine), News::failed, now, trace, wakes);
    }
  }
}

// Whether the device drops what it does for the task. Otherwise that has to end soon, or the device is lost.
bool Arbiter::gives_up(TaskId task, Duration now, TraceRing& trace, Wakes& wakes) {
  TaskState& state = tasks_[task];
  trace_of(task, TraceKind::error, now, trace, static_cast<std::int64_t>(GpuStatus::failed));
  if (device_.abandon(state.setup.stream, now)) return true;
  const bool was_overdue = std::exchange(state.is_overdue, true);
  if (was_overdue || !device_.properties().attended) lose(now, trace, wakes);
  return false;
}

void Arbiter::copy_begins(TaskId task, int engine, Duration now, TraceRing& trace) {
  copying_.at(static_cast<std::size_t>(engine)) = {task, now};
  trace_of(task, TraceKind::copy_begin, now, trace, engine);
}

void Arbiter::copy_ends(TaskId task, int engine, News news, Duration now, TraceRing& trace, Wakes& wakes) {
  Copying& copying = copying_.at(static_cast<std::size_t>(engine));
  if (copying.task == task) copying.task = kNobody;
  trace_of(task, TraceKind::copy_end, now, trace, engine);
  tell(task, news, now);
  wakes.add(task);
}

// Who waits is told, and who has a boost loses it: what the policy holds back now is never let go.
void Arbiter::lose(Duration now, TraceRing& trace, Wakes& wakes) {
  lost_.store(true, std::memory_order_release);
  follow_boost(now, trace);
  for (TaskState& state : tasks_) state.news.store(News::failed, std::memory_order_release);
  wakes.all = true;
}

void Arbiter::tell(TaskId task, News news, Duration now) {
  tasks_[task].told_at = now;
  tasks_[task].news.store(news, std::memory_order_release);
}

void Arbiter::wake(const Wakes& wakes) {
  for (std::size_t index = 0; index < wakes.count; ++index) machine_.notify(tasks_[wakes.tasks[index]].signal);
  if (wakes.device) machine_.notify(device_signal_);
  if (!wakes.all) return;
  for (TaskState& state : tasks_) machine_.notify(state.signal);
}

bool Arbiter::wait_for_grant(TaskId task, Duration until) {
  TaskState& state = tasks_[task];
  while (state.news.load(std::memory_order_acquire) == News::none) {
    const bool told = machine_.wait(state.signal, waiting_of(state.setup.lock_wait), until);
    // A grant that comes together with the timeout counts.
    if (!told && state.news.load(std::memory_order_acquire) == News::none) return false;
  }
  return state.news.load(std::memory_order_acquire) == News::granted;
}

// In virtual time a call is a step of its own even if it takes no time, but waking up for it is that step already.
void Arbiter::spend_call(Duration call_time, bool waited) {
  if (call_time > Duration() || !waited) machine_.spend(call_time);
}

void Arbiter::trace_of(TaskId task, TraceKind kind, Duration now, TraceRing& trace, std::int64_t value) {
  const JobPlace& place = tasks_[task].place;
  trace.write({now.count(), machine_.order(), place.job, value, task, place.segment, kind});
}

}  // namespace rtgpu
