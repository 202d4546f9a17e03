// The timed device as a state machine: what it reports at which nanosecond.
#include "runtime/device/host/timed_device.h"

#include "runtime/machine/virtual_machine.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using Kind = DeviceEvent::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Duration ns(std::int64_t count) {
  return Duration::nanoseconds(count);
}

class NoListener final : public DeviceListener {
 public:
  void on_device_event(const DeviceEvent& /*event*/) override { FAIL() << "a timed device has no thread to call from"; }
};

// An event and when it was reported.
struct Told {
  std::int64_t at = 0;
  Kind kind = Kind::complete;
  StreamId stream = kNoStream;
  friend bool operator==(const Told&, const Told&) = default;
  friend void PrintTo(const Told& told, std::ostream* out) {
    *out << told.at << ": " << static_cast<int>(told.kind) << " of " << told.stream;
  }
};

class TimedDeviceTest : public ::testing::Test {
 protected:
  static DeviceProperties properties(int copy_engines) {
    DeviceProperties properties;
    properties.name = "test";
    properties.sms = 8;
    properties.copy_engines = copy_engines;
    properties.stream_levels = 3;
    properties.memory = 1000;
    return properties;
  }

  explicit TimedDeviceTest(int copy_engines = 1) : device_(properties(copy_engines)) {
    for (int count = 0; count < 4; ++count) streams_.push_back(device_.add_stream({}).value());
    start({});
  }

  void start(BoundaryRule rule) { device_.start(machine_, listener_, rule); }

  void submit(StreamId stream, const TimedWork& work, std::int64_t now) {
    batches_.push_back(std::make_unique<WorkBatch>(1));
    batches_.back()->timed() = work;
    device_.submit(stream, *batches_.back(), ns(now));
  }
  void submit(StreamId stream, std::int64_t time, std::int64_t now) {
    submit(stream, TimedWork{ns(time), {}, {}}, now);
  }

  void copy_of(StreamId stream, std::int64_t time, std::uint64_t key, std::int64_t now, bool begins,
               CopyDirection direction = CopyDirection::to_device) {
    CopyRequest request;
    request.time = ns(time);
    request.key = key;
    request.direction = direction;
    EXPECT_EQ(device_.copy(stream, request, ns(now)), begins);
  }

  std::int64_t next(std::int64_t now) { return device_.next_event(ns(now)).count(); }

  std::vector<Told> advance(std::int64_t now) {
    std::vector<Told> told;
    for (const DeviceEvent& event : device_.advance(ns(now))) told.push_back({now, event.kind, event.stream});
    return told;
  }

  // Everything from `now` on up to `end`, reported when it is due.
  std::vector<Told> run(std::int64_t now, std::int64_t end) {
    std::vector<Told> all;
    while (true) {
      const Duration due = device_.next_event(ns(now));
      if (due.is_infinite() || due > ns(end)) break;
      now = due.count();
      for (const Told& told : advance(now)) all.push_back(told);
    }
    return all;
  }

  VirtualMachine machine_{1};
  NoListener listener_;
  TimedDevice device_;
  std::vector<StreamId> streams_;
  std::vector<std::unique_ptr<WorkBatch>> batches_;
};

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

TEST_F(TimedDeviceTest, WorkRunsWhenItIsSelected) {
  submit(0, 100, 5);
  EXPECT_EQ(next(5), kNever);
  device_.select(0, {}, ns(20));
  EXPECT_EQ(next(20), 120);
  EXPECT_EQ(next(90), 120);
  EXPECT_THAT(advance(119), IsEmpty());
  EXPECT_THAT(advance(120), ElementsAre(Told{120, Kind::complete, 0}));
  EXPECT_EQ(next(120), kNever);
  EXPECT_THAT(advance(500), IsEmpty());
}

TEST_F(TimedDeviceTest, WorkMayComeAfterItsSelection) {
  device_.select(0, {}, ns(5));
  submit(0, 100, 20);
  EXPECT_THAT(run(20, 1000), ElementsAre(Told{120, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, PreemptedWorkKeepsItsProgress) {
  submit(0, 100, 0);
  submit(1, 30, 0);
  device_.select(0, {}, ns(0));
  EXPECT_THAT(advance(40), IsEmpty());
  device_.select(1, {}, ns(40));
  EXPECT_THAT(run(40, 1000), ElementsAre(Told{70, Kind::complete, 1}));
  device_.select(kNoStream, {}, ns(70));
  EXPECT_EQ(next(75), kNever);
  device_.select(0, {}, ns(80));  // 60 are left
  EXPECT_THAT(run(80, 1000), ElementsAre(Told{140, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, WorkOfNoLengthEndsAtOnce) {
  submit(0, 0, 0);
  device_.select(0, {}, ns(10));
  EXPECT_THAT(run(10, 1000), ElementsAre(Told{10, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, ASwitchComesBeforeTheWork) {
  submit(0, 100, 0);
  device_.select(0, ns(7), ns(10));
  EXPECT_THAT(run(10, 1000), ElementsAre(Told{17, Kind::switched, 0}, Told{117, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, ASwitchThatIsInterruptedIsPaidAgain) {
  submit(0, 100, 0);
  submit(1, 20, 0);
  device_.select(0, ns(7), ns(0));
  device_.select(1, ns(7), ns(5));
  EXPECT_THAT(run(5, 1000), ElementsAre(Told{12, Kind::switched, 1}, Told{32, Kind::complete, 1}));
  device_.select(0, ns(7), ns(40));
  EXPECT_THAT(run(40, 1000), ElementsAre(Told{47, Kind::switched, 0}, Told{147, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, TheEndIsReportedLateWithoutRunningOn) {
  submit(0, 100, 0);
  submit(1, 50, 0);
  device_.select(0, ns(5), ns(0));
  EXPECT_THAT(advance(300), ElementsAre(Told{300, Kind::switched, 0}, Told{300, Kind::complete, 0}));
  device_.select(1, {}, ns(300));
  EXPECT_THAT(run(300, 1000), ElementsAre(Told{350, Kind::complete, 1}));
}

TEST_F(TimedDeviceTest, AnEndThatIsNotYetReportedIsReportedAfterAPreemption) {
  submit(0, 100, 0);
  submit(1, 50, 0);
  device_.select(0, {}, ns(0));
  device_.select(1, {}, ns(130));  // 30 late
  EXPECT_THAT(run(130, 1000), ElementsAre(Told{180, Kind::complete, 1}));
  device_.select(0, {}, ns(180));
  EXPECT_THAT(run(180, 1000), ElementsAre(Told{180, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, WorkThatHangsNeverEnds) {
  submit(0, TimedWork{Duration::infinite(), {}, {}}, 0);
  device_.select(0, {}, ns(0));
  EXPECT_EQ(next(0), kNever);
  EXPECT_THAT(advance(1'000'000'000'000'000), IsEmpty());
  EXPECT_EQ(next(1'000'000'000'000'000), kNever);
  submit(1, 10, 1'000'000'000'000'001);
  device_.select(1, {}, ns(1'000'000'000'000'001));
  EXPECT_EQ(next(1'000'000'000'000'001), 1'000'000'000'000'011);
}

TEST_F(TimedDeviceTest, TimeSlicesFollowOneAnother) {
  start({Boundary::time_slice, ns(30)});
  submit(0, 100, 0);
  device_.select(0, {}, ns(0));
  EXPECT_EQ(next(0), 100);  // nobody waits
  device_.want_boundary(true, ns(40));
  EXPECT_THAT(run(40, 1000),
              ElementsAre(Told{60, Kind::boundary, 0}, Told{90, Kind::boundary, 0}, Told{100, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, ATimeSliceBeginsWithTheTurnAfterItsSwitch) {
  start({Boundary::time_slice, ns(30)});
  submit(0, 100, 0);
  submit(1, 100, 0);
  device_.select(0, {}, ns(0));
  device_.want_boundary(true, ns(0));
  EXPECT_THAT(run(0, 40), ElementsAre(Told{30, Kind::boundary, 0}));
  device_.select(1, ns(4), ns(40));
  EXPECT_THAT(run(40, 75), ElementsAre(Told{44, Kind::switched, 1}, Told{74, Kind::boundary, 1}));
  device_.select(0, ns(4), ns(75));
  EXPECT_THAT(run(75, 110), ElementsAre(Told{79, Kind::switched, 0}, Told{109, Kind::boundary, 0}));
}

TEST_F(TimedDeviceTest, SlicesEndByTheProgressOfTheWork) {
  start({Boundary::slice, {}});
  submit(0, TimedWork{ns(100), ns(40), {}}, 0);
  submit(1, TimedWork{ns(10), {}, {}}, 0);
  device_.select(0, {}, ns(0));
  device_.want_boundary(true, ns(15));
  EXPECT_THAT(run(15, 40), ElementsAre(Told{40, Kind::boundary, 0}));
  device_.select(1, {}, ns(40));
  EXPECT_THAT(run(40, 1000), ElementsAre(Told{50, Kind::complete, 1}));  // in one piece
  device_.select(0, {}, ns(60));
  EXPECT_THAT(run(60, 1000), ElementsAre(Told{100, Kind::boundary, 0}, Told{120, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, TheEndOfTheLastSliceIsThatOfTheWork) {
  start({Boundary::slice, {}});
  submit(0, TimedWork{ns(80), ns(40), {}}, 0);
  device_.select(0, {}, ns(0));
  device_.want_boundary(true, ns(0));
  EXPECT_THAT(run(0, 1000), ElementsAre(Told{40, Kind::boundary, 0}, Told{80, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, ABlockEndsBeforeOthersGetIn) {
  start({Boundary::block, {}});
  submit(0, TimedWork{ns(100), {}, ns(30)}, 0);
  device_.select(0, {}, ns(0));
  EXPECT_EQ(next(40), 100);
  device_.want_boundary(true, ns(40));
  EXPECT_EQ(next(40), 60);
  EXPECT_THAT(advance(60), ElementsAre(Told{60, Kind::boundary, 0}));
  submit(1, 10, 60);
  device_.select(1, {}, ns(60));
  device_.want_boundary(false, ns(60));
  EXPECT_THAT(run(60, 1000), ElementsAre(Told{70, Kind::complete, 1}));
  device_.select(0, {}, ns(70));
  EXPECT_THAT(run(70, 1000), ElementsAre(Told{110, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, BetweenTwoBlocksOthersGetInAtOnce) {
  start({Boundary::block, {}});
  submit(0, TimedWork{ns(100), {}, ns(30)}, 0);
  device_.select(0, {}, ns(0));
  device_.want_boundary(true, ns(60));
  EXPECT_THAT(advance(next(60)), ElementsAre(Told{60, Kind::boundary, 0}));
}

TEST_F(TimedDeviceTest, WorkOfUnknownBlocksIsInterruptedOnlyBeforeItBegins) {
  start({Boundary::block, {}});
  submit(0, 100, 0);
  submit(1, 50, 0);
  device_.select(0, {}, ns(0));
  device_.want_boundary(true, ns(0));
  EXPECT_THAT(advance(next(0)), ElementsAre(Told{0, Kind::boundary, 0}));
  device_.select(1, {}, ns(0));
  device_.want_boundary(false, ns(0));
  device_.want_boundary(true, ns(1));
  EXPECT_THAT(run(1, 1000), ElementsAre(Told{50, Kind::complete, 1}));
}

TEST_F(TimedDeviceTest, ABoundaryThatNobodyWaitsForAnyMoreIsNotReported) {
  start({Boundary::slice, {}});
  submit(0, TimedWork{ns(100), ns(40), {}}, 0);
  device_.select(0, {}, ns(0));
  device_.want_boundary(true, ns(10));
  EXPECT_EQ(next(10), 40);
  device_.want_boundary(false, ns(20));
  EXPECT_EQ(next(20), 100);
  EXPECT_THAT(advance(50), IsEmpty());
}

TEST_F(TimedDeviceTest, ABoundaryIsReportedLate) {
  start({Boundary::slice, {}});
  submit(0, TimedWork{ns(100), ns(40), {}}, 0);
  device_.select(0, {}, ns(0));
  device_.want_boundary(true, ns(10));
  EXPECT_EQ(next(10), 40);
  EXPECT_THAT(advance(47), ElementsAre(Told{47, Kind::boundary, 0}));
  EXPECT_THAT(run(47, 1000), ElementsAre(Told{80, Kind::boundary, 0}, Told{100, Kind::complete, 0}));
}

TEST_F(TimedDeviceTest, OneEngineCopiesInTheOrderOfKeys) {
  copy_of(0, 50, 9, 0, true);
  copy_of(1, 10, 7, 5, false, CopyDirection::to_host);
  copy_of(2, 20, 3, 6, false);
  EXPECT_THAT(run(6, 1000),
              ElementsAre(Told{50, Kind::copied, 0}, Told{50, Kind::copying, 2}, Told{70, Kind::copied, 2},
                          Told{70, Kind::copying, 1}, Told{80, Kind::copied, 1}));
  copy_of(0, 5, 1, 100, true);
  EXPECT_THAT(run(100, 1000), ElementsAre(Told{105, Kind::copied, 0}));
}

class TimedDeviceWithTwoEngines : public TimedDeviceTest {
 protected:
  TimedDeviceWithTwoEngines() : TimedDeviceTest(2) {}
};

TEST_F(TimedDeviceWithTwoEngines, EachDirectionHasItsOwn) {
  EXPECT_NE(device_.copy_engine(CopyDirection::to_device), device_.copy_engine(CopyDirection::to_host));
  submit(3, 25, 0);
  device_.select(3, {}, ns(0));
  copy_of(0, 50, 1, 0, true, CopyDirection::to_device);
  copy_of(1, 50, 2, 10, true, CopyDirection::to_host);
  copy_of(2, 50, 3, 20, false, CopyDirection::to_host);
  EXPECT_THAT(run(20, 1000),
              ElementsAre(Told{25, Kind::complete, 3}, Told{50, Kind::copied, 0}, Told{60, Kind::copied, 1},
                          Told{60, Kind::copying, 2}, Told{110, Kind::copied, 2}));
}

TEST_F(TimedDeviceTest, RunningWorkIsAbandoned) {
  submit(0, 100, 0);
  submit(1, 20, 0);
  device_.select(0, {}, ns(0));
  EXPECT_TRUE(device_.abandon(0, ns(30)));
  EXPECT_EQ(next(30), kNever);
  device_.select(1, {}, ns(40));
  EXPECT_THAT(run(40, 1000), ElementsAre(Told{60, Kind::complete, 1}));
}

TEST_F(TimedDeviceTest, AbandoningPendingWorkLeavesTheRunningOne) {
  submit(0, 100, 0);
  submit(1, 20, 0);
  device_.select(0, {}, ns(0));
  EXPECT_TRUE(device_.abandon(1, ns(30)));
  EXPECT_THAT(run(30, 1000), ElementsAre(Told{100, Kind::complete, 0}));
  submit(1, 5, 200);  // nothing is left of the old one
  device_.select(1, {}, ns(200));
  EXPECT_THAT(run(200, 1000), ElementsAre(Told{205, Kind::complete, 1}));
}

TEST_F(TimedDeviceTest, ACopyUnderWayIsAbandonedAndTheNextBegins) {
  copy_of(0, 50, 1, 0, true);
  copy_of(1, 10, 2, 5, false);
  copy_of(2, 10, 3, 5, false);
  EXPECT_TRUE(device_.abandon(2, ns(6)));  // waits
  EXPECT_TRUE(device_.abandon(0, ns(20)));
  EXPECT_EQ(next(20), 20);
  EXPECT_THAT(run(20, 1000), ElementsAre(Told{20, Kind::copying, 1}, Told{30, Kind::copied, 1}));
}

TEST_F(TimedDeviceTest, AnotherRunBeginsAfresh) {
  submit(0, 100, 0);
  device_.select(0, {}, ns(0));
  copy_of(1, 50, 1, 0, true);
  EXPECT_THAT(advance(30), IsEmpty());
  start({});
  EXPECT_EQ(next(0), kNever);
  submit(1, 10, 0);
  device_.select(1, {}, ns(0));
  copy_of(0, 20, 1, 0, true);
  EXPECT_THAT(run(0, 1000), ElementsAre(Told{10, Kind::complete, 1}, Told{20, Kind::copied, 0}));
}

TEST_F(TimedDeviceTest, PartitionsAndMemoryAreCounted) {
  TimedDevice device(device_.properties());
  const Result<std::vector<Partition>> too_large = device.add_partitions(std::array{5, 4});
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.errors().front().code, ErrorCode::limit);
  EXPECT_EQ(to_string(too_large.errors().front()),
            "found partitions of 5 + 4 SMs; expected at least 1 SM in each, and at most 8 SMs in all. Make the "
            "partitions smaller.");
  constexpr int kMost = std::numeric_limits<int>::max();
  EXPECT_FALSE(device.add_partitions(std::array{kMost, kMost, 2}));
  EXPECT_FALSE(device.add_partitions(std::array{8, 0}));
  EXPECT_FALSE(device.add_partitions(std::array{9, -1}));
  const Result<std::vector<Partition>> made = device.add_partitions(std::array{5, 3});
  ASSERT_TRUE(made);
  ASSERT_EQ(made->size(), 2U);
  EXPECT_EQ(made->front().id, 0U);
  EXPECT_EQ(made->front().sms, 5);
  EXPECT_EQ(made->back().id, 1U);
  EXPECT_EQ(made->back().sms, 3);

  ASSERT_TRUE(device_.reserve(600));
  EXPECT_TRUE(device_.reserve(0)->empty());
  const Result<std::span<std::byte>> more = device_.reserve(401);
  ASSERT_FALSE(more);
  EXPECT_EQ(to_string(more.errors().front()), "found 401 bytes of device memory; expected at most 400 of 1000");
  EXPECT_TRUE(device_.reserve(400));
  EXPECT_FALSE(device_.reserve(1));
  EXPECT_FALSE(device_.reserve(-1));
}

TEST_F(TimedDeviceTest, StreamsHaveLevelsAndPartitionsThatExist) {
  EXPECT_TRUE(device_.add_stream({2, {}}));
  for (const int level : {-1, 3}) {
    const Result<StreamId> stream = device_.add_stream({level, {}});
    ASSERT_FALSE(stream) << level;
    EXPECT_EQ(stream.errors().front().code, ErrorCode::limit);
  }
  const Result<StreamId> nowhere = device_.add_stream({0, PartitionId{0}});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.errors().front().code, ErrorCode::value);
}

TEST_F(TimedDeviceTest, PartitionsAreMadeOnceAndBeforeStreams) {
  TimedDevice device(device_.properties());
  ASSERT_TRUE(device.add_partitions(std::array{1}));
  const Result<std::vector<Partition>> again = device.add_partitions(std::array{1});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.errors().front().code, ErrorCode::conflict);
  EXPECT_TRUE(device.add_stream({0, PartitionId{0}}));
  const Result<std::vector<Partition>> late = device_.add_partitions(std::array{1});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.errors().front().code, ErrorCode::conflict);
}

TEST(TimedDeviceProperties, AreThoseOfTheGpu) {
  Gpu gpu;
  gpu.name = "orin";
  gpu.copy_engines = 2;
  DeviceProperties properties = TimedDevice::properties_of(gpu);
  EXPECT_EQ(properties.name, "orin");
  EXPECT_EQ(properties.copy_engines, 2);
  EXPECT_EQ(properties.sms, 1);
  EXPECT_EQ(properties.stream_levels, 1);
  EXPECT_EQ(properties.memory, std::numeric_limits<std::int64_t>::max());
  gpu.sms = 16;
  gpu.stream_priorities = 6;
  gpu.memory = 4096;
  properties = TimedDevice::properties_of(gpu);
  EXPECT_EQ(properties.sms, 16);
  EXPECT_EQ(properties.stream_levels, 6);
  EXPECT_EQ(properties.memory, 4096);
  EXPECT_TRUE(TimedDevice(properties).properties().virtual_time);
  EXPECT_FALSE(TimedDevice(properties).properties().computes);
}

}  // namespace
}  // namespace rtgpu
