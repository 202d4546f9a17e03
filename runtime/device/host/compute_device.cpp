#include "runtime/device/host/compute_device.h"

#include "runtime/machine/machine.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

DeviceProperties computing(DeviceProperties properties) {
  properties.sms = std::max(properties.sms, 1);
  properties.copy_engines = std::clamp(properties.copy_engines, 1, CopyEngines::kMost);
  properties.computes = true;
  properties.virtual_time = false;
  return properties;
}

Error limit(std::string found, std::string expected, std::string advice) {
  return Error{ErrorCode::limit, Place{}, std::move(found), std::move(expected), std::move(advice)};
}

// A launch that takes time is one block.
std::int64_t blocks_of(const Launch& launch) {
  return launch.kernel ? launch.blocks : 1;
}

// Whether it ended as it should.
bool run_block(const BlockKernel& kernel, const Block& block) {
  try {
    kernel(block);
    return true;
  } catch (...) {
    return false;  // the kernel is the application's: whatever it throws, its work has failed and the device has not
  }
}

}  // namespace

std::span<const Launch> ComputeDevice::StreamState::launches() const {
  return batch->launches().empty() ? std::span(&declared, 1) : batch->launches();
}

bool ComputeDevice::StreamState::has_block_left() const {
  return launch < launches().size() && next_block < blocks_of(launches()[launch]);
}

void ComputeDevice::FreeAligned::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{kAlignment});
}

ComputeDevice::ComputeDevice(DeviceProperties properties)
    : resources_(computing(std::move(properties))),
      sms_(static_cast<std::size_t>(resources_.properties().sms)),
      copies_(resources_.properties().copy_engines) {}

Result<StreamId> ComputeDevice::add_stream(const StreamSetup& setup) {
  Errors errors = resources_.check_stream(setup);
  if (!errors.empty()) return errors;
  if (!setup.partition && resources_.free_sms() == 0) {
    return limit("a stream in no partition", fmt::format("an SM of {} outside its partitions", properties().name),
                 "Make the partitions smaller, or put the stream into one.");
  }
  streams_.emplace_back();
  streams_.back().partition = setup.partition;
  return static_cast<StreamId>(streams_.size() - 1);
}

Result<std::vector<Partition>> ComputeDevice::add_partitions(std::span<const int> sms) {
  Result<std::vector<Partition>> partitions = resources_.take_partitions(sms, !streams_.empty());
  if (!partitions) return partitions;
  auto sm = sms_.begin();
  for (const Partition& partition : *partitions) {
    for (int taken = 0; taken < partition.sms; ++taken) (sm++)->partition = partition.id;
  }
  return partitions;
}

Result<std::span<std::byte>> ComputeDevice::reserve(std::int64_t bytes) {
  Errors errors = resources_.take_memory(bytes);
  if (!errors.empty()) return errors;
  if (bytes == 0) return std::span<std::byte>();
  const auto size = static_cast<std::size_t>(bytes);
  void* memory = ::operator new (size, std::align_val_t{kAlignment}, std::nothrow);
  if (memory == nullptr) {
    return limit(fmt::format("{} bytes of device memory", bytes), "as much as this machine has left",
                 "The memory of this device is that of the machine.");
  }
  memory_.emplace_back(static_cast<std::byte*>(memory));
  std::memset(memory, 0, size);  // so that no page is missing on the job path
  return std::span(memory_.back().get(), size);
}

void ComputeDevice::start(Machine& machine, DeviceListener& listener, BoundaryRule rule) {
  machine_ = &machine;
  listener_ = &listener;
  rule_ = rule;
  is_stopping_ = false;
  selected_ = kNoStream;
  is_switching_ = false;
  wants_boundary_ = false;
  for (StreamState& state : streams_) {
    const std::optional<PartitionId> partition = state.partition;
    state = StreamState{};
    state.partition = partition;
  }
  for (Sm& sm : sms_) sm.signal.word = Signal::kClear;
  for (int index = 0; index < properties().sms; ++index) {
    ThreadSetup setup;
    setup.name = fmt::format("sm {}", index);
    setup.real_time = false;
    machine.start(std::move(setup), [this, index] { run_sm(index); });
  }
  copies_.start(machine, listener, streams_.size());
}

void ComputeDevice::stop() {
  copies_.stop();
  const std::lock_guard guard(lock_);
  is_stopping_ = true;
  for (Sm& sm : sms_) machine_->notify(sm.signal);
}

void ComputeDevice::submit(StreamId stream, const WorkBatch& batch, Duration /*now*/) {
  const std::lock_guard guard(lock_);
  StreamState& state = streams_[stream];
  drop(state);
  state.batch = &batch;
  state.declared.time = batch.timed().time;
  state.launch = 0;
  state.next_block = 0;
  state.slice = 0;
  state.slice_end = batch.slices() > 0 ? batch.slice(0).size() : 0;
  settle(state);
  state.boundary_due = is_between_blocks(stream);
  wake_sms(stream);
}

void ComputeDevice::select(StreamId stream, Duration switch_time, Duration now) {
  const std::lock_guard guard(lock_);
  selected_ = stream;
  ++selections_;
  is_switching_ = stream != kNoStream && switch_time > Duration();
  switch_end_ = now + switch_time;
  turn_begin_ = switch_end_;
  if (stream == kNoStream) return;
  streams_[stream].boundary_due = is_between_blocks(stream);
  wake_sms(stream);
}

void ComputeDevice::want_boundary(bool wanted, Duration /*now*/) {
  const std::lock_guard guard(lock_);
  wants_boundary_ = wanted;
  if (selected_ == kNoStream || !is_between_blocks(selected_)) return;
  streams_[selected_].boundary_due = true;
  wake_sms(selected_);
}

bool ComputeDevice::copy(StreamId stream, const CopyRequest& request, Duration /*now*/) {
  return copies_.copy(stream, request);
}

bool ComputeDevice::abandon(StreamId stream, Duration /*now*/) {
  copies_.drop(stream);
  const std::lock_guard guard(lock_);
  StreamState& state = streams_[stream];
  if (state.batch != nullptr && hangs_everywhere(stream)) {
    drop_rest(state);
    return false;
  }
  drop(state);
  if (selected_ == stream) selected_ = kNoStream;
  // Time that an SM lets pass for it ends.
  for (Sm& sm : sms_) {
    if (serves(sm, stream)) machine_->notify(sm.signal);
  }
  return true;
}

bool ComputeDevice::confirm(const DeviceEvent& event) {
  switch (event.kind) {
    case DeviceEvent::Kind::copying:
    case DeviceEvent::Kind::copied:
      return copies_.confirm(event);
    case DeviceEvent::Kind::complete:
    case DeviceEvent::Kind::failed:
      return confirm_end(event);
    case DeviceEvent::Kind::switched: {
      const std::lock_guard guard(lock_);
      return selected_ == event.stream && event.number == selections_;
    }
    case DeviceEvent::Kind::boundary: {
      const std::lock_guard guard(lock_);
      return selected_ == event.stream && event.number == streams_[event.stream].submission;
    }
    case DeviceEvent::Kind::copy_failed:
    case DeviceEvent::Kind::lost:
      break;  // not of this device
  }
  return false;
}

bool ComputeDevice::confirm_end(const DeviceEvent& event) {
  const std::lock_guard guard(lock_);
  StreamState& state = streams_[event.stream];
  if (event.number != state.submission || state.end != End::told) return false;
  if (selected_ != event.stream) {
    state.end = End::reached;
    return false;
  }
  drop(state);
  selected_ = kNoStream;
  return true;
}

// The thread of an SM.
void ComputeDevice::run_sm(int index) {
  Sm& sm = sms_[static_cast<std::size_t>(index)];
  while (true) {
    const Order order = next_order(index);
    switch (order.kind) {
      case Order::Kind::stop:
        return;
      case Order::Kind::rest:
        machine_->wait(sm.signal, Waiting::suspended, order.time);
        break;
      case Order::Kind::execute:
        end_block(index, order, !run_block(order.kernel, order.block));
        break;
      case Order::Kind::pass_time:
        pass_time(sm, order);
        end_block(index, order, false);
        break;
      case Order::Kind::tell:
        listener_->on_device_event(order.event);
        end_telling(order.event.stream);
        break;
    }
  }
}

ComputeDevice::Order ComputeDevice::next_order(int index) {
  const std::lock_guard guard(lock_);
  Sm& sm = sms_[static_cast<std::size_t>(index)];
  Order rest;
  rest.kind = is_stopping_ ? Order::Kind::stop : Order::Kind::rest;
  sm.rests = true;
  if (is_stopping_ || selected_ == kNoStream || !serves(sm, selected_)) return rest;
  StreamState& state = streams_[selected_];
  if (state.is_telling) return rest;
  if (is_switching_ && machine_->now() < switch_end_) {
    rest.time = switch_end_;
    return rest;
  }
  const bool is_ready = state.batch != nullptr && state.stragglers == 0 && state.end != End::told;
  if (!is_switching_ && !is_ready) return rest;
  sm.rests = false;
  if (std::exchange(is_switching_, false)) return tell(DeviceEvent::Kind::switched, selections_);
  if (state.end == End::reached) {
    state.end = End::told;
    return tell(state.has_failed ? DeviceEvent::Kind::failed : DeviceEvent::Kind::complete, state.submission);
  }
  if (std::exchange(state.boundary_due, false)) return tell(DeviceEvent::Kind::boundary, state.submission);
  if (state.has_block_left()) return begin_block(index, state);
  sm.rests = true;  // the last blocks of the launch run on other SMs
  return rest;
}

ComputeDevice::Order ComputeDevice::begin_block(int index, StreamState& state) {
  const Launch& launch = state.launches()[state.launch];
  Order order;
  order.stream = selected_;
  order.submission = state.submission;
  if (launch.kernel) {
    order.kind = Order::Kind::execute;
    order.kernel = launch.kernel;
    order.block = {launch.first_block + state.next_block, index};
    sms_[static_cast<std::size_t>(index)].executes = selected_;
  } else {
    order.kind = Order::Kind::pass_time;
    order.time = launch.time;
  }
  ++state.next_block;
  ++state.running;
  return order;
}

// Of the selected stream; nothing of it begins before end_telling().
ComputeDevice::Order ComputeDevice::tell(DeviceEvent::Kind kind, std::uint64_t number) {
  streams_[selected_].is_telling = true;
  Order order;
  order.kind = Order::Kind::tell;
  order.event = {kind, selected_, 0, number};
  return order;
}

void ComputeDevice::end_telling(StreamId stream) {
  const std::lock_guard guard(lock_);
  streams_[stream].is_telling = false;
  wake_sms(stream);
}

void ComputeDevice::pass_time(Sm& sm, const Order& order) {
  const Duration until = machine_->now() + order.time;
  while (!is_dropped(order) && machine_->wait(sm.signal, Waiting::suspended, until)) {
  }
}

bool ComputeDevice::is_dropped(const Order& order) {
  const std::lock_guard guard(lock_);
  return is_stopping_ || streams_[order.stream].submission != order.submission;
}

void ComputeDevice::end_block(int index, const Order& order, bool has_failed) {
  const std::lock_guard guard(lock_);
  sms_[static_cast<std::size_t>(index)].executes = kNoStream;
  StreamState& state = streams_[order.stream];
  if (state.submission != order.submission) {
    --state.stragglers;
    wake_sms(order.stream);
    return;
  }
  --state.running;
  if (has_failed) drop_rest(state);
  const std::size_t slice_before = state.slice;
  settle(state);
  const bool slice_ended = state.slice != slice_before;
  if (selected_ == order.stream && boundary_reached(slice_ended)) state.boundary_due = true;
  if (state.running == 0) wake_sms(order.stream);
}

// Goes on to the launch whose blocks are next.
void ComputeDevice::settle(StreamState& state) {
  const std::span<const Launch> launches = state.launches();
  while (state.launch < launches.size() && state.running == 0 && !state.has_block_left()) {
    ++state.launch;
    state.next_block = 0;
    if (state.launch != state.slice_end) continue;
    ++state.slice;
    if (state.slice < state.batch->slices()) state.slice_end += state.batch->slice(state.slice).size();
  }
  if (state.launch >= launches.size() && state.running == 0) state.end = End::reached;
}

// Whether the end of a block of the selected stream is one of the boundaries to report. At the end of all work that is
// reported instead.
bool ComputeDevice::boundary_reached(bool slice_ended) {
  switch (rule_.kind) {
    case Boundary::none:
      break;
    case Boundary::slice:
      return slice_ended;
    case Boundary::block:
      return wants_boundary_;
    case Boundary::time_slice: {
      const Duration now = machine_->now();
      if (now - turn_begin_ < rule_.time_slice) return false;
      turn_begin_ = now;
      return wants_boundary_;
    }
  }
  return false;
}

// Whether somebody waits for the end of a block of the selected stream, and none of its blocks runs.
bool ComputeDevice::is_between_blocks(StreamId stream) const {
  const StreamState& state = streams_[stream];
  return selected_ == stream && rule_.kind == Boundary::block && wants_boundary_ && state.batch != nullptr &&
         state.running == 0;
}

// The work fails, and ends with the blocks that run.
void ComputeDevice::drop_rest(StreamState& state) {
  state.has_failed = true;
  state.launch = state.launches().size();
  settle(state);
}

void ComputeDevice::drop(StreamState& state) {
  state.batch = nullptr;
  ++state.submission;
  state.stragglers += std::exchange(state.running, 0);
  state.has_failed = false;
  state.boundary_due = false;
  state.end = End::none;
}

// Whether every SM that the stream may use is in a kernel of it, so that nothing else could run there.
bool ComputeDevice::hangs_everywhere(StreamId stream) const {
  return std::ranges::none_of(sms_, [&](const Sm& sm) { return serves(sm, stream) && sm.executes != stream; });
}

bool ComputeDevice::serves(const Sm& sm, StreamId stream) const {
  return sm.partition == streams_[stream].partition;
}

void ComputeDevice::wake_sms(StreamId stream) {
  if (selected_ != stream) return;
  for (Sm& sm : sms_) {
    if (serves(sm, stream) && std::exchange(sm.rests, false)) machine_->notify(sm.signal);
  }
}

}  // namespace rtgpu
