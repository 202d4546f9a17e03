// What the fake CUDA driver holds: contexts, streams with their work, events, memory.
#pragma once

#include "runtime/device/cuda/driver_api.h"
#include "tests/support/fake_driver/fake_cuda.h"
#include "tests/support/fake_driver/handles.h"
#include "tests/support/fake_driver/operation.h"
#include "tests/support/fake_driver/settings.h"
#include "tests/support/fake_driver/timeline.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rtgpu::cuda::fake {

struct Allocation {
  CUdevice device = 0;
  std::vector<std::byte> bytes;
};

// How many blocks of any kernel an SM runs at a time.
inline constexpr unsigned kBlocksPerSm = 2;

enum class Needs : std::uint8_t { nothing, init, context };

class Model {
 public:
  static Model& instance();
  static thread_local CUcontext current;

  void reset();
  bool configure(std::string_view setting);
  // What a call has to answer before it does anything; success: it goes on. Counts it.
  CUresult refuses(std::string_view call, Needs needs);
  bool is_lost() const { return settings.fault != CUresult::success; }
  bool is_device(CUdevice device) const { return device >= 0 && device < settings.devices; }
  int clamp_priority(int priority) const;

  // A stream that is not there, or one of the default ones unless the settings allow it: null.
  CUstream find_stream(CUstream handle);
  // With those that are destroyed but have work.
  std::vector<std::shared_ptr<CUstream_st>> all_streams() const;
  bool destroy_stream(CUstream stream);
  CUgraphNode find_node(CUgraphNode handle) const;
  const CUgreenCtx_st* current_green() const;
  // Those that a kernel of the stream may use: those of its green context, or what these leave, but at least one.
  unsigned sms_of(const CUstream_st& stream) const;
  bool is_complete(const CUevent_st& event) const;

  // The host's address of `bytes` of device memory; none: they are not all in one allocation.
  std::byte* memory_at(CUdeviceptr address, std::size_t bytes);
  std::size_t used_memory(CUdevice device) const;

  // Adds it to the stream, or to what is captured there.
  CUresult submit(CUstream stream, Operation operation);
  // The first adds it to the stream after other operations; the second then lets work go on.
  OperationPtr enqueue(CUstream stream, Operation operation, std::vector<OperationPtr> after);
  void proceed();
  void begin(Operation& operation);
  void finish(const OperationPtr& operation);

  std::size_t complete(CUstream stream, std::size_t most);
  void complete_all();
  std::size_t things_left() const;

  // Does what is due by now. Every call begins with it.
  void catch_up();
  bool advance_to(std::uint64_t time);
  // When the next thing ends, or is seen to have ended.
  std::optional<std::uint64_t> next_event() const;
  // Until something may have changed. With the clock of a test, time goes on to the next event.
  void wait(std::unique_lock<std::mutex>& lock);

  std::mutex mutex;
  std::condition_variable changed;
  Settings settings;
  Timeline timeline;
  bool initialised = false;
  std::uint64_t submitted = 0;  // how many operations
  std::uint64_t partitions = 0;
  Handles<CUctx_st> contexts;
  Handles<CUstream_st> streams;
  std::vector<std::shared_ptr<CUstream_st>>
      hidden_streams;  // destroyed, with work; and those that are there by default
  Handles<CUevent_st> events;
  Handles<CUmod_st> modules;
  Handles<CUfunc_st> functions;
  Handles<CUgraph_st> graphs;
  Handles<CUgraphExec_st> graph_execs;
  Handles<CUdevResourceDesc_st> descriptions;
  Handles<CUgreenCtx_st> green_contexts;
  unsigned char splits = 0;  // of SMs that there have been
  std::map<CUdevice, CUcontext> primary;
  std::map<CUdevice, unsigned> primary_flags;
  std::map<CUdeviceptr, Allocation> memory;
  std::map<void*, std::vector<std::byte>> host_memory;
  std::map<std::string, FakeKernel, std::less<>> kernels;
  std::vector<FakeLaunch> launches;
  std::map<std::string, std::size_t, std::less<>> calls;

 private:
  bool change_clock(Clock before);
  CUresult planned_result(std::string_view call);
};

// While there is one, this thread is in the driver.
class InDriver {
 public:
  InDriver() { ++depth_; }
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;
  ~InDriver() { --depth_; }
  static bool holds() { return depth_ > 0; }

 private:
  static thread_local int depth_;
};

// The frame of an entry point: the lock, the errors that were asked for, and then `body(model)`.
template <class Body>
CUresult in_call(std::string_view name, Needs needs, Body body) {
  const InDriver in_driver;
  Model& model = Model::instance();
  const std::unique_lock lock(model.mutex);
  model.catch_up();
  const CUresult refused = model.refuses(name, needs);
  return refused != CUresult::success ? refused : body(model);
}

// The same for one that waits: `check(model)`, and then until `done(model)`, or until the device is lost.
template <class Check, class Done>
CUresult in_wait(std::string_view name, Check check, Done done) {
  const InDriver in_driver;
  Model& model = Model::instance();
  std::unique_lock lock(model.mutex);
  model.catch_up();
  CUresult refused = model.refuses(name, Needs::context);
  if (refused == CUresult::success) refused = check(model);
  if (refused != CUresult::success) return refused;
  while (!model.is_lost() && !done(model)) model.wait(lock);
  return model.settings.fault;
}

// The entry points, by what they are about.
void add_device_calls(DriverCalls& calls);
void add_memory_calls(DriverCalls& calls);
void add_stream_calls(DriverCalls& calls);
void add_event_calls(DriverCalls& calls);
void add_kernel_calls(DriverCalls& calls);
void add_graph_calls(DriverCalls& calls);
void add_green_calls(DriverCalls& calls);

}  // namespace rtgpu::cuda::fake
