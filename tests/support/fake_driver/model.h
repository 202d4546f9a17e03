// What the fake CUDA driver holds: contexts, streams with their work, events, memory.
#pragma once

#include "runtime/device/cuda/driver_api.h"
#include "tests/support/fake_driver/fake_cuda.h"
#include "tests/support/fake_driver/settings.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rtgpu::cuda {

namespace fake {

class Model;

// One step of a stream. It waits while it is not ready, and is told on which stream it is and at which priority it
// runs.
struct Operation {
  CUgraphNodeType type = CUgraphNodeType::empty;
  std::function<bool()> ready = [] { return true; };
  std::function<void(Model&, CUstream, int priority)> run = [](Model&, CUstream, int) {};
  std::optional<int> priority{};  // of its own; otherwise the stream's
};

}  // namespace fake

// What the handles point to.

struct CUctx_st {
  CUdevice device = 0;
  int retained = 0;  // of a primary context
};
struct CUgraphNode_st {
  fake::Operation operation;
  int priority = 0;  // of the stream that it was captured on
};
struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  std::vector<fake::Operation> operations;
};
struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  CUgreenCtx green = nullptr;  // that it was created in
  bool is_orphan = false;      // that context is destroyed
  std::deque<fake::Operation> waiting;
  std::unique_ptr<CUgraph_st> capture;  // while it is captured
};
struct CUevent_st {
  bool timed = true;
  std::uint64_t recorded = 0;  // how often
  std::uint64_t reached = 0;   // which of these the stream has come to
  std::uint64_t at = 0;
  bool is_complete() const { return reached == recorded; }
};
struct CUmod_st {};
struct CUfunc_st {
  CUmodule module = nullptr;
  std::string name;
};
struct CUdevResourceDesc_st {
  CUdevResource sms;
};
struct CUgreenCtx_st {
  CUdevResource sms;
  CUcontext context = nullptr;
};

namespace fake {

template <class T>
class Handles {
 public:
  T* add(T item) { return items_.emplace_back(std::make_shared<T>(std::move(item))).get(); }
  std::shared_ptr<T> find(const T* handle) const {
    const auto at = std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.get() == handle; });
    return at != items_.end() ? *at : nullptr;
  }
  bool remove(const T* handle) {
    return std::erase_if(items_, [&](const auto& item) { return item.get() == handle; }) != 0;
  }
  template <class Condition>
  void remove_if(Condition condition) {
    std::erase_if(items_, [&](const auto& item) { return condition(*item); });
  }
  const std::vector<std::shared_ptr<T>>& items() const { return items_; }

 private:
  std::vector<std::shared_ptr<T>> items_;
};

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
  // What a call has to answer before it does anything; success: it goes on.
  CUresult refuses(std::string_view call, Needs needs);
  bool is_device(CUdevice device) const { return device >= 0 && device < settings.devices; }
  CUgraphNode find_node(CUgraphNode handle) const;
  int clamp_priority(int priority) const { return std::clamp(priority, 1 - settings.levels, 0); }
  // The host's address of `bytes` of device memory; none: they are not all in one allocation.
  std::byte* memory_at(CUdeviceptr address, std::size_t bytes);
  std::size_t used_memory(CUdevice device) const;

  void submit(CUstream stream, const Operation& operation);
  std::size_t complete(CUstream stream, std::size_t most);
  void complete_all();
  void run_kernel(const FakeLaunch& launch, const std::vector<std::vector<std::byte>>& parameters);
  std::size_t things_left() const;

  std::mutex mutex;
  std::condition_variable changed;
  Settings settings;
  bool initialised = false;
  std::uint64_t clock = 0;  // goes on by one with each operation
  Handles<CUctx_st> contexts;
  Handles<CUstream_st> streams;
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
};

// The frame of an entry point: the lock, the errors that were asked for, and then `body(model)`.
template <class Body>
CUresult in_call(std::string_view name, Needs needs, Body body) {
  Model& model = Model::instance();
  const std::unique_lock lock(model.mutex);
  const CUresult refused = model.refuses(name, needs);
  return refused != CUresult::success ? refused : body(model);
}

// The same for one that waits until `done(model)`, or until the device is lost.
template <class Done>
CUresult in_wait(std::string_view name, Done done) {
  Model& model = Model::instance();
  std::unique_lock lock(model.mutex);
  const CUresult refused = model.refuses(name, Needs::context);
  if (refused != CUresult::success) return refused;
  model.changed.wait(lock, [&] { return model.settings.fault != CUresult::success || done(model); });
  return model.settings.fault;
}

// The entry points, by what they are about.
void add_device_calls(DriverCalls& calls);
void add_memory_calls(DriverCalls& calls);
void add_stream_calls(DriverCalls& calls);
void add_kernel_calls(DriverCalls& calls);
void add_graph_calls(DriverCalls& calls);
void add_green_calls(DriverCalls& calls);

}  // namespace fake
}  // namespace rtgpu::cuda
