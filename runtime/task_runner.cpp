#include "runtime/task_runner.h"

#include "runtime/machine/virtual_machine.h"

#include <algorithm>
#include <cxxabi.h>
#include <exception>
#include <limits>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

constexpr std::size_t kFaultLength = 200;

}  // namespace

// Frees the task's place on the GPU if its thread ends in the middle of a job.
class TaskRunner::Died {
 public:
  explicit Died(TaskRunner& runner) : runner_(runner) {}
  Died(const Died&) = delete;
  Died& operator=(const Died&) = delete;
  ~Died() {
    runner_.range_.reset();
    if (ended_) return;
    if (runner_.inside_) runner_.give_up();
    runner_.statistics_.thread_died = true;
  }
  void end() { ended_ = true; }

 private:
  TaskRunner& runner_;
  bool ended_ = false;
};

TaskRunner::TaskRunner(TaskId id, TaskSetup setup, Body body)
    : id_(id), setup_(std::move(setup)), body_(std::move(body)), releases_(id_, setup_), batch_(setup_.launches) {
  statistics_.last_fault.reserve(kFaultLength);
}

void TaskRunner::prepare(const RunContext& context, TraceRing& trace) {
  context_.emplace(context);
  trace_ = &trace;
  statistics_ = TaskStatistics{};
  statistics_.last_fault.reserve(kFaultLength);
  releases_.prepare(context.machine, context.horizon, context.draws);
  job_ = -1;
  inside_ = false;
}

void TaskRunner::run() {
  thread_ = std::this_thread::get_id();
  context_->device.enter_thread();
  Died died(*this);
  try {
    while (const std::optional<Release> release = releases_.next()) {
      run_job(*release);
      statistics_.skipped += releases_.plan_next(skips_);
    }
  } catch (const MachineStopped&) {
    died.end();  // it has not: the run is over
    throw;
  }
  died.end();
}

Duration TaskRunner::overshoot() const {
  if (body_ || setup_.wait == WaitMode::busy || setup_.lock_wait == LockWait::spin) return {};
  Duration declared;
  const GpuPolicy& policy = context_->arbiter.policy();
  const Duration calls = context_->calls_take_their_cost ? policy.enter_cost() + policy.leave_cost() : Duration();
  for (const Segment& segment : setup_.segments) {
    if (const auto* cpu = std::get_if<CpuSegment>(&segment)) declared += cpu->time.max;
    if (const auto* gpu = std::get_if<GpuSegment>(&segment)) declared += gpu->misc.max + calls;
  }
  return std::max(Duration(), statistics_.execution.max() - declared);
}

void TaskRunner::run_job(const Release& release) {
  Machine& machine = context_->machine;
  const Duration now = machine.now();
  ++job_;
  release_ = release;
  woke_ = releases_.waited();
  segment_ = 0;
  next_segment_ = 0;
  in_cpu_segment_ = false;
  aborted_ = false;
  deadline_seen_ = false;
  budget_seen_ = false;
  skips_ = false;
  if (woke_) statistics_.release_latency.add(now - release_.actual);
  trace(TraceKind::release, release_.actual, release_.nominal.count());
  trace(TraceKind::start, now);
  execution_at_start_ = machine.execution_time();
  try {
    if (body_) {
      do_body();
    } else {
      do_declared_work();
    }
    if (inside_) refuse(GpuStatus::already_inside);  // the job ended without leaving
  } catch (const MachineStopped&) {
    throw;
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread ends itself
  } catch (...) {
    note_fault_in_flight();
  }
  if (inside_) give_up();
  end_job();
}

void TaskRunner::do_body() {
  if (!next_is_device_segment()) begin_cpu_segment();
  Job job(*this);
  body_(job);
  finish_cpu_segments();
}

void TaskRunner::do_declared_work() {
  for (const Segment& segment : setup_.segments) {
    if (aborted_) return;
    if (const auto* cpu = std::get_if<CpuSegment>(&segment)) {
      begin_cpu_segment();
      spend(part(JobPart::cpu, cpu->time.min, cpu->time.max));
      watch_overrun();
    } else if (const auto* copied = std::get_if<CopySegment>(&segment)) {
      CopyRequest request;
      request.direction = copied->direction;
      copy(setup_.name, request);
    } else if (enter(setup_.name) == GpuStatus::ok) {
      leave();
    }
  }
}

void TaskRunner::end_job() {
  const Duration now = context_->machine.now();
  const Duration response = now - release_.nominal;
  watch_overrun();
  trace(TraceKind::complete, now, aborted_ ? 1 : 0);
  TaskStatistics& seen = statistics_;
  ++seen.jobs;
  if (aborted_) ++seen.aborted;
  // A job that was given up at its deadline, and ended there, is not complete.
  const bool late = response > setup_.deadline || (aborted_ && deadline_seen_);
  if (!setup_.best_effort && late) {
    ++seen.misses;
    trace(TraceKind::miss, now, deadline().count());
  }
  if (response > seen.response.max()) seen.longest_job = job_;
  seen.response.add(response);
  seen.execution.add(context_->machine.execution_time() - execution_at_start_);
  live_.jobs.store(seen.jobs, std::memory_order_relaxed);
  live_.misses.store(seen.misses, std::memory_order_relaxed);
  live_.max_response_ns.store(seen.response.max().count(), std::memory_order_relaxed);
}

// Looks whether the job is late or over its budget. Each is decided on once a job.
void TaskRunner::watch_overrun() {
  const Duration late = context_->machine.now() - deadline();
  if (!deadline_seen_ && !setup_.best_effort && late > Duration()) {
    deadline_seen_ = true;
    overrun({job_, false, late});
  }
  if (budget_seen_ || setup_.cpu_budget.is_infinite()) return;
  const Duration over = context_->machine.execution_time() - execution_at_start_ - setup_.cpu_budget;
  if (over <= Duration()) return;
  budget_seen_ = true;
  ++statistics_.budget_overruns;
  overrun({job_, true, over});
}

Overrun TaskRunner::decide(const OverrunInfo& info) {
  if (!setup_.on_overrun) return setup_.overrun;
  try {
    return setup_.on_overrun(info);
  } catch (const MachineStopped&) {
    throw;
  } catch (const abi::__forced_unwind&) {
    throw;  // the thread ends itself
  } catch (...) {
    note_fault_in_flight();
  }
  return setup_.overrun;
}

void TaskRunner::overrun(const OverrunInfo& info) {
  const Overrun decided = decide(info);
  trace(TraceKind::overrun, context_->machine.now(), static_cast<std::int64_t>(decided));
  if (decided == Overrun::skip) skips_ = true;
  if (decided == Overrun::abort) aborted_ = true;
}

bool TaskRunner::next_is_device_segment() const {
  return next_segment_ < setup_.segments.size() && !std::holds_alternative<CpuSegment>(setup_.segments[next_segment_]);
}

void TaskRunner::begin_cpu_segment() {
  segment_ = next_segment_++;
  in_cpu_segment_ = true;
  spent_ = {};
  trace(TraceKind::cpu, context_->machine.now());
}

// In virtual time, code takes what its segments declare, less what it has spent in so many words.
void TaskRunner::finish_cpu_segments() {
  if (!context_->machine.is_virtual()) return;
  while (in_cpu_segment_ || (next_segment_ < setup_.segments.size() && !next_is_device_segment())) {
    if (!in_cpu_segment_) begin_cpu_segment();
    in_cpu_segment_ = false;
    if (segment_ >= setup_.segments.size()) return;
    const auto* declared = std::get_if<CpuSegment>(&setup_.segments[segment_]);
    if (declared == nullptr) return;
    const Duration left = part(JobPart::cpu, declared->time.min, declared->time.max) - spent_;
    if (left >= Duration()) spend(left);
  }
}

// What the job is in next: the next segment of that kind that its task declares, or one that it does not.
void TaskRunner::begin_device_segment(TraceKind arrives) {
  if (body_) finish_cpu_segments();
  in_cpu_segment_ = false;
  segment_ = std::min<std::size_t>(next_segment_++, std::numeric_limits<std::uint16_t>::max());
  spent_ = {};
  trace(arrives, context_->machine.now());
  step();
}

// After a segment of the GPU or a copy, the job's own code goes on.
void TaskRunner::go_on_with_cpu() {
  if (body_ && !next_is_device_segment()) begin_cpu_segment();
}

Duration TaskRunner::part(JobPart which, Duration min, Duration max) const {
  if (context_->draws == nullptr) return max;
  return context_->draws->part(id_, job_, segment_, which, min, max);
}

Duration TaskRunner::call_time(JobPart which) const {
  if (!context_->calls_take_their_cost) return {};
  const GpuPolicy& policy = context_->arbiter.policy();
  return part(which, {}, which == JobPart::enter ? policy.enter_cost() : policy.leave_cost());
}

// In virtual time each step of a job is a turn of its own; waking up for the job was the first.
void TaskRunner::step() {
  if (!std::exchange(woke_, false)) context_->machine.step();
}

void TaskRunner::spend(Duration time) {
  const bool woke = std::exchange(woke_, false);
  if (time == Duration() && woke) return;
  context_->machine.spend(time);
  spent_ += time;
}

GpuStatus TaskRunner::enter(std::string_view name) {
  if (!is_own_thread()) return GpuStatus::not_own_job;
  if (inside_) return refuse(GpuStatus::already_inside);
  if (const GpuStatus usable = usable_device(); usable != GpuStatus::ok) return count(usable);
  watch_overrun();
  if (aborted_) return GpuStatus::aborted;
  range_.emplace(name);
  begin_device_segment(TraceKind::arrive);
  const StreamId stream = context_->streams[id_];
  batch_.clear();
  target_ = {&batch_, context_->device.cuda_stream(stream), context_->device.sm_share(stream), &context_->device,
             stream};
  const bool gives_up = setup_.overrun == Overrun::abort && !setup_.on_overrun && !setup_.best_effort;
  const Duration until = gives_up ? deadline() : Duration::infinite();
  const Duration asked = context_->machine.now();
  const GpuStatus status = context_->arbiter.enter(place(), call_time(JobPart::enter), until, *trace_);
  inside_ = status == GpuStatus::ok;
  if (inside_) context_->device.begin_launching(stream, context_->machine.now());
  if (!inside_) range_.reset();
  if (status == GpuStatus::aborted) {  // at its deadline, which counts as late
    deadline_seen_ = true;
    overrun({job_, false, context_->machine.now() - deadline()});
  }
  const Duration told = context_->arbiter.told_at(id_);
  if (inside_ && told >= asked) statistics_.grant_latency.add(context_->machine.now() - told);
  return count(status);
}

GpuStatus TaskRunner::leave() {
  if (!is_own_thread()) return GpuStatus::not_own_job;
  if (!inside_) return refuse(GpuStatus::not_inside);
  const GpuSegment* declared = declared_segment();
  if (declared != nullptr && (!body_ || context_->machine.is_virtual())) {
    const Duration left = part(JobPart::misc, declared->misc.min, declared->misc.max) - spent_;
    if (left >= Duration()) spend(left);
  }
  watch_overrun();
  if (const GpuStatus refused = refusal_of_work(); refused != GpuStatus::ok) {
    give_up();
    go_on_with_cpu();
    return count(refused);
  }
  const GpuStatus status = run_work(declared);
  const GpuStatus left = context_->arbiter.leave(place(), call_time(JobPart::leave), *trace_);
  inside_ = false;
  range_.reset();
  go_on_with_cpu();
  return count(status != GpuStatus::ok ? status : left);
}

// A task that declares that it does without the GPU may have no stream.
GpuStatus TaskRunner::usable_device() const {
  return context_->streams[id_] == kNoStream ? GpuStatus::not_supported : context_->device.usable();
}

// Why the work of the segment must not run, if so. What went into a CUDA stream runs already, and has to be awaited.
GpuStatus TaskRunner::refusal_of_work() const {
  if (target_.lacks_cuda) return GpuStatus::not_supported;
  if (target_.was_handed_out && !batch_.sliced()) return GpuStatus::ok;
  if (target_.is_overfull) return GpuStatus::too_much_work;
  return aborted_ ? GpuStatus::aborted : GpuStatus::ok;
}

GpuStatus TaskRunner::run_work(const GpuSegment* declared) {
  complete_batch(declared);
  const bool has_work = !batch_.launches().empty() || batch_.sliced() || target_.was_handed_out || declared != nullptr;
  if (!has_work) return GpuStatus::ok;
  batch_.set_place(place(), target_.was_handed_out);
  const StreamId stream = context_->streams[id_];
  const GpuStatus launched = context_->device.launch(stream, batch_, context_->machine.now());
  if (launched == GpuStatus::device_lost) context_->arbiter.look_at_device(*trace_);
  if (launched != GpuStatus::ok) return launched;
  const GpuStatus submitted = context_->arbiter.submit(place(), batch_, *trace_);
  if (submitted != GpuStatus::ok) return submitted;
  const GpuStatus status = context_->arbiter.await(id_, *trace_);
  note_completion(status);
  return target_.is_overfull && status == GpuStatus::ok ? GpuStatus::too_much_work : status;
}

GpuStatus TaskRunner::copy(std::string_view name, CopyRequest request) {
  if (!is_own_thread()) return GpuStatus::not_own_job;
  if (inside_) return refuse(GpuStatus::already_inside);
  if (const GpuStatus usable = usable_device(); usable != GpuStatus::ok) return count(usable);
  watch_overrun();
  if (aborted_) return GpuStatus::aborted;
  const NvtxRange range(name);
  begin_device_segment(TraceKind::copy_arrive);
  const CopySegment* declared =
      segment_ < setup_.segments.size() ? std::get_if<CopySegment>(&setup_.segments[segment_]) : nullptr;
  if (declared != nullptr && request.time == Duration()) {
    request.time = part(JobPart::exec, declared->time.min, declared->time.max);
  }
  const GpuStatus status = context_->arbiter.copy(place(), request, *trace_);
  note_completion(status);
  go_on_with_cpu();
  return count(status);
}

void TaskRunner::give_up() {
  inside_ = false;
  // What went into a CUDA stream runs already: the GPU is free when that has ended.
  if (target_.was_handed_out && target_.cuda != nullptr) {
    batch_.clear();
    run_work(nullptr);
  }
  context_->arbiter.cancel(place(), *trace_);
  range_.reset();
}

const GpuSegment* TaskRunner::declared_segment() const {
  return segment_ < setup_.segments.size() ? std::get_if<GpuSegment>(&setup_.segments[segment_]) : nullptr;
}

// Work that says nothing of its time takes what is declared; slices are those of the work, or the declared ones.
void TaskRunner::complete_batch(const GpuSegment* declared) {
  TimedWork& timed = batch_.timed();
  const bool is_launched_by_task = target_.was_handed_out || batch_.sliced();
  if (is_launched_by_task && context_->device.properties().attended) return;
  if (declared != nullptr && timed.time == Duration()) {
    const Duration worst = whole_gpu_exec(*declared, context_->sms).value_or(Duration());
    const Duration exec = part(JobPart::exec, declared->exec ? declared->exec->min : Duration(), worst);
    if (batch_.launches().empty()) {
      batch_.add({{}, 0, 0, exec});
    } else {
      timed.time = exec;
    }
  }
  batch_.end_slice();
  auto slices = static_cast<std::int64_t>(batch_.slices());
  if (declared != nullptr) {
    slices = std::max<std::int64_t>(slices, declared->slices);
    timed.block = declared->block.value_or(Duration());
  }
  if (slices <= 1) return;
  timed.slice_length = Duration::nanoseconds(ceil_div(timed.time, Duration::nanoseconds(slices))) + context_->launch;
  timed.time += (slices - 1) * context_->launch;
}

GpuStatus TaskRunner::refuse(GpuStatus status) {
  ++statistics_.misuses;
  trace(TraceKind::error, context_->machine.now(), static_cast<std::int64_t>(status));
  return status;
}

GpuStatus TaskRunner::count(GpuStatus status) {
  if (status == GpuStatus::failed || status == GpuStatus::device_lost || status == GpuStatus::too_much_work) {
    ++statistics_.gpu_failures;
    trace(TraceKind::error, context_->machine.now(), static_cast<std::int64_t>(status));
  }
  return status;
}

void TaskRunner::trace(TraceKind kind, Duration when, std::int64_t value) {
  trace_->write(
      {when.count(), context_->machine.order(), job_, value, id_, static_cast<std::uint16_t>(segment_), kind});
}

// A device that is lost tells nobody of an end.
void TaskRunner::note_completion(GpuStatus status) {
  if (status == GpuStatus::device_lost) return;
  statistics_.completion_latency.add(context_->machine.now() - context_->arbiter.told_at(id_));
}

// In a handler.
void TaskRunner::note_fault_in_flight() {
  try {
    throw;
  } catch (const std::exception& exception) {
    note_fault(exception.what());
  } catch (...) {
    note_fault("an exception that is not a std::exception");
  }
}

void TaskRunner::note_fault(std::string_view what) {
  ++statistics_.faults;
  statistics_.last_fault.assign(what.substr(0, kFaultLength));  // within what is reserved
  trace(TraceKind::error, context_->machine.now(), -1);
}

}  // namespace rtgpu
