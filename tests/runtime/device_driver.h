// Drives a device with threads of its own as the arbiter does: every call under one lock, every event confirmed first.
#pragma once

#include "runtime/device/device.h"
#include "runtime/machine/real_machine.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace rtgpu {

// A device of so many SMs, with 1 MiB of memory.
DeviceProperties properties_with(int sms, int copy_engines = 1);

class DeviceDriver final : public DeviceListener {
 public:
  using Kind = DeviceEvent::Kind;

  explicit DeviceDriver(Device& device);

  // Runs the device on a real machine until `body`, on a thread of that, has returned.
  void run(BoundaryRule rule, const std::function<void()>& body);
  void run(const std::function<void()>& body) { run({}, body); }

  // Within run().
  void submit(StreamId stream, const WorkBatch& batch);
  void select(StreamId stream, Duration switch_time = {});
  void want_boundary(bool wanted);
  bool copy(StreamId stream, const CopyRequest& request);
  bool abandon(StreamId stream);
  // Submits, selects, and waits for the end.
  void execute(StreamId stream, const WorkBatch& batch);
  // Waits until there have been so many of these events.
  void wait_for(Kind kind, StreamId stream, std::size_t times = 1);
  std::size_t count(Kind kind, StreamId stream);
  std::vector<DeviceEvent> events();

  // Called for each event under the lock, after it has been confirmed; may call the device itself.
  void on_event(std::function<void(const DeviceEvent&)> react) { react_ = std::move(react); }
  // Called for each event before that, without a lock.
  void before_confirm(std::function<void(const DeviceEvent&)> delay) { delay_ = std::move(delay); }

  void on_device_event(const DeviceEvent& event) override;
  Duration now() const { return machine_.now(); }

 private:
  std::size_t count_locked(Kind kind, StreamId stream) const;

  Device& device_;
  RealMachine machine_;
  std::function<void(const DeviceEvent&)> react_;
  std::function<void(const DeviceEvent&)> delay_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<DeviceEvent> events_;
};

// A number that threads raise and wait for: the order of things in a test is made with these.
class Milestone {
 public:
  void raise();
  void wait_for(std::int64_t value);
  std::int64_t value();

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::int64_t value_ = 0;
};

// What kernels did, in order.
class ExecutionLog {
 public:
  struct Entry {
    int mark = 0;
    std::int64_t block = 0;
    int sm = 0;
  };
  void add(int mark, const Block& block);
  std::vector<Entry> entries();
  // The marks alone.
  std::vector<int> marks();

 private:
  std::mutex lock_;
  std::vector<Entry> entries_;
};

// A batch of one launch for each number of blocks, each a slice of its own, over one grid.
std::unique_ptr<WorkBatch> batch_of(const BlockKernel& kernel, const std::vector<std::int64_t>& slices);

}  // namespace rtgpu
