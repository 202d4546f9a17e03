#include "tests/runtime/device_driver.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

ThreadSetup driver_thread() {
  ThreadSetup setup;
  setup.name = "driver";
  setup.real_time = false;
  return setup;
}

RealtimeOptions ordinary() {
  RealtimeOptions options;
  options.scheduler = Scheduler::normal;
  options.allow_degraded = true;
  options.lock_memory = false;
  return options;
}

}  // namespace

DeviceProperties properties_with(int sms, int copy_engines) {
  DeviceProperties properties;
  properties.name = "test";
  properties.sms = sms;
  properties.copy_engines = copy_engines;
  properties.memory = 1L << 20;
  return properties;
}

DeviceDriver::DeviceDriver(Device& device) : device_(device), machine_(ordinary()) {}

void DeviceDriver::run(BoundaryRule rule, const std::function<void()>& body) {
  device_.start(machine_, *this, rule);
  machine_.start(driver_thread(), [&] {
    body();
    device_.stop();
  });
  const Errors errors = machine_.run();
  EXPECT_TRUE(errors.empty()) << to_string(errors.front());
}

void DeviceDriver::submit(StreamId stream, const WorkBatch& batch) {
  const std::lock_guard guard(lock_);
  device_.submit(stream, batch, now());
}

void DeviceDriver::select(StreamId stream, Duration switch_time) {
  const std::lock_guard guard(lock_);
  device_.select(stream, switch_time, now());
}

void DeviceDriver::want_boundary(bool wanted) {
  const std::lock_guard guard(lock_);
  device_.want_boundary(wanted, now());
}

bool DeviceDriver::copy(StreamId stream, const CopyRequest& request) {
  const std::lock_guard guard(lock_);
  return device_.copy(stream, request, now());
}

bool DeviceDriver::abandon(StreamId stream) {
  const std::lock_guard guard(lock_);
  return device_.abandon(stream, now());
}

void DeviceDriver::execute(StreamId stream, const WorkBatch& batch) {
  const std::size_t before = count(Kind::complete, stream);
  submit(stream, batch);
  select(stream);
  wait_for(Kind::complete, stream, before + 1);
}

void DeviceDriver::wait_for(Kind kind, StreamId stream, std::size_t times) {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return count_locked(kind, stream) >= times; });
}

std::size_t DeviceDriver::count(Kind kind, StreamId stream) {
  const std::lock_guard guard(lock_);
  return count_locked(kind, stream);
}

std::size_t DeviceDriver::count_locked(Kind kind, StreamId stream) const {
  const auto is_such = [&](const DeviceEvent& event) { return event.kind == kind && event.stream == stream; };
  return static_cast<std::size_t>(std::ranges::count_if(events_, is_such));
}

std::vector<DeviceEvent> DeviceDriver::events() {
  const std::lock_guard guard(lock_);
  return events_;
}

void DeviceDriver::on_device_event(const DeviceEvent& event) {
  if (delay_) delay_(event);
  const std::lock_guard guard(lock_);
  if (!device_.confirm(event)) return;
  events_.push_back(event);
  if (react_) react_(event);
  changed_.notify_all();
}

void Milestone::raise() {
  const std::lock_guard guard(lock_);
  ++value_;
  changed_.notify_all();
}

void Milestone::wait_for(std::int64_t value) {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return value_ >= value; });
}

std::int64_t Milestone::value() {
  const std::lock_guard guard(lock_);
  return value_;
}

void ExecutionLog::add(int mark, const Block& block) {
  const std::lock_guard guard(lock_);
  entries_.push_back({mark, block.index, block.sm});
}

std::vector<ExecutionLog::Entry> ExecutionLog::entries() {
  const std::lock_guard guard(lock_);
  return entries_;
}

std::vector<int> ExecutionLog::marks() {
  std::vector<int> marks;
  for (const Entry& entry : entries()) marks.push_back(entry.mark);
  return marks;
}

std::unique_ptr<WorkBatch> batch_of(const BlockKernel& kernel, const std::vector<std::int64_t>& slices) {
  auto batch = std::make_unique<WorkBatch>(slices.size());
  std::int64_t first = 0;
  for (const std::int64_t blocks : slices) {
    batch->add(Launch{kernel, first, blocks, {}});
    batch->end_slice();
    first += blocks;
  }
  return batch;
}

}  // namespace rtgpu
