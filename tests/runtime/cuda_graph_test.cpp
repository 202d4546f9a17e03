#include "runtime/device/cuda/graph.h"
#include "tests/runtime/cuda_fake_driver.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CudaGraphs : public CudaFakeDriver {
 protected:
  void SetUp() override {
    CudaFakeDriver::SetUp();
    task = stream(-3);
    other = stream(-1);
    kernel = function("a");
    between = event();
    things = fake.things_left();
  }

  // `to` goes on after what `from` has been told.
  void follow(CUstream to, CUstream from) const {
    EXPECT_EQ(call().cuEventRecord(between, from), CUresult::success);
    EXPECT_EQ(call().cuStreamWaitEvent(to, between, 0), CUresult::success);
  }
  Result<CudaGraph> capture(const std::function<void(CUstream)>& launches) const {
    return CudaGraph::capture(*driver, task, launches);
  }
  // Of what is refused: the error, and that the stream is as it was.
  std::string refusal(const std::function<void(CUstream)>& launches) const {
    std::string text = capture(launches) ? "" : to_string(capture(launches).errors().front());
    expect_as_before();
    return text;
  }
  void expect_as_before() const {
    EXPECT_EQ(fake.things_left(), things);
    const std::size_t before = fake.launches().size();
    EXPECT_EQ(launch(kernel, task), CUresult::success);
    EXPECT_EQ(fake.launches().size(), before + 1);
  }

  CUstream task = nullptr;
  CUstream other = nullptr;
  CUfunction kernel = nullptr;
  CUevent between = nullptr;
  std::size_t things = 0;
};

TEST_F(CudaGraphs, RunWhatWasCapturedEachTimeTheyAreLaunched) {
  {
    auto* const second = function("b");
    things = fake.things_left();
    Result<CudaGraph> graph = capture([&](CUstream on) {
      EXPECT_EQ(on, task);
      EXPECT_EQ(launch(kernel, on), CUresult::success);
      EXPECT_EQ(launch(second, on), CUresult::success);
    });
    ASSERT_TRUE(graph);
    EXPECT_EQ(fake.things_left(), things + 1);  // what was captured is gone
    EXPECT_TRUE(fake.launches().empty());
    EXPECT_EQ(graph->launch(task), CUresult::success);
    EXPECT_EQ(graph->launch(other), CUresult::success);
    ASSERT_EQ(fake.launches().size(), 4U);
    EXPECT_EQ(fake.launches()[0].kernel, "a");
    EXPECT_EQ(fake.launches()[1].kernel, "b");
    EXPECT_EQ(fake.launches()[3].stream, other);
    EXPECT_EQ(fake.launches()[3].priority, -3);  // that of the node
    EXPECT_EQ(to_string(graph->priorities()), "2 kernels of the graph have priority -3, that of the task's stream");
    fake.set("fail=cuGraphLaunch:719");
    EXPECT_EQ(graph->launch(task), CUresult::launch_failed);
  }
  expect_as_before();
}

TEST_F(CudaGraphs, CountTheKernelsOfOtherPriorities) {
  auto* const least = stream(0);
  const Result<CudaGraph> graph = capture([&](CUstream on) {
    EXPECT_EQ(launch(kernel, on), CUresult::success);
    follow(other, on);
    EXPECT_EQ(launch(kernel, other), CUresult::success);
    EXPECT_EQ(launch(kernel, other), CUresult::success);
    follow(least, other);
    EXPECT_EQ(launch(kernel, least), CUresult::success);
    follow(on, least);
    EXPECT_EQ(launch(kernel, on), CUresult::success);
  });
  ASSERT_TRUE(graph);
  const GraphPriorities& priorities = graph->priorities();
  EXPECT_EQ(priorities.expected, -3);
  EXPECT_EQ(priorities.kernels, 5U);
  EXPECT_EQ(priorities.foreign, 3U);
  EXPECT_THAT(priorities.foreign_found, ElementsAre(-1, 0));
  EXPECT_EQ(
      to_string(priorities),
      "3 of 5 kernels of the graph have priorities -1, 0 instead of -3, that of the task's stream: capture them on "
      "streams of that priority, or set it (cudaLaunchAttributePriority) in their nodes");
  EXPECT_EQ(graph->launch(task), CUresult::success);
  std::vector<int> seen;
  for (const FakeLaunch& launched : fake.launches()) seen.push_back(launched.priority);
  EXPECT_THAT(seen, ElementsAre(-3, -1, -1, 0, -3));
}

TEST(CudaGraphPriorities, SayWhatIsNotKnown) {
  EXPECT_EQ(
      to_string(GraphPriorities{0, 7, 1, {-2}, 2}),
      "1 of 7 kernels of the graph have priority -2 instead of 0, that of the task's stream: capture them on streams "
      "of that priority, or set it (cudaLaunchAttributePriority) in their nodes; 2 nodes hold graphs of their own, "
      "whose priorities are not known");
}

TEST_F(CudaGraphs, EndTheCaptureIfItThrows) {
  const auto launches = [&](CUstream on) {
    EXPECT_EQ(launch(kernel, on), CUresult::success);
    throw std::runtime_error("broken");
  };
  EXPECT_THROW((void)capture(launches), std::runtime_error);
  expect_as_before();
}

TEST_F(CudaGraphs, SayWhichCallsACaptureDoesNotAllow) {
  const std::vector<std::function<CUresult()>> calls = {
      [&] { return call().cuStreamSynchronize(task); },
      [&] { return call().cuStreamQuery(task); },
      [&] { return call().cuCtxSynchronize(); },
      [&] {
        CUdeviceptr address = 0;
        return call().cuMemAlloc(&address, 8);
      },
      [&] {
        CUmodule module = nullptr;
        return call().cuModuleLoadData(&module, "image");
      },
  };
  for (const auto& forbidden : calls) {
    EXPECT_THAT(refusal([&](CUstream on) {
                  EXPECT_EQ(launch(kernel, on), CUresult::success);
                  EXPECT_NE(forbidden(), CUresult::success);
                }),
                AllOf(HasSubstr("a capture that was refused: CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (901)"),
                      HasSubstr("cudaStreamSynchronize"), HasSubstr("cudaMalloc"), HasSubstr("cudaMemcpy"),
                      HasSubstr("load code"), HasSubstr("legacy default stream")));
  }
}

TEST_F(CudaGraphs, LetOtherThreadsGoOn) {
  CUcontext context = nullptr;
  ASSERT_EQ(call().cuCtxGetCurrent(&context), CUresult::success);
  EXPECT_TRUE(capture([&](CUstream on) {
    EXPECT_EQ(launch(kernel, on), CUresult::success);
    std::thread([&] {
      CUdeviceptr address = 0;
      EXPECT_EQ(call().cuCtxSetCurrent(context), CUresult::success);
      EXPECT_EQ(call().cuMemAlloc(&address, 8), CUresult::success);
      EXPECT_EQ(call().cuStreamSynchronize(other), CUresult::success);
    }).join();
  }));
}

TEST_F(CudaGraphs, SayWhatIsWrongWithACapture) {
  EXPECT_THAT(refusal([&](CUstream on) {
                EXPECT_EQ(launch(kernel, on), CUresult::success);
                follow(other, on);
                EXPECT_EQ(launch(kernel, other), CUresult::success);
              }),
              AllOf(HasSubstr("STREAM_CAPTURE_UNJOINED"), HasSubstr("cudaStreamWaitEvent")));
  EXPECT_THAT(refusal([&](CUstream on) {
                CUgraph graph = nullptr;
                EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
                EXPECT_EQ(call().cuGraphDestroy(graph), CUresult::success);
              }),
              AllOf(HasSubstr("ILLEGAL_STATE"), HasSubstr("Leave beginning and ending the capture to the runtime")));
  EXPECT_THAT(refusal([](CUstream) {}), HasSubstr("a graph without nodes; expected a graph with work"));

  ASSERT_EQ(call().cuStreamBeginCapture(task, CUstreamCaptureMode::relaxed), CUresult::success);
  const Result<CudaGraph> twice = capture([](CUstream) { FAIL(); });
  ASSERT_FALSE(twice);
  EXPECT_THAT(to_string(twice.errors().front()), HasSubstr("a stream that is being captured"));
  CUgraph graph = nullptr;
  EXPECT_EQ(call().cuStreamEndCapture(task, &graph), CUresult::success);  // it still was
}

TEST_F(CudaGraphs, AreNotMadeOnDefaultStreams) {
  fake.set("default_stream=1");
  for (const std::uintptr_t handle : std::array<std::uintptr_t, 3>{0, 1, 2}) {
    task = reinterpret_cast<CUstream>(handle);
    const Result<CudaGraph> graph = capture([](CUstream) { FAIL(); });
    ASSERT_FALSE(graph);
    EXPECT_EQ(graph.errors().front().code, ErrorCode::conflict);
    EXPECT_THAT(to_string(graph.errors().front()), HasSubstr("default stream"));
  }
  EXPECT_EQ(fake.calls("cuStreamBeginCapture"), 0U);
}

TEST_F(CudaGraphs, AreAdoptedAndLeftToTheApplication) {
  CUgraph built = nullptr;
  ASSERT_EQ(call().cuStreamBeginCapture(other, CUstreamCaptureMode::relaxed), CUresult::success);
  ASSERT_EQ(launch(kernel, other), CUresult::success);
  ASSERT_EQ(call().cuStreamEndCapture(other, &built), CUresult::success);
  {
    const Result<CudaGraph> graph = CudaGraph::adopt(*driver, built, task);
    ASSERT_TRUE(graph);
    EXPECT_EQ(call().cuGraphDestroy(built), CUresult::success);
    EXPECT_EQ(graph->priorities().foreign, 1U);
    EXPECT_THAT(graph->priorities().foreign_found, ElementsAre(-1));
    EXPECT_EQ(graph->launch(task), CUresult::success);
    ASSERT_EQ(fake.launches().size(), 1U);
    EXPECT_EQ(fake.launches()[0].stream, task);
    EXPECT_EQ(fake.launches()[0].priority, -1);
  }
  EXPECT_FALSE(CudaGraph::adopt(*driver, nullptr, task));
  expect_as_before();
}

TEST_F(CudaGraphs, SayWhatTheDriverAnsweredAndLeaveNothing) {
  for (const std::string name :
       {"cuStreamBeginCapture", "cuGraphGetNodes", "cuGraphNodeGetType", "cuGraphKernelNodeGetAttribute",
        "cuStreamGetPriority", "cuGraphInstantiateWithFlags"}) {
    fake.set("fail=" + name + ":2");
    const Result<CudaGraph> graph = capture([&](CUstream on) { launch(kernel, on); });
    ASSERT_FALSE(graph) << name;
    EXPECT_EQ(graph.errors().front().code, ErrorCode::environment) << name;
    EXPECT_THAT(to_string(graph.errors().front()), AllOf(HasSubstr("OUT_OF_MEMORY"), HasSubstr("of " + name)));
    expect_as_before();
  }
}

TEST_F(CudaGraphs, CanBeMoved) {
  const auto launches = [&](CUstream on) { launch(kernel, on); };
  {
    Result<CudaGraph> first = capture(launches);
    Result<CudaGraph> second = capture(launches);
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(fake.things_left(), things + 2);
    auto kept = std::make_unique<CudaGraph>(*std::move(first));
    *kept = *std::move(second);
    EXPECT_EQ(kept->launch(task), CUresult::success);
    EXPECT_EQ(fake.launches().size(), 1U);
  }
  expect_as_before();
}

}  // namespace
}  // namespace rtgpu::cuda
