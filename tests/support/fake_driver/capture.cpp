#include "tests/support/fake_driver/capture.h"

#include <array>
#include <set>

namespace rtgpu::cuda::fake {
namespace {

// Those that the driver's documentation calls potentially unsafe, or that are seen to be refused.
constexpr auto kDisturbing = std::to_array<std::string_view>(
    {"cuCtxSynchronize", "cuStreamQuery", "cuStreamSynchronize", "cuEventQuery", "cuEventSynchronize", "cuMemAlloc",
     "cuMemFree", "cuMemHostAlloc", "cuMemFreeHost", "cuModuleLoadData", "cuModuleUnload"});

bool forbids(const Capture& capture) {
  switch (capture.mode) {
    case CUstreamCaptureMode::global:
      return true;
    case CUstreamCaptureMode::thread_local_only:
      return capture.thread == std::this_thread::get_id();
    default:
      return false;
  }
}

void add_missing(std::vector<std::size_t>& nodes, const std::vector<std::size_t>& more) {
  for (const std::size_t node : more) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
}

// These and all that comes before them.
std::set<std::size_t> with_earlier(const CUgraph_st& graph, std::vector<std::size_t> nodes) {
  std::set<std::size_t> all;
  while (!nodes.empty()) {
    const std::size_t node = nodes.back();
    nodes.pop_back();
    if (all.insert(node).second)
      nodes.insert(nodes.end(), graph.nodes[node]->after.begin(), graph.nodes[node]->after.end());
  }
  return all;
}

// Every stream that joined the capture has been waited for.
bool is_joined(const Model& model, const Capture& capture) {
  const std::set<std::size_t> reached = with_earlier(capture.graph, capture.origin->captured_last);
  for (const auto& stream : model.streams.items()) {
    if (stream->capture.get() != &capture) continue;
    for (const std::size_t node : stream->captured_last) {
      if (reached.count(node) == 0) return false;
    }
  }
  return true;
}

void release_streams(const Model& model, const Capture& capture) {
  for (const auto& stream : model.streams.items()) {
    if (stream->capture.get() != &capture) continue;
    stream->captured_last.clear();
    stream->capture.reset();
  }
}

}  // namespace

bool disturbs_capture(Model& model, std::string_view call) {
  if (std::find(kDisturbing.begin(), kDisturbing.end(), call) == kDisturbing.end()) return false;
  bool any = false;
  for (const auto& stream : model.streams.items()) {
    if (stream->capture == nullptr || !forbids(*stream->capture)) continue;
    stream->capture->is_invalid = true;
    any = true;
  }
  return any;
}

CUresult capture_operation(CUstream_st& stream, Operation operation) {
  Capture& capture = *stream.capture;
  if (capture.is_invalid) return CUresult::stream_capture_invalidated;
  std::vector<std::size_t> next = {capture.graph.nodes.size()};
  capture.graph.nodes.push_back(std::make_shared<CUgraphNode_st>(
      CUgraphNode_st{std::move(operation), stream.priority, std::exchange(stream.captured_last, next)}));
  return CUresult::success;
}

CUresult capture_record(const CUstream_st& stream, CUevent_st& event) {
  if (stream.capture->is_invalid) return CUresult::stream_capture_invalidated;
  event.record = nullptr;
  event.is_captured = true;
  event.capture = stream.capture;
  event.captured_after = stream.captured_last;
  return CUresult::success;
}

CUresult capture_wait(CUstream_st& stream, const CUevent_st& event) {
  const std::shared_ptr<Capture> capture = event.capture.lock();
  if (stream.capture != nullptr && stream.capture->is_invalid) return CUresult::stream_capture_invalidated;
  if (!event.is_captured) return CUresult::stream_capture_isolation;
  if (capture == nullptr) return CUresult::captured_event;  // that capture has ended
  if (capture->is_invalid) return CUresult::stream_capture_invalidated;
  if (stream.capture != nullptr && stream.capture != capture) return CUresult::stream_capture_merge;
  stream.capture = capture;
  add_missing(stream.captured_last, event.captured_after);
  return CUresult::success;
}

CUresult end_capture(Model& model, const CUstream_st& stream, CUgraph* graph) {
  const std::shared_ptr<Capture> capture = stream.capture;
  *graph = nullptr;
  if (capture == nullptr) return CUresult::illegal_state;
  if (capture->mode != CUstreamCaptureMode::relaxed && capture->thread != std::this_thread::get_id()) {
    return CUresult::stream_capture_wrong_thread;
  }
  if (capture->origin != &stream) {
    capture->is_invalid = true;
    return CUresult::stream_capture_unmatched;
  }
  const bool joined = is_joined(model, *capture);
  release_streams(model, *capture);
  if (capture->is_invalid) return CUresult::stream_capture_invalidated;
  if (!joined) return CUresult::stream_capture_unjoined;
  *graph = model.graphs.add(std::move(capture->graph));
  return CUresult::success;
}

void leave_capture(const Model& model, CUstream_st& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return;
  capture->is_invalid = true;
  stream.capture.reset();
  if (capture->origin == &stream) release_streams(model, *capture);
}

}  // namespace rtgpu::cuda::fake
