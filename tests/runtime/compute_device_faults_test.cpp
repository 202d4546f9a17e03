// The computing device when work fails, hangs, is given up or comes to its end at the wrong moment; copies; set-up.
#include "runtime/device/host/compute_device.h"
#include "tests/runtime/device_driver.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using Kind = DeviceEvent::Kind;

class Faults : public ::testing::TestWithParam<int> {
 protected:
  explicit Faults(int sms)
      : device_(properties_with(sms)),
        first_(device_.add_stream({}).value()),
        second_(device_.add_stream({}).value()) {}
  Faults() : Faults(GetParam()) {}

  BlockKernel logs(int mark) {
    return [this, mark](const Block& block) { log_.add(mark, block); };
  }
  // Every block waits for the gate.
  BlockKernel hangs(int mark) {
    return [this, mark](const Block& block) {
      begun_.raise();
      gate_.wait_for(1);
      log_.add(mark, block);
    };
  }

  ComputeDevice device_;
  StreamId first_;
  StreamId second_;
  ExecutionLog log_;
  Milestone begun_;
  Milestone gate_;
  DeviceDriver driver_{device_};
};

class FaultsOnOneSm : public Faults {
 protected:
  FaultsOnOneSm() : Faults(1) {}
};
class FaultsOnTwoSms : public Faults {
 protected:
  FaultsOnTwoSms() : Faults(2) {}
};

INSTANTIATE_TEST_SUITE_P(Sms, Faults, ::testing::Values(1, 3));

TEST_P(Faults, AKernelThatThrowsFailsAndTheNextWorkRuns) {
  const auto throws_at_3 = [this](const Block& block) {
    if (block.index == 3) throw std::runtime_error("no");
    log_.add(1, block);
  };
  const auto bad = batch_of(throws_at_3, {6, 5});
  const auto good = batch_of(logs(2), {6});
  driver_.run([&] {
    driver_.submit(first_, *bad);
    driver_.select(first_);
    driver_.wait_for(Kind::failed, first_);
    driver_.execute(second_, *good);
    driver_.execute(first_, *good);
  });
  EXPECT_EQ(driver_.events().size(), 3U);
  EXPECT_EQ(driver_.count(Kind::failed, first_), 1U);
  for (const ExecutionLog::Entry& entry : log_.entries()) {
    if (entry.mark == 1) {
      EXPECT_LT(entry.block, 6) << "of the launch after the one that failed";
    }
  }
  if (GetParam() == 1) {
    EXPECT_EQ(log_.marks(), (std::vector<int>{1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}));
  }
}

TEST_P(Faults, WorkThatHasNotBegunIsAbandoned) {
  const auto one = batch_of(logs(1), {4});
  const auto two = batch_of(logs(2), {1});
  driver_.run([&] {
    driver_.submit(first_, *one);
    EXPECT_TRUE(driver_.abandon(first_));
    driver_.select(first_);
    driver_.execute(second_, *two);
    EXPECT_TRUE(driver_.abandon(second_));  // nothing there
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{2}));
  EXPECT_EQ(driver_.events().size(), 1U);
}

TEST_P(Faults, TimeThatPassesForWorkIsAbandoned) {
  WorkBatch endless(2);
  endless.add(Launch{logs(1), 0, 1, {}});
  endless.end_slice();
  endless.add(Launch{{}, 0, 0, Duration::infinite()});
  endless.end_slice();
  const auto two = batch_of(logs(2), {2});
  driver_.run({Boundary::slice, {}}, [&] {
    driver_.submit(first_, endless);
    driver_.select(first_);
    driver_.wait_for(Kind::boundary, first_);
    EXPECT_TRUE(driver_.abandon(first_));
    driver_.execute(second_, *two);
    driver_.execute(first_, *two);
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{1, 2, 2, 2, 2}));
  EXPECT_EQ(driver_.events().size(), 3U);
}

TEST_F(FaultsOnTwoSms, AHangingBlockLeavesTheOtherSmToOthers) {
  const auto one = batch_of(hangs(1), {1});
  const auto again = batch_of(logs(2), {2});
  const auto other = batch_of(logs(3), {3});
  driver_.run([&] {
    driver_.submit(first_, *one);
    driver_.select(first_);
    begun_.wait_for(1);
    EXPECT_TRUE(driver_.abandon(first_));
    driver_.submit(first_, *again);  // has to wait: one of the stream's blocks runs
    driver_.execute(second_, *other);
    driver_.select(first_);
    EXPECT_EQ(log_.marks(), (std::vector<int>{3, 3, 3}));
    gate_.raise();
    driver_.wait_for(Kind::complete, first_);
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{3, 3, 3, 1, 2, 2}));
  EXPECT_EQ(driver_.events().size(), 2U);
}

TEST_F(FaultsOnTwoSms, WorkThatHasEverySmCannotBeAbandonedAtOnce) {
  const auto one = batch_of(hangs(1), {2, 7});
  driver_.run([&] {
    driver_.submit(first_, *one);
    driver_.select(first_);
    begun_.wait_for(2);
    EXPECT_FALSE(driver_.abandon(first_));
    EXPECT_EQ(driver_.events().size(), 0U);
    gate_.raise();
    driver_.wait_for(Kind::failed, first_);
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{1, 1}));  // what had not begun was dropped
  EXPECT_EQ(driver_.events().size(), 1U);
}

TEST_F(FaultsOnTwoSms, AHangInAPartitionIsNotOneOfTheDevice) {
  ComputeDevice device(properties_with(2));
  const StreamId inside = device.add_stream({0, device.add_partitions(std::array{1}).value().front().id}).value();
  const StreamId outside = device.add_stream({}).value();
  const auto one = batch_of(hangs(1), {1});
  const auto other = batch_of(logs(2), {2});
  DeviceDriver driver(device);
  driver.run([&] {
    driver.submit(inside, *one);
    driver.select(inside);
    begun_.wait_for(1);
    EXPECT_FALSE(driver.abandon(inside));  // all that this stream may use
    driver.execute(outside, *other);
    gate_.raise();
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{2, 2, 1}));
}

// Between the end of work and the moment at which the listener has its lock, anything may happen.
TEST_F(FaultsOnOneSm, AnEndThatComesWithAPreemptionIsToldAgain) {
  const auto one = batch_of(logs(1), {1});
  const auto two = batch_of(logs(2), {1});
  int ends = 0;
  driver_.before_confirm([&](const DeviceEvent& event) {
    if (event.stream == first_ && ends++ == 0) driver_.select(second_);
  });
  driver_.run([&] {
    driver_.submit(second_, *two);
    driver_.submit(first_, *one);
    driver_.select(first_);
    driver_.wait_for(Kind::complete, second_);
    EXPECT_EQ(driver_.count(Kind::complete, first_), 0U);
    driver_.select(first_);
    driver_.wait_for(Kind::complete, first_);
  });
  EXPECT_EQ(ends, 2);
  EXPECT_EQ(log_.marks(), (std::vector<int>{1, 2}));
  EXPECT_EQ(driver_.events().size(), 2U);
}

TEST_F(FaultsOnOneSm, AnEndIsNotTakenForThatOfLaterWork) {
  const auto one = batch_of(logs(1), {1});
  const auto two = batch_of(logs(2), {2});
  std::vector<std::size_t> executed_at_end;
  bool is_first = true;
  driver_.before_confirm([&](const DeviceEvent&) {
    executed_at_end.push_back(log_.marks().size());
    if (!is_first) return;
    is_first = false;
    EXPECT_TRUE(driver_.abandon(first_));
    driver_.submit(first_, *two);
    driver_.select(first_);
  });
  driver_.run([&] {
    driver_.submit(first_, *one);
    driver_.select(first_);
    driver_.wait_for(Kind::complete, first_);
  });
  EXPECT_EQ(executed_at_end, (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(driver_.events().size(), 1U);
}

TEST_F(FaultsOnOneSm, ASwitchThatComesWithAPreemptionIsNotTold) {
  const auto one = batch_of(logs(1), {1});
  const auto two = batch_of(logs(2), {1});
  bool is_first = true;
  driver_.before_confirm([&](const DeviceEvent& event) {
    if (event.kind == Kind::switched && std::exchange(is_first, false)) driver_.select(second_);
  });
  driver_.run([&] {
    driver_.submit(first_, *one);
    driver_.submit(second_, *two);
    driver_.select(first_, Duration::nanoseconds(1));
    driver_.wait_for(Kind::complete, second_);
    EXPECT_EQ(driver_.count(Kind::switched, first_), 0U);
    driver_.select(first_, Duration::nanoseconds(1));
    driver_.wait_for(Kind::complete, first_);
  });
  EXPECT_EQ(driver_.count(Kind::switched, first_), 1U);
  EXPECT_EQ(log_.marks(), (std::vector<int>{2, 1}));
}

CopyRequest endless(CopyDirection direction, std::uint64_t key) {
  CopyRequest request;
  request.time = Duration::infinite();
  request.direction = direction;
  request.key = key;
  return request;
}

TEST(ComputeDeviceCopies, MoveTheBytes) {
  ComputeDevice device(properties_with(1));
  const StreamId stream = device.add_stream({}).value();
  const std::span<std::byte> memory = device.reserve(1000).value();
  std::vector<std::byte> source(1000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7);
  std::vector<std::byte> target(1000);
  DeviceDriver driver(device);
  driver.run([&] {
    EXPECT_TRUE(driver.copy(stream, {memory.data(), source.data(), 1000, {}, CopyDirection::to_device, 0}));
    driver.wait_for(Kind::copied, stream);
    EXPECT_TRUE(driver.copy(stream, {target.data(), memory.data(), 999, {}, CopyDirection::to_host, 0}));
    driver.wait_for(Kind::copied, stream, 2);
    EXPECT_TRUE(driver.copy(stream, {nullptr, nullptr, 5, Duration::microseconds(1), CopyDirection::to_host, 0}));
    driver.wait_for(Kind::copied, stream, 3);
  });
  EXPECT_TRUE(std::equal(source.begin(), source.end() - 1, target.begin()));
  EXPECT_EQ(target.back(), std::byte{0});
  EXPECT_EQ(driver.count(Kind::copying, stream), 0U);  // each began at once
}

TEST(ComputeDeviceCopies, WaitInTheOrderOfTheirKeys) {
  ComputeDevice device(properties_with(1));
  std::vector<StreamId> streams;
  for (int count = 0; count < 5; ++count) streams.push_back(device.add_stream({}).value());
  std::byte byte{};
  const auto request = [&](CopyDirection direction, std::uint64_t key) {
    return CopyRequest{&byte, &byte + 0, 0, {}, direction, key};
  };
  DeviceDriver driver(device);
  driver.run([&] {
    EXPECT_TRUE(driver.copy(streams[0], endless(CopyDirection::to_device, 9)));
    EXPECT_FALSE(driver.copy(streams[1], request(CopyDirection::to_host, 7)));
    EXPECT_FALSE(driver.copy(streams[2], request(CopyDirection::to_device, 5)));
    EXPECT_FALSE(driver.copy(streams[3], request(CopyDirection::to_device, 1)));
    EXPECT_FALSE(driver.copy(streams[4], request(CopyDirection::to_device, 6)));
    EXPECT_TRUE(driver.abandon(streams[3]));  // waits
    EXPECT_TRUE(driver.abandon(streams[0]));  // is under way
    driver.wait_for(Kind::copied, streams[1]);
  });
  std::vector<std::pair<StreamId, Kind>> told;
  for (const DeviceEvent& event : driver.events()) {
    told.emplace_back(event.stream, event.kind);
    EXPECT_EQ(event.engine, 0);
  }
  const std::vector<std::pair<StreamId, Kind>> expected = {{streams[2], Kind::copying}, {streams[2], Kind::copied},
                                                           {streams[4], Kind::copying}, {streams[4], Kind::copied},
                                                           {streams[1], Kind::copying}, {streams[1], Kind::copied}};
  EXPECT_EQ(told, expected);
}

TEST(ComputeDeviceCopies, TwoEnginesServeADirectionEach) {
  ComputeDevice device(properties_with(1, 2));
  const StreamId in = device.add_stream({}).value();
  const StreamId out = device.add_stream({}).value();
  DeviceDriver driver(device);
  driver.run([&] {
    EXPECT_TRUE(driver.copy(in, endless(CopyDirection::to_device, 0)));
    EXPECT_TRUE(driver.copy(out, {nullptr, nullptr, 0, {}, CopyDirection::to_host, 0}));
    driver.wait_for(Kind::copied, out);
  });
  EXPECT_EQ(driver.events().front().engine, 1);
  EXPECT_NE(device.copy_engine(CopyDirection::to_device), device.copy_engine(CopyDirection::to_host));
}

TEST(ComputeDeviceSetUp, MemoryIsAlignedZeroedAndCounted) {
  ComputeDevice device(properties_with(1));  // 1 MiB
  const std::span<std::byte> first = device.reserve(100).value();
  const std::span<std::byte> second = device.reserve((1 << 20) - 100).value();
  EXPECT_EQ(first.size(), 100U);
  EXPECT_EQ(second.size(), (1U << 20) - 100);
  for (const std::span<std::byte> memory : {first, second}) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 256, 0U);
    EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte byte) { return byte == std::byte{0}; }));
  }
  std::ranges::fill(first, std::byte{1});
  EXPECT_EQ(second.front(), std::byte{0});
  const Result<std::span<std::byte>> more = device.reserve(1);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.errors().front().code, ErrorCode::limit);
  EXPECT_EQ(to_string(more.errors().front()), "found 1 bytes of device memory; expected at most 0 of 1048576");
  EXPECT_TRUE(device.reserve(0));
  EXPECT_FALSE(device.reserve(-1));
}

TEST(ComputeDeviceSetUp, StreamsNeedAnSm) {
  ComputeDevice full(properties_with(2));
  ASSERT_TRUE(full.add_partitions(std::array{2}));
  const Result<StreamId> outside = full.add_stream({});
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.errors().front().code, ErrorCode::limit);
  EXPECT_TRUE(full.add_stream({0, PartitionId{0}}));
}

TEST(ComputeDeviceSetUp, PropertiesAreWhatTheDeviceDoes) {
  DeviceProperties asked = properties_with(0, 5);
  asked.virtual_time = true;
  ComputeDevice device(asked);
  EXPECT_EQ(device.properties().sms, 1);
  EXPECT_EQ(device.properties().copy_engines, 2);
  EXPECT_TRUE(device.properties().computes);
  EXPECT_FALSE(device.properties().virtual_time);
  EXPECT_TRUE(device.next_event({}).is_infinite());
  EXPECT_TRUE(device.advance({}).empty());
}

}  // namespace
}  // namespace rtgpu
