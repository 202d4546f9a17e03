// The fake driver's hardware in time.
#include "tests/runtime/cuda_fake_driver.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

using std::chrono::nanoseconds;
using testing::ElementsAre;

// 4 SMs, so waves of 8 blocks, and a clock that the test moves.
class CudaFakeDriverTime : public CudaFakeDriver {
 protected:
  void SetUp() override {
    CudaFakeDriver::SetUp();
    fake.set("clock=manual");
    fake.set("sms=4");
    spend = function("rtgpu_spend");
  }

  // A kernel of `blocks` that take `block_ns` each.
  void submit(CUstream on, unsigned blocks, std::uint64_t block_ns) const {
    std::array<void*, 1> parameters = {&block_ns};
    EXPECT_EQ(call().cuLaunchKernel(spend, blocks, 1, 1, 32, 1, 1, 0, on, parameters.data(), nullptr),
              CUresult::success);
  }
  CUevent record(CUstream on) const {
    const CUevent made = event();
    EXPECT_EQ(call().cuEventRecord(made, on), CUresult::success);
    return made;
  }
  bool is_complete(CUevent end) const {
    const CUresult result = call().cuEventQuery(end);
    EXPECT_TRUE(result == CUresult::success || result == CUresult::not_ready);
    return result == CUresult::success;
  }
  void advance(std::int64_t to) { fake.advance_to(nanoseconds(to)); }
  std::optional<std::int64_t> next() const {
    const std::optional<nanoseconds> at = fake.next_event();
    return at ? std::optional(at->count()) : std::nullopt;
  }
  // As the ends come.
  void run_all() {
    while (const auto at = fake.next_event()) fake.advance_to(*at);
  }
  // "begin-end" of each launch.
  std::vector<std::string> times() const {
    std::vector<std::string> all;
    for (const FakeLaunch& launch : fake.launches()) {
      all.push_back(std::to_string(launch.begin.count()) + "-" + std::to_string(launch.end.count()));
    }
    return all;
  }
  CUgreenCtx green(unsigned sms) const {
    CUdevResource all;
    CUdevResource group;
    unsigned count = 1;
    CUdevResourceDesc description = nullptr;
    CUgreenCtx made = nullptr;
    EXPECT_EQ(call().cuDeviceGetDevResource(0, &all, CUdevResourceType::sm), CUresult::success);
    EXPECT_EQ(call().cuDevSmResourceSplitByCount(&group, &count, &all, nullptr, 0, sms), CUresult::success);
    EXPECT_EQ(call().cuDevResourceGenerateDesc(&description, &group, 1), CUresult::success);
    EXPECT_EQ(call().cuGreenCtxCreate(&made, description, 0, kGreenCtxDefaultStream), CUresult::success);
    return made;
  }
  CUstream stream_of(CUgreenCtx context) const {
    CUstream made = nullptr;
    EXPECT_EQ(call().cuGreenCtxStreamCreate(&made, context, kStreamNonBlocking, 0), CUresult::success);
    return made;
  }

  CUfunction spend = nullptr;
};

TEST_F(CudaFakeDriverTime, AGridRunsInWavesOfWhatTheSmsHold) {
  const CUstream on = stream();
  submit(on, 17, 100);  // 8, 8 and 1
  const CUevent end = record(on);
  for (const std::int64_t wave : {100, 200, 300}) {
    EXPECT_EQ(next(), wave);
    EXPECT_FALSE(is_complete(end));
    EXPECT_EQ(fake.launches().size(), 0U);
    advance(wave);
  }
  EXPECT_TRUE(is_complete(end));
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::success);
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_THAT(times(), ElementsAre("0-300"));
}

TEST_F(CudaFakeDriverTime, TimeGoesOnOnlyWhereTheTestMovesIt) {
  const CUstream on = stream();
  submit(on, 8, 100);
  const CUevent end = record(on);
  advance(99);
  EXPECT_EQ(fake.now(), nanoseconds(99));
  EXPECT_FALSE(is_complete(end));
  advance(50);
  EXPECT_EQ(fake.now(), nanoseconds(99));
  advance(1000);
  EXPECT_EQ(fake.now(), nanoseconds(1000));
  EXPECT_TRUE(is_complete(end));
  submit(on, 1, 10);
  advance(2000);
  EXPECT_THAT(times(), ElementsAre("0-100", "1000-1010"));
}

TEST_F(CudaFakeDriverTime, EndsOnTheWayAreDoneInOrder) {
  const CUstream first = stream();
  const CUstream second = stream();
  submit(first, 8, 100);
  submit(first, 8, 30);
  submit(second, 8, 7);
  advance(1'000'000);
  EXPECT_THAT(times(), ElementsAre("0-100", "100-130", "130-137"));
}

TEST_F(CudaFakeDriverTime, AHigherPriorityGetsInWhenTheWaveEnds) {
  const CUstream low = stream(0);
  const CUstream middle = stream(-1);
  const CUstream high = stream(-5);
  submit(low, 24, 100);
  advance(150);
  submit(middle, 8, 50);
  submit(high, 9, 20);
  const CUevent high_end = record(high);
  advance(239);
  EXPECT_FALSE(is_complete(high_end));
  advance(240);  // 200 and two waves of 20
  EXPECT_TRUE(is_complete(high_end));
  run_all();
  EXPECT_THAT(times(), ElementsAre("200-240", "240-290", "0-390"));
  EXPECT_EQ(fake.launches()[0].priority, -5);
}

TEST_F(CudaFakeDriverTime, EqualsAreServedInOrderOfSubmission) {
  const CUstream first = stream(-1);
  const CUstream second = stream(-1);
  const CUstream third = stream(-1);
  submit(second, 16, 100);
  submit(third, 8, 30);
  submit(first, 8, 1);
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-200", "200-230", "230-231"));
}

TEST_F(CudaFakeDriverTime, PrioritiesThatAreNotGrantedDoNotCount) {
  fake.set("granted_levels=1");
  const CUstream low = stream(0);
  const CUstream high = stream(-5);
  EXPECT_EQ(priority_of(high), 0);
  submit(low, 8, 100);
  submit(low, 8, 100);
  submit(high, 8, 10);
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-100", "100-200", "200-210"));
}

TEST_F(CudaFakeDriverTime, NodesOfAGraphCompeteAtTheirOwnPriorities) {
  const CUstream on = stream(0);
  const CUstream joins = stream(-4);
  const CUstream between = stream(-2);
  const auto capture = [&](unsigned long long flags) {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    EXPECT_EQ(call().cuStreamBeginCapture(on, CUstreamCaptureMode::thread_local_only), CUresult::success);
    EXPECT_EQ(call().cuStreamWaitEvent(joins, record(on), 0), CUresult::success);
    submit(on, 16, 100);
    submit(joins, 8, 10);
    EXPECT_EQ(call().cuStreamWaitEvent(on, record(joins), 0), CUresult::success);
    EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
    EXPECT_EQ(call().cuGraphInstantiateWithFlags(&exec, graph, flags), CUresult::success);
    return exec;
  };
  EXPECT_EQ(call().cuGraphLaunch(capture(kGraphUseNodePriority), on), CUresult::success);
  submit(between, 8, 1);
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-10", "10-11", "11-211"));
  // Without the flag both are of the stream's priority.
  EXPECT_EQ(call().cuGraphLaunch(capture(0), on), CUresult::success);
  submit(between, 8, 1);
  run_all();
  EXPECT_EQ(fake.launches()[3].end, nanoseconds(312));
  EXPECT_EQ(fake.launches()[4].end, nanoseconds(412));
  EXPECT_EQ(fake.launches()[5].end, nanoseconds(422));
}

TEST_F(CudaFakeDriverTime, AGraphTakesItsTurnInItsStreamAndRunsOnceAtATime) {
  const CUstream on = stream();
  const CUstream other = stream();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_EQ(call().cuStreamBeginCapture(on, CUstreamCaptureMode::thread_local_only), CUresult::success);
  submit(on, 4, 100);
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
  EXPECT_EQ(call().cuGraphInstantiateWithFlags(&exec, graph, kGraphUseNodePriority), CUresult::success);
  fake.set("copy_ns_per_kib=1000");
  const CUdeviceptr device = memory(1024);
  const std::vector<std::byte> host(1024);
  EXPECT_EQ(call().cuMemcpyHtoDAsync(device, host.data(), host.size(), on), CUresult::success);
  EXPECT_EQ(call().cuGraphLaunch(exec, on), CUresult::success);
  EXPECT_EQ(call().cuGraphLaunch(exec, other), CUresult::success);
  submit(on, 8, 10);
  submit(stream(), 8, 1);  // has the SMs to itself until the copy is done
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-1", "1000-1100", "1100-1200", "1200-1210"));
}

TEST_F(CudaFakeDriverTime, WhatFollowsBranchesOfAGraphWaitsForAll) {
  const CUstream on = stream(0);
  const CUstream joins = stream(-1);
  const CUstream last = stream(-5);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_EQ(call().cuStreamBeginCapture(on, CUstreamCaptureMode::thread_local_only), CUresult::success);
  EXPECT_EQ(call().cuStreamWaitEvent(joins, record(on), 0), CUresult::success);
  submit(on, 16, 100);
  submit(joins, 8, 10);
  EXPECT_EQ(call().cuStreamWaitEvent(on, record(joins), 0), CUresult::success);
  EXPECT_EQ(call().cuStreamWaitEvent(last, record(on), 0), CUresult::success);
  submit(last, 8, 1);
  EXPECT_EQ(call().cuStreamWaitEvent(on, record(last), 0), CUresult::success);
  EXPECT_EQ(call().cuStreamEndCapture(on, &graph), CUresult::success);
  EXPECT_EQ(call().cuGraphInstantiateWithFlags(&exec, graph, kGraphUseNodePriority), CUresult::success);
  EXPECT_EQ(call().cuGraphLaunch(exec, on), CUresult::success);
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-10", "10-210", "210-211"));
}

TEST_F(CudaFakeDriverTime, AWaitComesAfterWhatIsInItsStream) {
  fake.set("copy_ns_per_kib=1000");
  const CUdeviceptr device = memory(1024);
  const std::vector<std::byte> host(1024);
  const CUstream on = stream();
  const CUevent reached = record(stream());
  submit(on, 8, 100);
  EXPECT_EQ(call().cuStreamWaitEvent(on, reached, 0), CUresult::success);
  EXPECT_EQ(call().cuMemcpyHtoDAsync(device, host.data(), host.size(), on), CUresult::success);
  EXPECT_EQ(next(), 100);
  advance(1099);
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::not_ready);
  advance(1100);
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::success);
}

TEST_F(CudaFakeDriverTime, AGreenContextHasItsSmsAndTheOthersTheRest) {
  fake.set("sms=8");
  const CUgreenCtx own = green(2);
  const CUstream partitioned = stream_of(own);
  const CUstream elsewhere = stream(-5);
  submit(partitioned, 8, 100);  // 4 at a time
  submit(elsewhere, 24, 10);    // 12 at a time
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-20", "0-200"));
  // Another stream of it competes there; what it leaves is all that there is when it is gone.
  submit(partitioned, 4, 100);
  submit(stream_of(own), 4, 50);
  run_all();
  EXPECT_EQ(fake.launches().back().end, nanoseconds(350));
  EXPECT_EQ(call().cuGreenCtxDestroy(own), CUresult::success);
  submit(elsewhere, 16, 10);
  run_all();
  EXPECT_EQ(fake.launches().back().end, nanoseconds(360));
}

TEST_F(CudaFakeDriverTime, AStreamMadeInAGreenContextIsOfIt) {
  CUcontext context = nullptr;
  EXPECT_EQ(call().cuCtxFromGreenCtx(&context, green(2)), CUresult::success);
  EXPECT_EQ(call().cuCtxSetCurrent(context), CUresult::success);
  submit(stream(), 8, 100);
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-200"));
}

TEST_F(CudaFakeDriverTime, DevicesDoNotShareAnything) {
  fake.set("devices=2");
  fake.set("copy_ns_per_kib=1000");
  submit(stream(), 8, 100);
  CUcontext other = nullptr;
  ASSERT_EQ(call().cuDevicePrimaryCtxRetain(&other, 1), CUresult::success);
  ASSERT_EQ(call().cuCtxSetCurrent(other), CUresult::success);
  green(2);  // of device 0
  submit(stream(), 8, 100);
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-100", "0-100"));
}

TEST_F(CudaFakeDriverTime, CopiesTakeTheirEngineInOrderOfSubmission) {
  const CUdeviceptr device = memory(4096);
  std::vector<std::byte> host(4096);
  struct Case {
    int engines;
    std::int64_t up_low, up_high, down;
  };
  std::int64_t start = 0;
  for (const Case& c : {Case{2, 1000, 1500, 2000}, Case{1, 1000, 1500, 3500}}) {
    fake.set("copy_engines=" + std::to_string(c.engines));
    fake.set("copy_ns_per_kib=1000");
    const CUstream low = stream(0);
    const CUstream high = stream(-5);
    const CUstream down = stream(-5);
    EXPECT_EQ(call().cuMemcpyHtoDAsync(device, host.data(), 1024, low), CUresult::success);
    EXPECT_EQ(call().cuMemcpyHtoDAsync(device, host.data(), 512, high), CUresult::success);
    EXPECT_EQ(call().cuMemcpyDtoHAsync(host.data(), device, 2048, down), CUresult::success);
    const CUevent low_end = record(low);
    const CUevent high_end = record(high);
    const CUevent down_end = record(down);
    for (const auto& [end, at] : {std::pair(low_end, c.up_low), {high_end, c.up_high}, {down_end, c.down}}) {
      advance(start + at - 1);
      EXPECT_FALSE(is_complete(end)) << c.engines << " " << at;
      advance(start + at);
      EXPECT_TRUE(is_complete(end)) << c.engines << " " << at;
    }
    start += c.down;
  }
}

TEST_F(CudaFakeDriverTime, CopiesAndKernelsGoOnBesideEachOther) {
  fake.set("copy_ns_per_kib=1000");
  const CUdeviceptr device = memory(1024);
  const std::vector<std::byte> host(1024, std::byte{7});
  std::byte seen{};
  const CUstream copies = stream();
  const CUstream kernels = stream();
  submit(kernels, 8, 300);
  EXPECT_EQ(call().cuMemcpyHtoDAsync(device, host.data(), 1024, copies), CUresult::success);
  submit(copies, 8, 50);
  EXPECT_EQ(call().cuMemcpyDtoHAsync(&seen, device, 1, copies), CUresult::success);
  advance(1049);
  EXPECT_EQ(seen, std::byte{0});
  advance(1050);
  EXPECT_EQ(seen, std::byte{7});
  EXPECT_THAT(times(), ElementsAre("0-300", "1000-1050"));
}

TEST_F(CudaFakeDriverTime, AStreamWaitsForAnEventAsItWasRecorded) {
  const CUstream first = stream();
  const CUstream second = stream(-1);
  const CUevent reached = event();
  submit(first, 8, 100);
  EXPECT_EQ(call().cuEventRecord(reached, first), CUresult::success);
  EXPECT_EQ(call().cuStreamWaitEvent(second, reached, 0), CUresult::success);
  submit(second, 8, 10);
  submit(first, 8, 1000);
  EXPECT_EQ(call().cuEventRecord(reached, first), CUresult::success);  // the wait is for what it was
  advance(110);
  EXPECT_THAT(times(), ElementsAre("0-100", "100-110"));
  EXPECT_FALSE(is_complete(reached));
  run_all();
  EXPECT_TRUE(is_complete(reached));
  EXPECT_EQ(fake.now(), nanoseconds(1110));
}

TEST_F(CudaFakeDriverTime, EventsTellTheTimeBetweenThem) {
  const CUstream on = stream();
  const CUevent start = record(on);
  submit(on, 8, 2'500'000);
  const CUevent end = record(on);
  float milliseconds = 0;
  EXPECT_EQ(call().cuEventElapsedTime(&milliseconds, start, end), CUresult::not_ready);
  advance(10'000'000);
  EXPECT_EQ(call().cuEventElapsedTime(&milliseconds, start, end), CUresult::success);
  EXPECT_FLOAT_EQ(milliseconds, 2.5F);
}

TEST_F(CudaFakeDriverTime, LateEventsAreSeenLateByTheHostOnly) {
  fake.set("late_ns=30");
  const CUstream first = stream();
  const CUstream second = stream();
  submit(first, 8, 100);
  const CUevent end = record(first);
  EXPECT_EQ(call().cuStreamWaitEvent(second, end, 0), CUresult::success);
  submit(second, 8, 5);
  advance(105);
  EXPECT_THAT(times(), ElementsAre("0-100", "100-105"));
  EXPECT_FALSE(is_complete(end));
  EXPECT_EQ(next(), 130);
  advance(129);
  EXPECT_FALSE(is_complete(end));
  advance(130);
  EXPECT_TRUE(is_complete(end));
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(CudaFakeDriverTime, WaitingLetsTimeGoOnAsFarAsNeeded) {
  const CUstream first = stream(-1);
  const CUstream second = stream();
  submit(first, 8, 100);
  const CUevent end = record(first);
  submit(first, 8, 100);
  submit(second, 8, 100);
  EXPECT_EQ(call().cuEventSynchronize(end), CUresult::success);
  EXPECT_EQ(fake.now(), nanoseconds(100));
  EXPECT_EQ(call().cuStreamSynchronize(first), CUresult::success);
  EXPECT_EQ(fake.now(), nanoseconds(200));
  EXPECT_EQ(call().cuCtxSynchronize(), CUresult::success);
  EXPECT_EQ(fake.now(), nanoseconds(300));
}

TEST_F(CudaFakeDriverTime, AKernelThatHangsKeepsItsSms) {
  fake.set("copy_ns_per_kib=1000");
  const CUstream on = stream();
  const CUstream high = stream(-5);
  const CUstream partitioned = stream_of(green(2));
  fake.set("hang_at_launch=1");
  submit(on, 8, 100);
  submit(high, 8, 10);
  submit(partitioned, 4, 20);
  const CUevent end = record(on);
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-20"));
  EXPECT_EQ(next(), std::nullopt);
  advance(1'000'000'000'000);
  EXPECT_FALSE(is_complete(end));
  EXPECT_EQ(call().cuStreamQuery(high), CUresult::not_ready);
}

TEST_F(CudaFakeDriverTime, AKernelCanSpinForEver) {
  advance(1000);
  const CUstream on = stream();
  submit(on, 8, static_cast<std::uint64_t>(-1));
  EXPECT_EQ(next(), std::nullopt);
  advance(1'000'000'000'000);
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::not_ready);
}

TEST_F(CudaFakeDriverTime, AFaultIsSeenWhenTheKernelBegins) {
  const CUstream on = stream();
  submit(on, 8, 100);
  fake.set("fault_at_launch=719");
  submit(on, 8, 100);
  const CUevent end = record(on);
  advance(99);
  EXPECT_FALSE(is_complete(end));
  advance(100);
  EXPECT_EQ(call().cuEventQuery(end), CUresult::launch_failed);
  EXPECT_EQ(call().cuEventSynchronize(end), CUresult::launch_failed);
  EXPECT_EQ(next(), std::nullopt);
  EXPECT_THAT(times(), ElementsAre("0-100"));
}

TEST_F(CudaFakeDriverTime, KernelsOfATestSayHowLongTheirBlocksTake) {
  fake.add_kernel({"own", {}, nullptr, nullptr, [](void* /*context*/, const FakeLaunch& launch, void* const*) {
                     return std::uint64_t{launch.block[0]};
                   }});
  const CUstream on = stream();
  EXPECT_EQ(call().cuLaunchKernel(function("own"), 9, 1, 1, 64, 1, 1, 0, on, nullptr, nullptr), CUresult::success);
  run_all();
  EXPECT_THAT(times(), ElementsAre("0-128"));
  // Without: no time.
  EXPECT_EQ(launch(function("a"), on), CUresult::success);
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::success);
}

TEST_F(CudaFakeDriverTime, AStreamThatIsDestroyedCompletesItsWork) {
  const CUstream on = stream();
  submit(on, 8, 100);
  const CUevent end = record(on);
  EXPECT_EQ(call().cuStreamDestroy(on), CUresult::success);
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::invalid_handle);
  EXPECT_FALSE(is_complete(end));
  advance(100);
  EXPECT_TRUE(is_complete(end));
  EXPECT_THAT(times(), ElementsAre("0-100"));
}

TEST_F(CudaFakeDriverTime, MemoryThatIsGoneWhenItIsUsedIsAFault) {
  fake.set("copy_ns_per_kib=1000");
  const CUstream on = stream();
  const CUdeviceptr device = memory(1024);
  std::vector<std::byte> host(1024);
  EXPECT_EQ(call().cuMemcpyDtoHAsync(host.data(), device, host.size(), on), CUresult::success);
  EXPECT_EQ(call().cuMemFree(device), CUresult::success);
  run_all();
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::illegal_address);
}

TEST_F(CudaFakeDriverTime, TheClockIsTheTestsOrItIsNot) {
  const CUstream on = stream();
  submit(on, 8, 100);
  EXPECT_THROW(fake.set("clock=none"), std::invalid_argument);  // not while there is work
  advance(100);
  fake.set("clock=none");
  EXPECT_THROW(advance(200), std::logic_error);
  submit(on, 8, 100);
  EXPECT_EQ(call().cuStreamQuery(on), CUresult::success);
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(CudaFakeDriverTime, WithTheMonotonicClockWorkEndsByItself) {
  fake.set("clock=monotonic");
  const auto now = [] { return nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); };
  const CUstream on = stream();
  constexpr std::uint64_t kSpent = 200'000;
  const nanoseconds before = now();
  submit(on, 8, kSpent);
  const CUevent end = record(on);
  const std::optional<nanoseconds> ends = fake.next_event();
  if (ends) {  // unless this thread has not had a core for that long
    EXPECT_GE(*ends, before + nanoseconds(kSpent));
  }
  while (!is_complete(end)) {
  }
  EXPECT_GE(now(), before + nanoseconds(kSpent));
  const nanoseconds again = now();
  submit(on, 8, kSpent);
  EXPECT_EQ(call().cuStreamSynchronize(on), CUresult::success);
  EXPECT_GE(now(), again + nanoseconds(kSpent));
  ASSERT_EQ(fake.launches().size(), 2U);
  EXPECT_EQ(fake.launches()[0].end - fake.launches()[0].begin, nanoseconds(kSpent));
}

}  // namespace
}  // namespace rtgpu::cuda
