// What happens during a run.
#include "runtime/device/cuda/cuda_device.h"

#include "runtime/device/cuda/driver_error.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace rtgpu::cuda {
namespace {

// Work that has run for this many times as long is looked at again after as long as that.
constexpr std::int64_t kLooks = 8;
// Events of a copy engine at one moment, at most: a copy ends and the next begins, and one that nobody was told of.
constexpr std::size_t kEventsOfEngine = 3;

}  // namespace

void CudaDevice::start(Machine& machine, DeviceListener& /*listener*/, BoundaryRule rule) {
  machine_ = &machine;
  rule_ = rule;
  selected_ = kNoStream;
  wants_boundary_ = false;
  is_loss_told_ = false;
  looked_ = {};
  if (options_.clock != nullptr) options_.clock->start();
  for (const auto& state : streams_) state->stage = Stage::idle;
  for (const auto& queue : copies_) queue->reset(streams_.size());
  start_times();
}

// Work that is still there then does not end.
void CudaDevice::stop() {
  if (has_work()) lose(CUresult::timeout);
}

// On the device, also of copies.
bool CudaDevice::has_work() const {
  const std::lock_guard guard(lock_);
  return std::ranges::any_of(streams_, [](const auto& state) { return state->stage == Stage::in_flight; }) ||
         std::ranges::any_of(copies_, [](const auto& queue) { return !queue->in_flight_since().is_infinite(); });
}

std::vector<std::string> CudaDevice::notes() const {
  std::vector<std::string> notes = notes_;
  if (!clock_statement_.empty()) notes.push_back(clock_statement_);
  if (is_lost_.load(std::memory_order_acquire)) {
    notes.push_back("the device was lost: " + (loss_ == CUresult::timeout ? "its work did not end" : describe(loss_)));
  }
  return notes;
}

::CUstream_st* CudaDevice::cuda_stream(StreamId stream) const {
  return reinterpret_cast<::CUstream_st*>(streams_[stream]->work.stream());
}

void CudaDevice::enter_thread() {
  if (!context_.enter()) lose(CUresult::invalid_context);
}

GpuStatus CudaDevice::usable() const {
  if (fork_guard_.is_in_child()) return GpuStatus::forked;
  return is_lost_.load(std::memory_order_acquire) ? GpuStatus::device_lost : GpuStatus::ok;
}

void CudaDevice::begin_launching(StreamId stream, Duration now) {
  reach(now);
  streams_[stream]->work.begin_timing();
}

GpuStatus CudaDevice::launch_graph(StreamId stream, std::size_t graph) {
  const StreamState& state = *streams_[stream];
  if (graph >= state.graphs.size()) return GpuStatus::not_supported;
  const CUresult result = state.graphs[graph].launch(state.work.stream());
  if (severity_of(result) == Severity::device_lost) lose(result);
  if (result == CUresult::success) return GpuStatus::ok;
  return severity_of(result) == Severity::device_lost ? GpuStatus::device_lost : GpuStatus::failed;
}

GpuStatus CudaDevice::launch(StreamId stream, const WorkBatch& batch, Duration now) {
  reach(now);
  StreamWork& work = streams_[stream]->work;
  const GpuStatus status = work.begin(batch);
  if (status == GpuStatus::device_lost) lose(work.problem());
  return status;
}

void CudaDevice::submit(StreamId stream, const WorkBatch& /*batch*/, Duration now) {
  const std::lock_guard guard(lock_);
  streams_[stream]->fly(now);
}

void CudaDevice::attend(Duration now) {
  reach(now);
  for (StreamId stream = 0; stream < streams_.size() && !is_lost_.load(std::memory_order_acquire); ++stream) {
    look_at(stream);
    launch_next(stream, now);
  }
  attend_copies(now);
  // Whoever waits for an end is told first.
  if (is_timed_ && !has_something_to_tell()) times_->read();
  const std::lock_guard guard(lock_);
  looked_ = now;
}

bool CudaDevice::look(StreamId stream, Duration now) {
  reach(now);
  look_at(stream);
  const std::lock_guard guard(lock_);
  return streams_[stream]->stage == Stage::ended || (is_lost_.load(std::memory_order_relaxed) && !is_loss_told_);
}

// The driver is called without the lock, which the arbiter may wait for. Two threads may look, and what one finds may
// be of a slice whose end the other one has found, and after which the next has been launched.
void CudaDevice::look_at(StreamId stream) {
  StreamState& state = *streams_[stream];
  CUevent end = nullptr;
  std::uint64_t launch = 0;
  {
    const std::lock_guard guard(lock_);
    if (state.stage != Stage::in_flight) return;
    end = state.work.in_flight();
    launch = state.launches;
  }
  const CUresult result = state.work.query(end);
  if (result != CUresult::success && result != CUresult::not_ready) {
    lose(result);
    return;
  }
  const std::lock_guard guard(lock_);
  if (state.launches != launch) return;
  state.was_looked_at = true;
  if (result != CUresult::success || state.stage != Stage::in_flight) return;
  state.stage = Stage::ended;
  state.work.end_timing();
}

void CudaDevice::launch_next(StreamId stream, Duration now) {
  StreamState& state = *streams_[stream];
  {
    const std::lock_guard guard(lock_);
    if (state.stage != Stage::between || !may_go_on(stream)) return;
    state.stage = Stage::starting;
  }
  if (!state.work.launch_next()) lose(state.work.problem());
  const std::lock_guard guard(lock_);
  state.fly(now);
}

void CudaDevice::attend_copies(Duration now) {
  for (const auto& queue : copies_) {
    if (is_lost_.load(std::memory_order_acquire)) return;
    if (const CUresult result = queue->attend(now); result != CUresult::success) lose(result);
  }
}

void CudaDevice::lose(CUresult reason) {
  const std::lock_guard guard(lock_);
  if (is_lost_.load(std::memory_order_relaxed)) return;
  loss_ = reason;
  is_lost_.store(true, std::memory_order_release);
}

// Where the hardware chooses, nobody else does.
bool CudaDevice::may_go_on(StreamId stream) const {
  return rule_.kind == Boundary::block || selected_ == stream;
}

void CudaDevice::select(StreamId stream, Duration /*switch_time*/, Duration /*now*/) {
  const std::lock_guard guard(lock_);
  selected_ = stream;
}

void CudaDevice::want_boundary(bool wanted, Duration /*now*/) {
  const std::lock_guard guard(lock_);
  wants_boundary_ = wanted;
}

bool CudaDevice::copy(StreamId stream, const CopyRequest& request, Duration now) {
  return copies_[static_cast<std::size_t>(copy_engine(request.direction))]->submit(stream, request, now);
}

bool CudaDevice::abandon(StreamId stream, Duration now) {
  bool is_dropped = true;
  for (const auto& queue : copies_) is_dropped = queue->abandon(stream, now) && is_dropped;
  const std::lock_guard guard(lock_);
  StreamState& state = *streams_[stream];
  const bool is_on_device = state.stage == Stage::in_flight || state.stage == Stage::starting;
  if (is_on_device) {
    state.gives_up = true;
    return false;
  }
  state.stage = Stage::idle;
  return is_dropped;
}

int CudaDevice::copy_engine(CopyDirection direction) const {
  return engines() > 1 && direction == CopyDirection::to_host ? 1 : 0;
}

Duration CudaDevice::next_event(Duration now) {
  Duration next = Duration::infinite();
  for (const auto& queue : copies_) next = std::min(next, queue->next_event());
  const std::lock_guard guard(lock_);
  if (is_lost_.load(std::memory_order_relaxed)) return is_loss_told_ ? Duration::infinite() : now;
  for (StreamId stream = 0; stream < streams_.size(); ++stream) {
    const Stage stage = streams_[stream]->stage;
    if (stage == Stage::ended || (stage == Stage::between && may_go_on(stream))) return now;
  }
  if (has_to_tell_boundary()) return now;
  next = std::min(next, options_.clock != nullptr ? next_end(now) : next_look(now));
  return std::max(next, now);
}

// What takes no time has no end that is to come.
Duration CudaDevice::next_end(Duration now) const {
  const bool is_new = std::ranges::any_of(
      streams_, [](const auto& state) { return state->stage == Stage::in_flight && !state->was_looked_at; });
  return is_new ? now : options_.clock->next_end();
}

Duration CudaDevice::next_look(Duration now) const {
  Duration since = Duration::infinite();
  for (const auto& state : streams_) {
    if (state->stage != Stage::in_flight) continue;
    const Duration latest = since.is_infinite() ? state->since : std::max(since, state->since);
    since = latest;
  }
  for (const auto& queue : copies_) {
    const Duration copying = queue->in_flight_since();
    if (!copying.is_infinite()) since = since.is_infinite() ? copying : std::max(since, copying);
  }
  if (since.is_infinite()) return since;
  const Duration pause = Duration::nanoseconds(std::max<std::int64_t>((now - since).count(), 0) / kLooks);
  return looked_ + std::clamp(pause, options_.look_least, options_.look_most);
}

DeviceEvents CudaDevice::advance(Duration now) {
  DeviceEvents events;
  for (std::size_t engine = 0; engine < engines(); ++engine) {
    copies_[engine]->tell(events, static_cast<int>(engine), now);
  }
  const std::lock_guard guard(lock_);
  if (is_lost_.load(std::memory_order_relaxed)) {
    if (!std::exchange(is_loss_told_, true)) events.add({DeviceEvent::Kind::lost, kNoStream});
    return events;
  }
  std::size_t room = DeviceEvents::kMost - kEventsOfEngine * kEngines;
  for (StreamId stream = 0; stream < streams_.size() && room > 0; ++stream) {
    if (streams_[stream]->stage != Stage::ended) continue;
    tell_end(stream, events);
    --room;
  }
  // Which block ends when, nobody tells: the hardware lets others in without being asked.
  if (room > 0 && has_to_tell_boundary()) events.add({DeviceEvent::Kind::boundary, selected_});
  return events;
}

bool CudaDevice::has_to_tell_boundary() const {
  return rule_.kind == Boundary::block && wants_boundary_ && selected_ != kNoStream &&
         streams_[selected_]->stage != Stage::idle;
}

// Of a slice, or of all work.
void CudaDevice::tell_end(StreamId stream, DeviceEvents& events) {
  StreamState& state = *streams_[stream];
  if (std::exchange(state.gives_up, false)) state.work.give_up();
  using Kind = DeviceEvent::Kind;
  if (state.work.is_last()) {
    state.stage = Stage::idle;
    if (selected_ == stream) selected_ = kNoStream;
    events.add({state.work.has_failed() ? Kind::failed : Kind::complete, stream});
    return;
  }
  state.stage = Stage::between;
  if (rule_.kind == Boundary::slice && wants_boundary_) events.add({Kind::boundary, stream});
}

void CudaDevice::reach(Duration now) const {
  if (options_.clock != nullptr) options_.clock->reach(now);
}

}  // namespace rtgpu::cuda
