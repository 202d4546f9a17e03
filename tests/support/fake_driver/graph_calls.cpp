// Captures and graphs of the fake CUDA driver.
#include "tests/support/fake_driver/capture.h"
#include "tests/support/fake_driver/model.h"

namespace rtgpu::cuda::fake {
namespace {

CUresult begin_capture(CUstream handle, CUstreamCaptureMode mode) {
  return in_call("cuStreamBeginCapture", Needs::context, [&](Model& model) {
    const std::shared_ptr<CUstream_st> stream = model.streams.find(handle);
    if (stream == nullptr) return CUresult::invalid_handle;
    if (stream->capture != nullptr) return CUresult::illegal_state;
    stream->capture = std::make_shared<Capture>(Capture{handle, mode, std::this_thread::get_id()});
    return CUresult::success;
  });
}

CUresult end_stream_capture(CUstream handle, CUgraph* graph) {
  return in_call("cuStreamEndCapture", Needs::context, [&](Model& model) {
    const std::shared_ptr<CUstream_st> stream = model.streams.find(handle);
    if (stream == nullptr) return CUresult::invalid_handle;
    return end_capture(model, *stream, graph);
  });
}

// Without `nodes`, how many there are; places that are left are set to null.
CUresult get_nodes(CUgraph graph, CUgraphNode* nodes, std::size_t* count) {
  return in_call("cuGraphGetNodes", Needs::context, [&](Model& model) {
    if (model.graphs.find(graph) == nullptr || count == nullptr) return CUresult::invalid_value;
    const std::size_t all = graph->nodes.size();
    if (nodes == nullptr) {
      *count = all;
      return CUresult::success;
    }
    for (std::size_t at = 0; at < *count; ++at) nodes[at] = at < all ? graph->nodes[at].get() : nullptr;
    *count = std::min(*count, all);
    return CUresult::success;
  });
}

CUresult get_node_type(CUgraphNode node, CUgraphNodeType* type) {
  return in_call("cuGraphNodeGetType", Needs::context, [&](Model& model) {
    if (model.find_node(node) == nullptr) return CUresult::invalid_value;
    *type = node->operation.type;
    return CUresult::success;
  });
}

CUresult get_node_attribute(CUgraphNode node, CUlaunchAttributeID attribute, CUlaunchAttributeValue* value) {
  return in_call("cuGraphKernelNodeGetAttribute", Needs::context, [&](Model& model) {
    if (model.find_node(node) == nullptr || node->operation.type != CUgraphNodeType::kernel) {
      return CUresult::invalid_value;
    }
    if (attribute != CUlaunchAttributeID::priority) return CUresult::invalid_value;
    value->priority = node->priority;
    return CUresult::success;
  });
}

CUresult instantiate_graph(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return in_call("cuGraphInstantiateWithFlags", Needs::context, [&](Model& model) {
    if (model.graphs.find(graph) == nullptr) return CUresult::invalid_handle;
    if ((flags & ~kGraphUseNodePriority) != 0) return CUresult::invalid_value;
    CUgraphExec_st made;
    for (const auto& node : graph->nodes) {
      Operation& operation = made.nodes.emplace_back(*node).operation;
      if ((flags & kGraphUseNodePriority) != 0) operation.priority = node->priority;
    }
    *exec = model.graph_execs.add(std::move(made));
    return CUresult::success;
  });
}

// Its nodes go on when those before them are done, and the stream when all are. One launch of it waits for another.
void enqueue_graph(Model& model, CUgraphExec exec, CUstream stream) {
  std::vector<OperationPtr> before;
  if (stream->last != nullptr) before.push_back(stream->last);
  if (exec->last != nullptr) before.push_back(exec->last);
  std::vector<OperationPtr> nodes;
  std::vector<OperationPtr> leaves;
  for (const CUgraphNode_st& node : exec->nodes) {
    std::vector<OperationPtr> after = node.after.empty() ? before : std::vector<OperationPtr>();
    for (const std::size_t other : node.after) after.push_back(nodes[other]);
    // The stream's last one is not to be waited for, but what `after` says.
    stream->last = nullptr;
    for (const OperationPtr& other : after) std::erase(leaves, other);
    leaves.push_back(nodes.emplace_back(model.enqueue(stream, node.operation, std::move(after))));
  }
  if (leaves.size() > 1) leaves = {model.enqueue(stream, {}, leaves)};
  if (!leaves.empty()) exec->last = leaves.front();
  stream->last = exec->last;
}

CUresult launch_graph(CUgraphExec exec, CUstream handle) {
  return in_call("cuGraphLaunch", Needs::context, [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr || model.graph_execs.find(exec) == nullptr) return CUresult::invalid_handle;
    if (stream->capture != nullptr) return CUresult::stream_capture_unsupported;  // no graphs in graphs here
    if (exec->nodes.empty()) return CUresult::success;
    enqueue_graph(model, exec, stream);
    model.proceed();
    return CUresult::success;
  });
}

CUresult upload_graph(CUgraphExec exec, CUstream handle) {
  return in_call("cuGraphUpload", Needs::context, [&](Model& model) {
    const bool is_known = model.find_stream(handle) != nullptr && model.graph_execs.find(exec) != nullptr;
    return is_known ? CUresult::success : CUresult::invalid_handle;
  });
}

CUresult destroy_graph_exec(CUgraphExec exec) {
  return in_call("cuGraphExecDestroy", Needs::context, [&](Model& model) {
    return model.graph_execs.remove(exec) ? CUresult::success : CUresult::invalid_handle;
  });
}

CUresult destroy_graph(CUgraph graph) {
  return in_call("cuGraphDestroy", Needs::context, [&](Model& model) {
    return model.graphs.remove(graph) ? CUresult::success : CUresult::invalid_handle;
  });
}

}  // namespace

void add_graph_calls(DriverCalls& calls) {
  calls.cuStreamBeginCapture = begin_capture;
  calls.cuStreamEndCapture = end_stream_capture;
  calls.cuGraphGetNodes = get_nodes;
  calls.cuGraphNodeGetType = get_node_type;
  calls.cuGraphKernelNodeGetAttribute = get_node_attribute;
  calls.cuGraphInstantiateWithFlags = instantiate_graph;
  calls.cuGraphUpload = upload_graph;
  calls.cuGraphLaunch = launch_graph;
  calls.cuGraphExecDestroy = destroy_graph_exec;
  calls.cuGraphDestroy = destroy_graph;
}

}  // namespace rtgpu::cuda::fake
