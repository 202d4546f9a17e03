// The copy engines of the computing device: a thread each, which moves bytes or lets the declared time of a copy pass.
#pragma once

#include "runtime/device/device.h"
#include "runtime/machine/priority_lock.h"
#include "runtime/machine/signal.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

// Thread-safe from start() on; every call is short. Nothing is allocated after start().
class CopyEngines {
 public:
  static constexpr int kMost = 2;

  // 1 to kMost.
  explicit CopyEngines(int engines) : engines_in_use_(static_cast<std::size_t>(engines)) {}

  // The calls below are those of Device.

  void start(Machine& machine, DeviceListener& listener, std::size_t streams);
  void stop();
  bool copy(StreamId stream, const CopyRequest& request);
  // The stream's copy, if it has one, is forgotten. Bytes that are being moved are moved to the end.
  void drop(StreamId stream);
  bool confirm(const DeviceEvent& event);
  int engine_of(CopyDirection direction) const {
    return engines_in_use_ > 1 && direction == CopyDirection::to_host ? 1 : 0;
  }

 private:
  struct StreamState {
    CopyRequest request;
    bool waits = false;        // for its engine
    std::uint64_t number = 0;  // counts up when a copy comes or is dropped
  };

  // Only its own thread changes a copy that has begun.
  struct Engine {
    Signal signal;
    StreamId stream = kNoStream;  // whose copy it has
    std::uint64_t number = 0;     // of that copy
    CopyRequest request;
    bool is_announced = false;  // its beginning is known
    bool has_begun = false;
  };

  void run(std::size_t index);
  void carry_out(Engine& engine, std::size_t index);
  void pass_time(Engine& engine);
  bool is_dropped(const Engine& engine);
  void feed(std::size_t index);
  void hand(Engine& engine, StreamId stream);

  std::size_t engines_in_use_;
  std::array<Engine, kMost> engines_;
  Machine* machine_ = nullptr;
  DeviceListener* listener_ = nullptr;

  PriorityLock lock_;  // guards what follows, and the engines
  std::vector<StreamState> streams_;
  bool is_stopping_ = false;
};

}  // namespace rtgpu
