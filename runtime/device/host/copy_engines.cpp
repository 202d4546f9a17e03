#include "runtime/device/host/copy_engines.h"

#include "runtime/machine/machine.h"

#include <cstring>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {

void CopyEngines::start(Machine& machine, DeviceListener& listener, std::size_t streams) {
  machine_ = &machine;
  listener_ = &listener;
  streams_.assign(streams, StreamState{});
  is_stopping_ = false;
  for (std::size_t index = 0; index < engines_in_use_; ++index) {
    engines_[index].signal.word = Signal::kClear;
    engines_[index].stream = kNoStream;
    ThreadSetup setup;
    setup.name = fmt::format("copy engine {}", index);
    setup.real_time = false;
    machine.start(std::move(setup), [this, index] { run(index); });
  }
}

void CopyEngines::stop() {
  const std::lock_guard guard(lock_);
  is_stopping_ = true;
  for (Engine& engine : engines_) machine_->notify(engine.signal);
}

bool CopyEngines::copy(StreamId stream, const CopyRequest& request) {
  const std::lock_guard guard(lock_);
  StreamState& state = streams_[stream];
  Engine& engine = engines_[static_cast<std::size_t>(engine_of(request.direction))];
  state.request = request;
  ++state.number;
  if (engine.stream != kNoStream) {
    state.waits = true;
    return false;
  }
  hand(engine, stream);
  engine.is_announced = true;
  return true;
}

void CopyEngines::drop(StreamId stream) {
  const std::lock_guard guard(lock_);
  streams_[stream].waits = false;
  ++streams_[stream].number;
  for (std::size_t index = 0; index < engines_.size(); ++index) {
    Engine& engine = engines_[index];
    if (engine.stream != stream) continue;
    if (engine.has_begun) {
      machine_->notify(engine.signal);  // time that it lets pass ends
    } else {
      engine.stream = kNoStream;
      feed(index);
    }
  }
}

bool CopyEngines::confirm(const DeviceEvent& event) {
  const std::lock_guard guard(lock_);
  return event.number == streams_[event.stream].number;
}

// The thread of an engine.
void CopyEngines::run(std::size_t index) {
  Engine& engine = engines_[index];
  while (true) {
    bool has_copy = false;
    {
      const std::lock_guard guard(lock_);
      if (is_stopping_) return;
      has_copy = engine.stream != kNoStream;
      engine.has_begun = has_copy;
    }
    if (has_copy) {
      carry_out(engine, index);
    } else {
      machine_->wait(engine.signal, Waiting::suspended, Duration::infinite());
    }
  }
}

void CopyEngines::carry_out(Engine& engine, std::size_t index) {
  DeviceEvent event{DeviceEvent::Kind::copying, engine.stream, static_cast<int>(index), engine.number};
  if (!engine.is_announced) listener_->on_device_event(event);
  const CopyRequest& request = engine.request;
  if (request.to == nullptr) {
    pass_time(engine);
  } else if (request.bytes > 0 && !is_dropped(engine)) {
    std::memcpy(request.to, request.from, request.bytes);
  }
  const bool is_told = !is_dropped(engine);
  {
    const std::lock_guard guard(lock_);
    engine.stream = kNoStream;
    feed(index);
  }
  event.kind = DeviceEvent::Kind::copied;
  if (is_told) listener_->on_device_event(event);
}

void CopyEngines::pass_time(Engine& engine) {
  const Duration until = machine_->now() + engine.request.time;
  while (!is_dropped(engine) && machine_->wait(engine.signal, Waiting::suspended, until)) {
  }
}

bool CopyEngines::is_dropped(const Engine& engine) {
  const std::lock_guard guard(lock_);
  return is_stopping_ || streams_[engine.stream].number != engine.number;
}

// Gives a free engine the copy that is next, if any waits.
void CopyEngines::feed(std::size_t index) {
  StreamId best = kNoStream;
  for (StreamId stream = 0; stream < streams_.size(); ++stream) {
    const StreamState& state = streams_[stream];
    if (!state.waits || static_cast<std::size_t>(engine_of(state.request.direction)) != index) continue;
    if (best == kNoStream || state.request.key < streams_[best].request.key) best = stream;
  }
  if (best != kNoStream) hand(engines_[index], best);
}

void CopyEngines::hand(Engine& engine, StreamId stream) {
  StreamState& state = streams_[stream];
  state.waits = false;
  engine.stream = stream;
  engine.number = state.number;
  engine.request = state.request;
  engine.is_announced = false;
  engine.has_begun = false;
  machine_->notify(engine.signal);
}

}  // namespace rtgpu
