// Captures and graphs of the fake driver.
#include "tests/runtime/cuda_fake_driver.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

class CudaFakeDriverGraph : public CudaFakeDriver {
 protected:
  void begin_capture(CUstream on, CUstreamCaptureMode mode = CUstreamCaptureMode::thread_local_only) const {
    EXPECT_EQ(call().cuStreamBeginCapture(on, mode), CUresult::success);
  }
  // `to` goes on after what `from` has been told.
  void follow(CUstream to, CUstream from) const {
    const CUevent between = event();
    EXPECT_EQ(call().cuEventRecord(between, from), CUresult::success);
    EXPECT_EQ(call().cuStreamWaitEvent(to, between, 0), CUresult::success);
  }
  CUgraphExec end_and_instantiate(CUstream on, unsigned long long flags = kGraphUseNodePriority) const {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
    EXPECT_EQ(call().cuGraphInstantiateWithFlags(&exec, graph, flags), CUresult::success);
    return exec;
  }
};

TEST_F(CudaFakeDriverGraph, GraphsAreWhatWasCaptured) {
  const CUstream on = stream();
  const CUfunction a = function("a");
  const CUfunction b = function("b");
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_EQ(call().cuStreamBeginCapture(on, CUstreamCaptureMode::thread_local_only), CUresult::success);
  EXPECT_EQ(launch(a, on), CUresult::success);
  EXPECT_EQ(launch(b, on), CUresult::success);
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
  EXPECT_EQ(call().cuGraphInstantiateWithFlags(&exec, graph, kGraphUseNodePriority), CUresult::success);
  EXPECT_EQ(fake.launches().size(), 0U);
  const CUstream other = stream(-1);
  EXPECT_EQ(call().cuGraphLaunch(exec, other), CUresult::success);
  EXPECT_EQ(call().cuGraphLaunch(exec, other), CUresult::success);
  ASSERT_EQ(fake.launches().size(), 4U);
  EXPECT_EQ(fake.launches()[3].kernel, "b");
  EXPECT_EQ(fake.launches()[3].stream, other);
}

TEST_F(CudaFakeDriverGraph, NodesOfAGraphHaveTheirTypeAndPriority) {
  const CUstream on = stream(-3);
  const CUfunction kernel = function("a");
  const CUdeviceptr device = memory(8);
  CUgraph graph = nullptr;
  CUgraphExec own = nullptr;
  CUgraphExec others = nullptr;
  EXPECT_EQ(call().cuStreamBeginCapture(on, CUstreamCaptureMode::thread_local_only), CUresult::success);
  EXPECT_EQ(launch(kernel, on), CUresult::success);
  EXPECT_EQ(call().cuMemsetD8Async(device, 1, 8, on), CUresult::success);
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
  std::size_t count = 0;
  ASSERT_EQ(call().cuGraphGetNodes(graph, nullptr, &count), CUresult::success);
  EXPECT_EQ(count, 2U);
  std::array<CUgraphNode, 3> nodes = {nullptr, nullptr, reinterpret_cast<CUgraphNode>(std::uintptr_t{1})};
  count = nodes.size();
  ASSERT_EQ(call().cuGraphGetNodes(graph, nodes.data(), &count), CUresult::success);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(nodes[2], nullptr);
  auto type = CUgraphNodeType::empty;
  EXPECT_EQ(call().cuGraphNodeGetType(nodes[0], &type), CUresult::success);
  EXPECT_EQ(type, CUgraphNodeType::kernel);
  EXPECT_EQ(call().cuGraphNodeGetType(nodes[1], &type), CUresult::success);
  EXPECT_EQ(type, CUgraphNodeType::memset);
  CUlaunchAttributeValue value;
  EXPECT_EQ(call().cuGraphKernelNodeGetAttribute(nodes[0], CUlaunchAttributeID::priority, &value), CUresult::success);
  EXPECT_EQ(value.priority, -3);
  EXPECT_EQ(call().cuGraphKernelNodeGetAttribute(nodes[1], CUlaunchAttributeID::priority, &value),
            CUresult::invalid_value);

  EXPECT_EQ(call().cuGraphInstantiateWithFlags(&own, graph, kGraphUseNodePriority), CUresult::success);
  EXPECT_EQ(call().cuGraphInstantiateWithFlags(&others, graph, 0), CUresult::success);
  const CUstream other = stream(-1);
  EXPECT_EQ(call().cuGraphLaunch(own, other), CUresult::success);
  EXPECT_EQ(call().cuGraphLaunch(others, other), CUresult::success);
  ASSERT_EQ(fake.launches().size(), 2U);
  EXPECT_EQ(fake.launches()[0].priority, -3);
  EXPECT_EQ(fake.launches()[1].priority, -1);
}

TEST_F(CudaFakeDriverGraph, AStreamThatJoinsACaptureBringsItsPriority) {
  const CUstream on = stream(-1);
  const CUstream joins = stream(-4);
  const CUfunction a = function("a");
  const CUfunction b = function("b");
  const CUfunction first = function("first");
  begin_capture(on);
  EXPECT_EQ(launch(a, on), CUresult::success);
  follow(joins, on);
  EXPECT_EQ(launch(b, joins), CUresult::success);
  follow(on, joins);
  EXPECT_EQ(launch(first, on), CUresult::success);
  CUgraphExec exec = end_and_instantiate(on);
  EXPECT_EQ(fake.launches().size(), 0U);
  EXPECT_EQ(launch(b, joins), CUresult::success);  // it has left the capture
  EXPECT_EQ(fake.launches().size(), 1U);
  const CUstream other = stream(-2);
  EXPECT_EQ(call().cuGraphLaunch(exec, other), CUresult::success);
  const std::vector<FakeLaunch> launches = fake.launches();
  ASSERT_EQ(launches.size(), 4U);
  EXPECT_EQ(launches[1].priority, -1);
  EXPECT_EQ(launches[2].kernel, "b");
  EXPECT_EQ(launches[2].priority, -4);
  EXPECT_EQ(launches[2].stream, other);
  EXPECT_EQ(launches[3].priority, -1);
}

TEST_F(CudaFakeDriverGraph, TheStreamGoesOnAfterAllBranches) {
  const CUstream on = stream();
  const CUstream joins = stream();
  const CUfunction a = function("a");
  const CUfunction b = function("b");
  const CUfunction first = function("first");
  begin_capture(on);
  follow(joins, on);  // nothing comes before either branch
  EXPECT_EQ(launch(a, on), CUresult::success);
  EXPECT_EQ(launch(b, joins), CUresult::success);
  follow(on, joins);
  CUgraphExec exec = end_and_instantiate(on);
  fake.set("hold=1");
  const CUevent end = event();
  EXPECT_EQ(call().cuGraphLaunch(exec, on), CUresult::success);
  EXPECT_EQ(call().cuEventRecord(end, on), CUresult::success);
  EXPECT_EQ(launch(first, on), CUresult::success);
  EXPECT_EQ(fake.complete(on, 2), 2U);
  EXPECT_EQ(fake.launches().size(), 2U);
  EXPECT_EQ(call().cuEventQuery(end), CUresult::not_ready);
  EXPECT_EQ(fake.complete(on), 3U);
  EXPECT_EQ(call().cuEventQuery(end), CUresult::success);
  EXPECT_EQ(fake.launches().back().kernel, "first");
}

TEST_F(CudaFakeDriverGraph, ACaptureEndsWhereItBeganWithAllJoined) {
  const CUstream on = stream();
  const CUstream joins = stream();
  const CUfunction a = function("a");
  CUgraph graph = nullptr;
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::illegal_state);
  begin_capture(on);
  EXPECT_EQ(call().cuStreamBeginCapture(on, CUstreamCaptureMode::relaxed), CUresult::illegal_state);
  follow(joins, on);
  EXPECT_EQ(launch(a, joins), CUresult::success);
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::stream_capture_unjoined);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(call().cuStreamQuery(joins), CUresult::success);

  begin_capture(on);
  follow(joins, on);
  EXPECT_EQ(call().cuStreamEndCapture(joins, &graph), CUresult::stream_capture_unmatched);
  EXPECT_EQ(launch(a, on), CUresult::stream_capture_invalidated);
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::stream_capture_invalidated);

  begin_capture(on);
  CUcontext context = nullptr;
  ASSERT_EQ(call().cuCtxGetCurrent(&context), CUresult::success);
  std::thread([&] {
    EXPECT_EQ(call().cuCtxSetCurrent(context), CUresult::success);
    EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::stream_capture_wrong_thread);
  }).join();
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
}

TEST_F(CudaFakeDriverGraph, NothingCrossesTheBoundsOfACapture) {
  const CUstream on = stream();
  const CUstream other = stream();
  const CUevent before = event();
  const CUevent inside = event();
  CUgraph graph = nullptr;
  EXPECT_EQ(call().cuEventRecord(before, other), CUresult::success);
  begin_capture(on);
  EXPECT_EQ(call().cuStreamWaitEvent(on, before, 0), CUresult::stream_capture_isolation);
  EXPECT_EQ(call().cuEventRecord(inside, on), CUresult::success);
  begin_capture(other);
  EXPECT_EQ(call().cuStreamWaitEvent(other, inside, 0), CUresult::stream_capture_merge);
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
  EXPECT_EQ(call().cuStreamEndCapture(other, &graph), CUresult::success);
  EXPECT_EQ(call().cuStreamWaitEvent(other, inside, 0), CUresult::captured_event);
  EXPECT_EQ(call().cuEventQuery(inside), CUresult::captured_event);
  EXPECT_EQ(call().cuEventRecord(inside, on), CUresult::success);
  EXPECT_EQ(call().cuEventQuery(inside), CUresult::success);
}

TEST_F(CudaFakeDriverGraph, ACaptureForbidsWhatMightWait) {
  const CUstream on = stream();
  const CUevent end = event();
  CUcontext context = nullptr;
  CUgraph graph = nullptr;
  ASSERT_EQ(call().cuCtxGetCurrent(&context), CUresult::success);
  // What a call answers in the thread of the capture, what in another, and what the end of the capture then says.
  struct Case {
    CUstreamCaptureMode mode;
    CUresult same;
    CUresult other;
    CUresult ended_after_other;
  };
  const auto unsupported = CUresult::stream_capture_unsupported;
  for (const Case& c :
       {Case{CUstreamCaptureMode::global, unsupported, unsupported, CUresult::stream_capture_invalidated},
        Case{CUstreamCaptureMode::thread_local_only, unsupported, CUresult::success, CUresult::success},
        Case{CUstreamCaptureMode::relaxed, CUresult::success, CUresult::success, CUresult::success}}) {
    begin_capture(on, c.mode);
    std::thread([&] {
      EXPECT_EQ(call().cuCtxSetCurrent(context), CUresult::success);
      EXPECT_EQ(call().cuEventQuery(end), c.other);
    }).join();
    EXPECT_EQ(call().cuStreamEndCapture(on, &graph), c.ended_after_other);
    begin_capture(on, c.mode);
    EXPECT_EQ(call().cuEventQuery(end), c.same);
    CUdeviceptr address = 0;
    EXPECT_EQ(call().cuMemAlloc(&address, 8), c.same);
    EXPECT_EQ(call().cuStreamEndCapture(on, &graph),
              c.same == unsupported ? CUresult::stream_capture_invalidated : CUresult::success);
  }
}

}  // namespace
}  // namespace rtgpu::cuda
