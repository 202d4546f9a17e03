// Graphs of CUDA as the work of GPU segments: made at set-up, launched on the path of a job with one call.
#pragma once

#include "rtgpu/result.h"
#include "runtime/device/cuda/driver.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace rtgpu::cuda {

// What of a graph goes on the device at another priority than its task's. Only kernels have one of their own.
struct GraphPriorities {
  int expected = 0;  // that of the task's stream; smaller numbers go first
  std::size_t kernels = 0;
  std::size_t foreign = 0;         // kernels with another one
  std::vector<int> foreign_found;  // the others, each once, ascending
  std::size_t unseen = 0;          // nodes that hold graphs of their own, which were not looked into
  bool has_foreign() const { return foreign != 0; }
};

// "3 of 12 kernels of the graph have priorities -5, 0 instead of -2, that of the task's stream: ..."; one line.
std::string to_string(const GraphPriorities& priorities);

// A graph that can be launched, with the priorities of its kernels (kGraphUseNodePriority): without that, all of them
// have that of the stream they are launched into, also those that were captured on others. Movable; the context of its
// streams is current in every thread that calls, its destructor included. Not destroyed while it runs.
class CudaGraph {
 public:
  // What `launches(stream)` launches, there and on streams that it forks from it and joins again. Nothing of it runs.
  // Only the calling thread is kept from calls that a capture does not allow. What `launches` throws passes through,
  // after the capture has been ended. Set-up. Errors (conflict): a default stream; a stream that is being captured
  // already; a capture that was refused, with the calls that can be the reason; nothing was launched. Errors
  // (environment): what else the driver answered.
  static Result<CudaGraph> capture(const Driver& driver, CUstream stream,
                                   const std::function<void(CUstream)>& launches);
  // A graph that the application built, and that stays its own: it may be destroyed at once. `stream` is the task's.
  // Set-up. Errors (conflict): a default stream; no node. Errors (environment): what the driver answered.
  static Result<CudaGraph> adopt(const Driver& driver, CUgraph graph, CUstream stream);

  CudaGraph(CudaGraph&& other) noexcept;
  CudaGraph& operator=(CudaGraph&& other) noexcept;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph();

  // For the path of a job: one call of the driver, which waits for nothing; allocates nothing here. A graph does not
  // run twice at once: what is launched while it runs follows it. Not ready to be called from two threads at once.
  // Nothing is given back to the driver.
  void forget() { exec_ = nullptr; }
  CUresult launch(CUstream stream) const { return driver_->cuGraphLaunch(exec_, stream); }
  const GraphPriorities& priorities() const { return priorities_; }

 private:
  CudaGraph(const Driver& driver, CUgraphExec exec, GraphPriorities priorities);

  Driver driver_;
  CUgraphExec exec_ = nullptr;
  GraphPriorities priorities_;
};

}  // namespace rtgpu::cuda
