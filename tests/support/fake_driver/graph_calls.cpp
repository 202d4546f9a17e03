// Captures and graphs of the fake CUDA driver.
#include "tests/support/fake_driver/model.h"

namespace rtgpu::cuda::fake {
namespace {

CUresult begin_capture(CUstream stream, CUstreamCaptureMode /*mode*/) {
  return in_call("cuStreamBeginCapture", Needs::context, [&](Model& model) {
    if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    if (stream->capture != nullptr) return CUresult::illegal_state;
    stream->capture = std::make_unique<CUgraph_st>();
    return CUresult::success;
  });
}

CUresult end_capture(CUstream stream, CUgraph* graph) {
  return in_call("cuStreamEndCapture", Needs::context, [&](Model& model) {
    if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    if (stream->capture == nullptr) return CUresult::illegal_state;
    *graph = model.graphs.add(std::move(*stream->capture));
    stream->capture.reset();
    return CUresult::success;
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
      Operation& operation = made.operations.emplace_back(node->operation);
      if ((flags & kGraphUseNodePriority) != 0) operation.priority = node->priority;
    }
    *exec = model.graph_execs.add(std::move(made));
    return CUresult::success;
  });
}

CUresult launch_graph(CUgraphExec exec, CUstream stream) {
  return in_call("cuGraphLaunch", Needs::context, [&](Model& model) {
    if (model.graph_execs.find(exec) == nullptr) return CUresult::invalid_handle;
    if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    for (const Operation& operation : exec->operations) model.submit(stream, operation);
    return CUresult::success;
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
  calls.cuStreamEndCapture = end_capture;
  calls.cuGraphGetNodes = get_nodes;
  calls.cuGraphNodeGetType = get_node_type;
  calls.cuGraphKernelNodeGetAttribute = get_node_attribute;
  calls.cuGraphInstantiateWithFlags = instantiate_graph;
  calls.cuGraphLaunch = launch_graph;
  calls.cuGraphExecDestroy = destroy_graph_exec;
  calls.cuGraphDestroy = destroy_graph;
}

}  // namespace rtgpu::cuda::fake
