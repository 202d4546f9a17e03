// What the computing device runs, where and in which order.
#include "runtime/device/host/compute_device.h"

#include "runtime/device/slicing.h"
#include "tests/runtime/device_driver.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using Kind = DeviceEvent::Kind;

constexpr BoundaryRule kAtSlices{Boundary::slice, {}};
constexpr BoundaryRule kAtBlocks{Boundary::block, {}};

// SMs of the device, SMs of a partition (0: none), blocks in a slice (0: one launch).
class Kernels : public ::testing::TestWithParam<std::tuple<int, int, std::int64_t>> {
 protected:
  Kernels() : device_(properties_with(std::get<0>(GetParam()))) {
    StreamSetup setup;
    if (std::get<1>(GetParam()) > 0) {
      const Partition partition = device_.add_partitions(std::array{std::get<1>(GetParam())}).value().front();
      setup.partition = partition.id;
      EXPECT_EQ(partition.sms, std::get<1>(GetParam()));
    }
    stream_ = device_.add_stream(setup).value();
  }

  void execute(const BlockKernel& kernel, std::int64_t blocks) {
    const std::int64_t in_slice = std::get<2>(GetParam());
    std::vector<std::int64_t> slices;
    for (const Slice part : sliced(blocks, in_slice == 0 ? blocks : in_slice)) slices.push_back(part.blocks);
    const std::unique_ptr<WorkBatch> batch = batch_of(kernel, slices);
    DeviceDriver driver(device_);
    driver.run(kAtSlices, [&] { driver.execute(stream_, *batch); });
    EXPECT_EQ(driver.count(Kind::boundary, stream_), slices.size() - 1);
    EXPECT_EQ(driver.count(Kind::complete, stream_), 1U);
    EXPECT_EQ(driver.count(Kind::failed, stream_), 0U);
  }

 private:
  ComputeDevice device_;
  StreamId stream_ = kNoStream;
};

TEST_P(Kernels, AddVectors) {
  constexpr std::size_t kBlocks = 100;
  constexpr std::size_t kThreads = 32;
  std::vector<int> a(kBlocks * kThreads);
  std::vector<int> b(a.size());
  std::vector<int> expected(a.size());
  std::mt19937 engine(1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int>(engine() % 1'000'000);
    b[i] = static_cast<int>(engine() % 1'000'000);
    expected[i] = a[i] + b[i];
  }
  std::vector<int> sum(a.size(), -1);
  const auto add = [in1 = a.data(), in2 = b.data(), out = sum.data()](const Block& block) {
    const std::size_t first = static_cast<std::size_t>(block.index) * kThreads;
    for (std::size_t i = first; i < first + kThreads; ++i) out[i] = in1[i] + in2[i];
  };
  execute(add, kBlocks);
  EXPECT_EQ(sum, expected);
}

TEST_P(Kernels, CountAHistogramWithAtomics) {
  constexpr std::int64_t kBlocks = 60;
  constexpr std::size_t kThreads = 50;
  constexpr std::size_t kBins = 7;
  std::vector<std::uint32_t> values(static_cast<std::size_t>(kBlocks) * kThreads);
  std::mt19937 engine(2);
  std::array<int, kBins> expected{};
  for (std::uint32_t& value : values) {
    value = static_cast<std::uint32_t>(engine());
    ++expected[value % kBins];
  }
  std::array<std::atomic<int>, kBins> bins{};
  const auto count = [in = values.data(), &bins](const Block& block) {
    const std::size_t first = static_cast<std::size_t>(block.index) * kThreads;
    for (std::size_t i = first; i < first + kThreads; ++i) ++bins[in[i] % kBins];
  };
  execute(count, kBlocks);
  for (std::size_t bin = 0; bin < kBins; ++bin) EXPECT_EQ(bins[bin], expected[bin]) << bin;
}

INSTANTIATE_TEST_SUITE_P(ComputeDevice, Kernels,
                         ::testing::Combine(::testing::Values(2, 4), ::testing::Values(0, 1, 2),
                                            ::testing::Values(0, 7)),
                         [](const auto& kernels) {
                           return std::to_string(std::get<0>(kernels.param)) + "Sms" +
                                  std::to_string(std::get<1>(kernels.param)) + "Partitioned" +
                                  std::to_string(std::get<2>(kernels.param)) + "InASlice";
                         });

TEST(ComputeDevice, ALaunchBeginsWhenTheOneBeforeHasEnded) {
  ComputeDevice device(properties_with(3));
  const StreamId stream = device.add_stream({}).value();
  std::atomic<int> ended = 0;
  std::atomic<int> too_early = 0;
  WorkBatch batch(3);
  batch.add(Launch{[&ended](const Block&) { ++ended; }, 0, 50, {}});
  batch.add(Launch{[](const Block&) {}, 0, 0, {}});  // an empty grid
  batch.add(Launch{[&](const Block&) {
                     if (ended != 50) ++too_early;
                   },
                   0,
                   50,
                   {}});
  DeviceDriver driver(device);
  driver.run([&] { driver.execute(stream, batch); });
  EXPECT_EQ(ended, 50);
  EXPECT_EQ(too_early, 0);
}

TEST(ComputeDevice, AFurtherRunBeginsAfresh) {
  ComputeDevice device(properties_with(2));
  const StreamId stream = device.add_stream({}).value();
  std::atomic<int> executed = 0;
  const auto batch = batch_of([&executed](const Block&) { ++executed; }, {5});
  DeviceDriver first(device);
  first.run([&] { first.submit(stream, *batch); });
  EXPECT_EQ(executed, 0);  // never selected
  DeviceDriver second(device);
  second.run([&] {
    second.select(stream);
    second.execute(stream, *batch);
    second.execute(stream, *batch);
  });
  EXPECT_EQ(executed, 10);
  EXPECT_EQ(second.events().size(), 2U);
}

TEST(ComputeDevice, BatchesWithoutBlocksEnd) {
  ComputeDevice device(properties_with(2));
  const StreamId stream = device.add_stream({}).value();
  const auto empty_grid = batch_of([](const Block&) { FAIL(); }, {0, 0});
  WorkBatch nothing(1);
  WorkBatch time(2);
  time.add(Launch{{}, 0, 0, Duration::microseconds(1)});
  time.add(Launch{{}, 0, 0, Duration::microseconds(1)});
  DeviceDriver driver(device);
  driver.run(kAtSlices, [&] {
    driver.execute(stream, *empty_grid);
    driver.execute(stream, nothing);
    driver.execute(stream, time);
  });
  EXPECT_EQ(driver.events().size(), 3U);
}

// Blocks that wait for each other end only if they run at the same time.
TEST(ComputeDevice, SmsRunAtTheSameTime) {
  ComputeDevice device(properties_with(3));
  const StreamId stream = device.add_stream({}).value();
  Milestone begun;
  const auto meet = [&begun](const Block&) {
    begun.raise();
    begun.wait_for(3);
  };
  DeviceDriver driver(device);
  driver.run([&] { driver.execute(stream, *batch_of(meet, {3})); });
  EXPECT_EQ(begun.value(), 3);
}

TEST(ComputeDevice, StreamsStayOnTheirPartition) {
  ComputeDevice device(properties_with(4));
  const std::vector<Partition> partitions = device.add_partitions(std::array{2, 1}).value();
  const PartitionId pair = partitions[0].id;
  const PartitionId single = partitions[1].id;
  const std::array<StreamId, 3> streams = {device.add_stream({0, pair}).value(), device.add_stream({0, single}).value(),
                                           device.add_stream({}).value()};
  constexpr std::array<std::size_t, 3> kSms = {2, 1, 1};
  ExecutionLog log;
  DeviceDriver driver(device);
  driver.run([&] {
    for (int part = 0; part < 3; ++part) {
      const auto kernel = [&log, part](const Block& block) { log.add(part, block); };
      driver.execute(streams[static_cast<std::size_t>(part)], *batch_of(kernel, {40}));
    }
    // As many blocks as SMs, which meet: all SMs of the partition are used.
    Milestone begun;
    const auto meet = [&](const Block& block) {
      log.add(0, block);
      begun.raise();
      begun.wait_for(2);
    };
    driver.execute(streams[0], *batch_of(meet, {2}));
  });
  std::map<int, int> part_of_sm;
  std::array<std::set<int>, 3> sms;
  for (const ExecutionLog::Entry& entry : log.entries()) {
    EXPECT_EQ(part_of_sm.try_emplace(entry.sm, entry.mark).first->second, entry.mark) << "SM " << entry.sm;
    EXPECT_GE(entry.sm, 0);
    EXPECT_LT(entry.sm, 4);
    sms[static_cast<std::size_t>(entry.mark)].insert(entry.sm);
  }
  for (std::size_t part = 0; part < 3; ++part) EXPECT_EQ(sms[part].size(), kSms[part]);
}

// Whatever is selected when, every block runs exactly once, and every batch ends exactly once.
void preempt_at_random(ComputeDevice& device, const std::vector<StreamId>& streams, std::uint64_t seed) {
  constexpr std::int64_t kBlocks = 60;
  std::vector<std::array<std::atomic<int>, kBlocks>> executed(streams.size());
  Milestone progress;
  std::vector<std::unique_ptr<WorkBatch>> batches;
  for (auto& counts : executed) {
    const auto kernel = [&counts, &progress](const Block& block) {
      ++counts[static_cast<std::size_t>(block.index)];
      progress.raise();
    };
    batches.push_back(batch_of(kernel, {20, 1, 39}));
  }
  std::mt19937_64 engine(seed);
  DeviceDriver driver(device);
  driver.on_event([&](const DeviceEvent& event) {
    if (event.kind == Kind::complete) progress.raise();
  });
  driver.run(kAtSlices, [&] {
    for (std::size_t index = 0; index < streams.size(); ++index) driver.submit(streams[index], *batches[index]);
    while (true) {
      // Before looking who is left: whoever ends after that raises it.
      const std::int64_t seen = progress.value();
      std::vector<StreamId> left;
      for (const StreamId stream : streams) {
        if (driver.count(Kind::complete, stream) == 0) left.push_back(stream);
      }
      if (left.empty()) break;
      if (engine() % 4 == 0) driver.select(kNoStream);
      driver.select(left[engine() % left.size()]);
      if (engine() % 4 != 0) progress.wait_for(seen + 1);  // otherwise preempted at once
    }
  });
  for (std::size_t index = 0; index < streams.size(); ++index) {
    for (std::size_t block = 0; block < kBlocks; ++block) ASSERT_EQ(executed[index][block], 1) << index << ' ' << block;
    EXPECT_EQ(driver.count(Kind::complete, streams[index]), 1U);
  }
}

TEST(ComputeDevice, EveryBlockRunsOnceWhateverIsPreempted) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  for (std::uint64_t round = 0; round < 5; ++round) {
    ComputeDevice whole(properties_with(3));
    std::vector<StreamId> streams;
    for (int count = 0; count < 3; ++count) streams.push_back(whole.add_stream({}).value());
    preempt_at_random(whole, streams, seed + round);

    ComputeDevice partitioned(properties_with(3));
    const PartitionId partition = partitioned.add_partitions(std::array{2}).value().front().id;
    streams = {partitioned.add_stream({0, partition}).value(), partitioned.add_stream({0, partition}).value(),
               partitioned.add_stream({}).value()};
    preempt_at_random(partitioned, streams, seed + round);
  }
}

// On one SM the order is exact.
class OneSm : public ::testing::Test {
 protected:
  OneSm() : device_(properties_with(1)), low_(device_.add_stream({}).value()), high_(device_.add_stream({}).value()) {}

  BlockKernel logs(int mark) {
    return [this, mark](const Block& block) { log_.add(mark, block); };
  }
  // Its first block waits for the gate.
  BlockKernel gated(int mark) {
    return [this, mark](const Block& block) {
      if (block.index == 0) {
        begun_.raise();
        gate_.wait_for(1);
      }
      log_.add(mark, block);
    };
  }

  ComputeDevice device_;
  StreamId low_;
  StreamId high_;
  ExecutionLog log_;
  Milestone begun_;
  Milestone gate_;
  DeviceDriver driver_{device_};
};

TEST_F(OneSm, IsPreemptedBetweenBlocks) {
  const auto low = batch_of(gated(1), {3});
  const auto high = batch_of(logs(2), {2});
  driver_.run([&] {
    driver_.submit(low_, *low);
    driver_.submit(high_, *high);
    driver_.select(low_);
    begun_.wait_for(1);
    driver_.select(high_);
    gate_.raise();
    driver_.wait_for(Kind::complete, high_);
    EXPECT_EQ(driver_.count(Kind::complete, low_), 0U);
    driver_.select(low_);
    driver_.wait_for(Kind::complete, low_);
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{1, 2, 2, 1, 1}));
}

TEST_F(OneSm, TheEndOfWorkThatIsNotSelectedIsToldWhenItIs) {
  const auto low = batch_of(gated(1), {1});
  const auto high = batch_of(logs(2), {1});
  driver_.run([&] {
    driver_.submit(low_, *low);
    driver_.submit(high_, *high);
    driver_.select(low_);
    begun_.wait_for(1);
    driver_.select(high_);
    gate_.raise();
    driver_.wait_for(Kind::complete, high_);  // so the block has ended
    EXPECT_EQ(driver_.count(Kind::complete, low_), 0U);
    driver_.select(low_);
    driver_.wait_for(Kind::complete, low_);
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{1, 2}));
  EXPECT_EQ(driver_.count(Kind::complete, low_), 1U);
}

TEST_F(OneSm, WhatTheListenerSelectsAtASliceTakesEffectThere) {
  const auto low = batch_of(logs(1), {3, 2, 1});
  const auto high = batch_of(logs(2), {2});
  driver_.on_event([&](const DeviceEvent& event) {
    if (event.kind == Kind::boundary && log_.marks().size() == 3) device_.select(high_, {}, driver_.now());
    if (event.kind == Kind::complete && event.stream == high_) device_.select(low_, {}, driver_.now());
  });
  driver_.run(kAtSlices, [&] {
    driver_.submit(high_, *high);
    driver_.execute(low_, *low);
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{1, 1, 1, 2, 2, 1, 1, 1}));
  EXPECT_EQ(driver_.count(Kind::boundary, low_), 2U);
  EXPECT_EQ(driver_.count(Kind::boundary, high_), 0U);
}

TEST_F(OneSm, ABlocksEndIsToldOnlyWhileSomebodyWaits) {
  const auto low = batch_of(gated(1), {3});
  const auto high = batch_of(logs(2), {2});
  driver_.on_event([&](const DeviceEvent& event) {
    if (event.kind != Kind::boundary) return;
    device_.select(high_, {}, driver_.now());
    device_.want_boundary(false, driver_.now());
  });
  driver_.run(kAtBlocks, [&] {
    driver_.submit(low_, *low);
    driver_.submit(high_, *high);
    driver_.select(low_);
    begun_.wait_for(1);
    driver_.want_boundary(true);
    gate_.raise();
    driver_.wait_for(Kind::complete, high_);
    driver_.select(low_);
    driver_.wait_for(Kind::complete, low_);
  });
  EXPECT_EQ(log_.marks(), (std::vector<int>{1, 2, 2, 1, 1}));
  EXPECT_EQ(driver_.count(Kind::boundary, low_), 1U);
}

TEST_F(OneSm, BeforeItsFirstBlockWorkIsAtABoundary) {
  const auto low = batch_of(logs(1), {3});
  const auto high = batch_of(gated(2), {1});
  std::vector<std::size_t> executed_at_boundary;
  driver_.on_event([&](const DeviceEvent& event) {
    if (event.kind == Kind::boundary) executed_at_boundary.push_back(log_.marks().size());
  });
  driver_.run(kAtBlocks, [&] {
    driver_.want_boundary(true);
    driver_.execute(low_, *low);
    driver_.want_boundary(false);
    driver_.submit(high_, *high);
    driver_.select(high_);
    begun_.wait_for(1);
    driver_.submit(low_, *low);
    driver_.select(low_);  // cannot begin yet
    driver_.want_boundary(true);
    gate_.raise();
    driver_.wait_for(Kind::complete, low_, 2);
  });
  EXPECT_EQ(executed_at_boundary, (std::vector<std::size_t>{0, 1, 2, 4, 5, 6}));
}

TEST_F(OneSm, TimeSlicesEndWithABlock) {
  const auto low = batch_of(logs(1), {4});
  driver_.run({Boundary::time_slice, Duration::nanoseconds(1)}, [&] {
    driver_.want_boundary(true);
    driver_.execute(low_, *low);
    EXPECT_EQ(driver_.count(Kind::boundary, low_), 3U);
    driver_.want_boundary(false);
    driver_.execute(low_, *low);
    EXPECT_EQ(driver_.count(Kind::boundary, low_), 3U);
  });
}

TEST_F(OneSm, ALongTimeSliceIsNotOver) {
  const auto low = batch_of(logs(1), {4});
  driver_.run({Boundary::time_slice, Duration::seconds(86'400)}, [&] {
    driver_.want_boundary(true);
    driver_.execute(low_, *low);
  });
  EXPECT_EQ(driver_.count(Kind::boundary, low_), 0U);
}

TEST_F(OneSm, WorkBeginsAfterTheSwitchToItsContext) {
  const auto low = batch_of(logs(1), {2});
  std::size_t executed_before = 99;
  driver_.on_event([&](const DeviceEvent& event) {
    if (event.kind == Kind::switched) executed_before = log_.marks().size();
  });
  driver_.run([&] {
    driver_.submit(low_, *low);
    driver_.select(low_, Duration::microseconds(10));
    driver_.wait_for(Kind::complete, low_);
  });
  EXPECT_EQ(executed_before, 0U);
  EXPECT_EQ(driver_.count(Kind::switched, low_), 1U);
  EXPECT_EQ(driver_.events().front().kind, Kind::switched);
}

}  // namespace
}  // namespace rtgpu
