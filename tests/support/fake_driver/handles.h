// What the handles of the fake CUDA driver point to.
#pragma once

#include "runtime/device/cuda/driver_api.h"
#include "tests/support/fake_driver/operation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rtgpu::cuda {

namespace fake {
struct Capture;
}

struct CUctx_st {
  CUdevice device = 0;
  int retained = 0;  // of a primary context
};
struct CUgraphNode_st {
  fake::Operation operation;
  int priority = 0;                // of the stream that it was captured on
  std::vector<std::size_t> after;  // nodes of its graph, by index; they come before it there
};
struct CUgraph_st {
  std::vector<std::shared_ptr<CUgraphNode_st>> nodes;
};
struct CUgraphExec_st {
  std::vector<CUgraphNode_st> nodes;
  fake::OperationPtr last{};  // of the last launch
};
struct CUstream_st {
  CUdevice device = 0;
  std::uint64_t partition = 0;  // the number of the green context; 0: none
  unsigned flags = 0;
  int priority = 0;
  bool is_legacy = false;
  CUgreenCtx green = nullptr;                // that it was created in
  bool is_orphan = false;                    // that context is destroyed
  std::deque<fake::OperationPtr> waiting{};  // what is not done
  fake::OperationPtr last{};                 // what comes next comes after it
  // While it is captured.
  std::shared_ptr<fake::Capture> capture{};
  std::vector<std::size_t> captured_last{};  // nodes
};
struct CUevent_st {
  bool timed = true;
  fake::OperationPtr record{};  // the last one; none: it has not been recorded, or in a capture
  // Where it was last recorded in a capture.
  bool is_captured = false;
  std::weak_ptr<fake::Capture> capture{};
  std::vector<std::size_t> captured_after{};  // nodes
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
  std::uint64_t number = 0;
};

namespace fake {

// A graph in the making, of the stream that began it and of those that joined it.
struct Capture {
  CUstream origin = nullptr;
  CUstreamCaptureMode mode = CUstreamCaptureMode::global;
  std::thread::id thread{};
  bool is_invalid = false;
  CUgraph_st graph{};
};

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

}  // namespace fake
}  // namespace rtgpu::cuda
