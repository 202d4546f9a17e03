#include "runtime/device/host/timed_device.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace rtgpu {
namespace {

// Takes up to `passed` off `left`, and returns what was taken.
Duration take(Duration& left, Duration passed) {
  const Duration taken = std::min(left, passed);
  left -= taken;
  return taken;
}

DeviceProperties timed(DeviceProperties properties) {
  properties.virtual_time = true;
  return properties;
}

}  // namespace

TimedDevice::TimedDevice(DeviceProperties properties) : resources_(timed(std::move(properties))) {}

DeviceProperties TimedDevice::properties_of(const Gpu& gpu) {
  DeviceProperties properties;
  properties.name = gpu.name;
  properties.sms = gpu.sms.value_or(1);
  properties.copy_engines = gpu.copy_engines;
  properties.stream_levels = gpu.stream_priorities.value_or(1);
  properties.memory = gpu.memory.value_or(std::numeric_limits<std::int64_t>::max());
  return properties;
}

Result<StreamId> TimedDevice::add_stream(const StreamSetup& setup) {
  Errors errors = resources_.check_stream(setup);
  if (!errors.empty()) return errors;
  streams_.emplace_back();
  return static_cast<StreamId>(streams_.size() - 1);
}

Result<std::vector<Partition>> TimedDevice::add_partitions(std::span<const int> sms) {
  return resources_.take_partitions(sms, !streams_.empty());
}

Result<std::span<std::byte>> TimedDevice::reserve(std::int64_t bytes) {
  Errors errors = resources_.take_memory(bytes);
  if (!errors.empty()) return errors;
  return std::span<std::byte>();
}

void TimedDevice::start(Machine& /*machine*/, DeviceListener& /*listener*/, BoundaryRule rule) {
  rule_ = rule;
  std::ranges::fill(streams_, StreamState{});
  seen_ = {};
  running_ = kNoStream;
  switch_left_ = {};
  switching_ = false;
  wants_boundary_ = false;
  turn_done_ = {};
  boundary_at_ = Duration::infinite();
  copying_.fill(kNoStream);
  copy_begun_.fill(false);
}

void TimedDevice::submit(StreamId stream, const WorkBatch& batch, Duration now) {
  catch_up(now);
  StreamState& state = streams_[stream];
  state.left = batch.timed().time;
  state.done = {};
  state.slice_length = batch.timed().slice_length;
  state.block = batch.timed().block;
}

void TimedDevice::select(StreamId stream, Duration switch_time, Duration now) {
  catch_up(now);
  running_ = stream;
  switch_left_ = switch_time;
  switching_ = stream != kNoStream && switch_time > Duration();
  turn_done_ = {};
  boundary_at_ = Duration::infinite();  // that of the work before may fall on the end of the switch
}

void TimedDevice::want_boundary(bool wanted, Duration now) {
  catch_up(now);
  wants_boundary_ = wanted;
}

bool TimedDevice::copy(StreamId stream, const CopyRequest& request, Duration now) {
  catch_up(now);
  StreamState& state = streams_[stream];
  state.copy_waits = true;
  state.copy_key = request.key;
  state.copy_engine = copy_engine(request.direction);
  state.copy_left = request.time;
  const auto engine = static_cast<std::size_t>(state.copy_engine);
  if (copying_[engine] != kNoStream) return false;
  feed(engine);
  copy_begun_[engine] = true;
  return true;
}

bool TimedDevice::abandon(StreamId stream, Duration now) {
  catch_up(now);
  StreamState& state = streams_[stream];
  state.left = {};
  if (running_ == stream) select(kNoStream, {}, now);
  if (!state.copy_waits) return true;
  state.copy_waits = false;
  const auto engine = static_cast<std::size_t>(state.copy_engine);
  if (copying_[engine] == stream) {
    copying_[engine] = kNoStream;
    feed(engine);
  }
  return true;
}

int TimedDevice::copy_engine(CopyDirection direction) const {
  return properties().copy_engines > 1 && direction == CopyDirection::to_host ? 1 : 0;
}

Duration TimedDevice::next_event(Duration now) {
  catch_up(now);
  Duration next = Duration::infinite();
  for (std::size_t engine = 0; engine < kEngines; ++engine) {
    if (copying_[engine] == kNoStream) continue;
    next = std::min(next, copy_begun_[engine] ? now + streams_[copying_[engine]].copy_left : now);
  }
  if (running_ == kNoStream) return next;
  if (switching_) return std::min(next, now + switch_left_);
  boundary_at_ = now + to_boundary();
  return std::min({next, now + streams_[running_].left, boundary_at_});
}

DeviceEvents TimedDevice::advance(Duration now) {
  catch_up(now);
  DeviceEvents events;
  gpu_due(now, events);
  copies_due(now, events);
  return events;
}

// What was going on went on until `now`. It may have gone past an event that is told late.
void TimedDevice::catch_up(Duration now) {
  Duration passed = now - seen_;
  if (passed <= Duration()) return;
  seen_ = now;
  for (std::size_t engine = 0; engine < kEngines; ++engine) {
    if (copying_[engine] != kNoStream) take(streams_[copying_[engine]].copy_left, passed);
  }
  if (running_ == kNoStream) return;
  passed -= take(switch_left_, passed);
  StreamState& state = streams_[running_];
  const Duration ran = take(state.left, passed);
  state.done += ran;
  turn_done_ += ran;
}

// How long the running work runs on until a boundary that somebody waits for.
Duration TimedDevice::to_boundary() const {
  if (!wants_boundary_) return Duration::infinite();
  const StreamState& state = streams_[running_];
  const auto rest_of = [](Duration length, Duration done) {
    return length - Duration::nanoseconds(done.count() % length.count());
  };
  switch (rule_.kind) {
    case Boundary::none:
      break;
    case Boundary::time_slice:  // alone, a context has its time slices one after another
      return rest_of(rule_.time_slice, turn_done_);
    case Boundary::slice:
      if (state.slice_length > Duration()) return rest_of(state.slice_length, state.done);
      break;
    case Boundary::block: {
      if (state.block == Duration()) return state.done == Duration() ? Duration() : Duration::infinite();
      const Duration rest = rest_of(state.block, state.done);
      return rest == state.block ? Duration() : rest;
    }
  }
  return Duration::infinite();
}

void TimedDevice::gpu_due(Duration now, DeviceEvents& events) {
  if (running_ == kNoStream || switch_left_ > Duration()) return;
  const StreamId stream = running_;
  if (switching_) {
    switching_ = false;
    events.add({DeviceEvent::Kind::switched, stream});
  }
  if (streams_[stream].left == Duration()) {
    running_ = kNoStream;
    events.add({DeviceEvent::Kind::complete, stream});
  } else if (wants_boundary_ && boundary_at_ <= now) {
    boundary_at_ = Duration::infinite();
    events.add({DeviceEvent::Kind::boundary, stream});
  }
}

void TimedDevice::copies_due(Duration /*now*/, DeviceEvents& events) {
  for (std::size_t engine = 0; engine < kEngines; ++engine) {
    const StreamId stream = copying_[engine];
    if (stream == kNoStream) continue;
    if (!copy_begun_[engine]) {
      copy_begun_[engine] = true;
      events.add({DeviceEvent::Kind::copying, stream, static_cast<int>(engine)});
      continue;
    }
    if (streams_[stream].copy_left > Duration()) continue;
    streams_[stream].copy_waits = false;
    copying_[engine] = kNoStream;
    events.add({DeviceEvent::Kind::copied, stream, static_cast<int>(engine)});
    feed(engine);
    if (copying_[engine] != kNoStream) {
      copy_begun_[engine] = true;
      events.add({DeviceEvent::Kind::copying, copying_[engine], static_cast<int>(engine)});
    }
  }
}

// Starts the copy that is next on an engine, if that is free.
void TimedDevice::feed(std::size_t engine) {
  if (copying_[engine] != kNoStream) return;
  for (StreamId stream = 0; stream < streams_.size(); ++stream) {
    const StreamState& state = streams_[stream];
    if (!state.copy_waits || static_cast<std::size_t>(state.copy_engine) != engine) continue;
    const StreamId best = copying_[engine];
    if (best == kNoStream || state.copy_key < streams_[best].copy_key) copying_[engine] = stream;
  }
  copy_begun_[engine] = false;
}

}  // namespace rtgpu
