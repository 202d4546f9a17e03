#include "runtime/device/cuda/graph.h"

#include "runtime/device/cuda/driver_error.h"
#include "runtime/device/cuda/stream_check.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

constexpr const char* kNotWhileCaptured =
    "Not allowed while a stream is captured are calls that wait or ask (cudaStreamSynchronize, cudaDeviceSynchronize, "
    "cudaEventSynchronize, cudaStreamQuery, cudaEventQuery), that allocate or free memory (cudaMalloc, cudaFree, "
    "cudaMallocHost), that copy without a stream (cudaMemcpy), that load code (the first launch of a kernel may: "
    "launch "
    "it once before), and work in the legacy default stream. Do these before.";

Error graph_error(ErrorCode code, std::string found, std::string expected, std::string advice = {}) {
  return Error{code, Place{}, std::move(found), std::move(expected), std::move(advice)};
}

Error graph_call_failed(const char* call, CUresult result) {
  return graph_error(ErrorCode::environment, fmt::format("{} of {}", describe(result), call), "a graph");
}

Error empty_graph(const char* found, const char* advice) {
  return graph_error(ErrorCode::conflict, found, "a graph with work", advice);
}

Error capture_not_begun(CUresult result) {
  if (result != CUresult::illegal_state) return graph_call_failed("cuStreamBeginCapture", result);
  return graph_error(ErrorCode::conflict, "a stream that is being captured", "a stream that is not",
                     "End that capture first, or hand its graph over.");
}

// The driver tells the reason to the call that was refused, and here only that there was one.
Error capture_refused(CUresult result) {
  const auto because = [&](const char* advice) {
    return graph_error(ErrorCode::conflict, fmt::format("a capture that was refused: {}", describe(result)),
                       "work that can be captured", advice);
  };
  switch (result) {
    case CUresult::stream_capture_unsupported:
    case CUresult::stream_capture_invalidated:
    case CUresult::stream_capture_implicit:
    case CUresult::stream_capture_isolation:
    case CUresult::stream_capture_merge:
    case CUresult::captured_event:
      return because(kNotWhileCaptured);
    case CUresult::stream_capture_unjoined:
      return because(
          "Let the stream wait (cudaStreamWaitEvent) for an event at the end of each stream that waited for one "
          "of its own.");
    case CUresult::illegal_state:
    case CUresult::stream_capture_unmatched:
    case CUresult::stream_capture_wrong_thread:
      return because("Leave beginning and ending the capture to the runtime.");
    default:
      return graph_call_failed("cuStreamEndCapture", result);
  }
}

// Destroyed if the application does not keep it.
class CapturedGraph {
 public:
  CapturedGraph(const Driver& driver, CUgraph graph) : driver_(driver), graph_(graph) {}
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() {
    if (graph_ != nullptr) driver_->cuGraphDestroy(graph_);
  }
  CUgraph get() const { return graph_; }

 private:
  const Driver& driver_;
  CUgraph graph_;
};

// A capture that has begun. Ended, and what was captured dropped, if it is left by an exception.
class RunningCapture {
 public:
  RunningCapture(const Driver& driver, CUstream stream) : driver_(driver), stream_(stream) {}
  RunningCapture(const RunningCapture&) = delete;
  RunningCapture& operator=(const RunningCapture&) = delete;
  ~RunningCapture() {
    if (ended_) return;
    CUgraph graph = nullptr;
    end(graph);
    const CapturedGraph dropped(driver_, graph);
  }
  CUresult end(CUgraph& graph) {
    ended_ = true;
    return driver_->cuStreamEndCapture(stream_, &graph);
  }

 private:
  const Driver& driver_;
  CUstream stream_;
  bool ended_ = false;
};

Result<std::vector<CUgraphNode>> nodes_of(const Driver& driver, CUgraph graph) {
  std::size_t count = 0;
  CUresult result = driver->cuGraphGetNodes(graph, nullptr, &count);
  std::vector<CUgraphNode> nodes(count);
  if (result == CUresult::success && count != 0) result = driver->cuGraphGetNodes(graph, nodes.data(), &count);
  if (result != CUresult::success) return graph_call_failed("cuGraphGetNodes", result);
  return nodes;
}

// Looks at one node after another, and keeps the first error.
class PriorityCount {
 public:
  PriorityCount(const Driver& driver, int expected) : driver_(driver) { counted_.expected = expected; }

  void look_at(CUgraphNode node) {
    auto type = CUgraphNodeType::empty;
    if (!ok("cuGraphNodeGetType", driver_->cuGraphNodeGetType(node, &type))) return;
    if (type == CUgraphNodeType::graph || type == CUgraphNodeType::conditional) ++counted_.unseen;
    if (type != CUgraphNodeType::kernel) return;
    CUlaunchAttributeValue value;
    const CUresult result = driver_->cuGraphKernelNodeGetAttribute(node, CUlaunchAttributeID::priority, &value);
    if (!ok("cuGraphKernelNodeGetAttribute", result)) return;
    ++counted_.kernels;
    if (value.priority == counted_.expected) return;
    ++counted_.foreign;
    foreign_.insert(value.priority);
  }
  Result<GraphPriorities> end() {
    if (error_) return *std::move(error_);
    counted_.foreign_found.assign(foreign_.begin(), foreign_.end());
    return std::move(counted_);
  }

 private:
  bool ok(const char* call, CUresult result) {
    if (result != CUresult::success && !error_) error_ = graph_call_failed(call, result);
    return result == CUresult::success;
  }

  const Driver& driver_;
  GraphPriorities counted_;
  std::set<int> foreign_;
  std::optional<Error> error_;
};

}  // namespace

std::string to_string(const GraphPriorities& priorities) {
  std::string text = fmt::format("{} kernels of the graph have priority {}, that of the task's stream",
                                 priorities.kernels, priorities.expected);
  if (priorities.has_foreign()) {
    text = fmt::format(
        "{} of {} kernels of the graph have {} {} instead of {}, that of the task's stream: capture them "
        "on streams of that priority, or set it (cudaLaunchAttributePriority) in their nodes",
        priorities.foreign, priorities.kernels, priorities.foreign_found.size() == 1 ? "priority" : "priorities",
        fmt::join(priorities.foreign_found, ", "), priorities.expected);
  }
  if (priorities.unseen != 0) {
    text += fmt::format("; {} nodes hold graphs of their own, whose priorities are not known", priorities.unseen);
  }
  return text;
}

CudaGraph::CudaGraph(const Driver& driver, CUgraphExec exec, GraphPriorities priorities)
    : driver_(driver), exec_(exec), priorities_(std::move(priorities)) {}

Result<CudaGraph> CudaGraph::capture(const Driver& driver, CUstream stream,
                                     const std::function<void(CUstream)>& launches) {
  if (std::optional<Error> refused = refuse_default_stream(stream)) return *std::move(refused);
  const CUresult begun = driver->cuStreamBeginCapture(stream, CUstreamCaptureMode::thread_local_only);
  if (begun != CUresult::success) return capture_not_begun(begun);
  RunningCapture running(driver, stream);
  launches(stream);
  CUgraph made = nullptr;
  const CUresult ended = running.end(made);
  const CapturedGraph graph(driver, made);
  if (ended != CUresult::success) return capture_refused(ended);
  if (made == nullptr) return empty_graph("no graph", "Launch into the stream that is captured.");
  return adopt(driver, graph.get(), stream);
}

Result<CudaGraph> CudaGraph::adopt(const Driver& driver, CUgraph graph, CUstream stream) {
  if (std::optional<Error> refused = refuse_default_stream(stream)) return *std::move(refused);
  const Result<std::vector<CUgraphNode>> nodes = nodes_of(driver, graph);
  if (!nodes) return nodes.errors();
  if (nodes->empty()) {
    return empty_graph("a graph without nodes",
                       "Launch into the stream that is captured; work elsewhere is not in its graph.");
  }
  int expected = 0;
  if (const CUresult result = driver->cuStreamGetPriority(stream, &expected); result != CUresult::success) {
    return graph_call_failed("cuStreamGetPriority", result);
  }
  PriorityCount count(driver, expected);
  for (CUgraphNode node : *nodes) count.look_at(node);
  Result<GraphPriorities> priorities = count.end();
  if (!priorities) return priorities.errors();
  CUgraphExec exec = nullptr;
  const CUresult made = driver->cuGraphInstantiateWithFlags(&exec, graph, kGraphUseNodePriority);
  if (made != CUresult::success) return graph_call_failed("cuGraphInstantiateWithFlags", made);
  CudaGraph ready(driver, exec, *std::move(priorities));
  // Otherwise its first launch does that, on the path of a job.
  const CUresult uploaded = driver->cuGraphUpload(exec, stream);
  if (uploaded != CUresult::success) return graph_call_failed("cuGraphUpload", uploaded);
  return ready;
}

CudaGraph::CudaGraph(CudaGraph&& other) noexcept
    : driver_(other.driver_), exec_(std::exchange(other.exec_, nullptr)), priorities_(std::move(other.priorities_)) {}

CudaGraph& CudaGraph::operator=(CudaGraph&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(exec_, other.exec_);
  std::swap(priorities_, other.priorities_);
  return *this;
}

CudaGraph::~CudaGraph() {
  if (exec_ != nullptr) driver_->cuGraphExecDestroy(exec_);
}

}  // namespace rtgpu::cuda
