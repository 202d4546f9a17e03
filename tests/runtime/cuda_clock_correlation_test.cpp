#include "runtime/device/cuda/clock_correlation.h"
#include "tests/support/fake_driver/fake_cuda.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;

constexpr Duration nanos(std::int64_t count) {
  return Duration::nanoseconds(count);
}

constexpr Duration millis(std::int64_t count) {
  return Duration::milliseconds(count);
}

std::pair<std::int64_t, std::int64_t> ends(const HostInterval& host) {
  return {host.earliest.count(), host.latest.count()};
}

ClockSample sample(std::int64_t before, std::int64_t after, std::int64_t device, std::int64_t error = 0) {
  return {nanos(before), nanos(after), {nanos(device), nanos(error)}};
}

std::size_t add(ClockCorrelation& clocks, const ClockSample& one) {
  return clocks.add_burst(std::array{one});
}

ClockCorrelation two_references(std::int64_t wander_ppm) {
  ClockCorrelation clocks({100, wander_ppm});
  EXPECT_EQ(add(clocks, sample(1'000, 1'400, 0)), 0U);
  EXPECT_EQ(add(clocks, sample(2'001'000, 2'001'600, 2'000'000, 100)), 0U);
  return clocks;
}

TEST(CudaClockCorrelation, LiesOnTheLineBetweenReferences) {
  const ClockCorrelation clocks = two_references(0);
  // Half-way of 1000 and 2001000, and of 1400 and 2001600. The error of 100 is 101 of the host's at 100 ppm, and 1.
  EXPECT_THAT(ends(clocks.host_time({nanos(1'000'000), {}})), Pair(1'000'898, 1'001'602));
  EXPECT_THAT(ends(clocks.host_time({nanos(1'000'000), nanos(10)})), Pair(1'000'887, 1'001'613));
  EXPECT_THAT(ends(two_references(3).host_time({nanos(1'000'000), {}})), Pair(1'000'895, 1'001'605));
  EXPECT_THAT(ends(two_references(3).host_time({nanos(2'000'000 - 1), {}})), Pair(2'000'999 - 103, 2'001'599 + 103));
}

TEST(CudaClockCorrelation, DriftsByTheBoundBeyondThem) {
  const ClockCorrelation clocks = two_references(1);
  // 1 ms of the device's is 999900.01 to 1000100.01 ns.
  EXPECT_THAT(ends(clocks.host_time({nanos(-1'000'000), {}})), Pair(1'000 - 1'000'101, 1'400 - 999'900));
  EXPECT_THAT(ends(clocks.host_time({nanos(3'000'000), {}})), Pair(2'001'000 + 999'900, 2'001'600 + 1'000'101));
}

TEST(CudaClockCorrelation, KeepsTheNarrowestOfABurst) {
  ClockCorrelation clocks;
  // Widths 90, 50, 60; one that ends before it began; one whose error makes it wider.
  const std::array burst = {sample(100, 190, 0), sample(200, 250, 100), sample(300, 360, 200), sample(450, 440, 300),
                            sample(500, 520, 400, 20)};
  EXPECT_EQ(clocks.add_burst(burst), 1U);
  EXPECT_EQ(clocks.last().device.at, nanos(100));
  // Not later than that on both clocks.
  EXPECT_EQ(clocks.add_burst(std::array{sample(250, 260, 200), sample(300, 310, 100)}), 2U);
  EXPECT_EQ(clocks.add_burst({}), 0U);
  EXPECT_EQ(clocks.statement().references, 1U);
}

TEST(CudaClockCorrelation, StatesDriftAndUncertainty) {
  const ClockStatement stated = two_references(1).statement();
  EXPECT_EQ(stated.references, 2U);
  EXPECT_EQ(stated.offset, nanos(2'001'300 - 2'000'000));
  // 1999900 to 2000100 ns of the device's in 1999600 to 2000600 of the host's.
  EXPECT_EQ(stated.least_drift_ppb, -349'896);
  EXPECT_EQ(stated.most_drift_ppb, 250'051);
  EXPECT_EQ(stated.uncertainty, nanos(300 + 101 + 1 + 2));
  EXPECT_TRUE(stated.is_within_bounds);
  EXPECT_EQ(to_string(stated), "device clock: between 350 ppm slow and 250 ppm fast, times in the trace within 0.5 us");
}

TEST(CudaClockCorrelation, SaysIt) {
  ClockStatement stated;
  EXPECT_EQ(to_string(stated), "device clock: not correlated with the host's");
  stated = {1, {}, {}, -100'000, 100'000, nanos(3'101)};
  EXPECT_EQ(to_string(stated),
            "device clock: at most 100 ppm off, times in the trace within 3.2 us near the only reference");
  stated = {2, {}, {}, 11'600, 12'200, nanos(3'200)};
  EXPECT_EQ(to_string(stated), "device clock: 12 ppm fast, times in the trace within 3.2 us");
  stated = {2, {}, {}, -12'200, -11'600, nanos(12'000)};
  EXPECT_EQ(to_string(stated), "device clock: 12 ppm slow, times in the trace within 12.0 us");
  stated = {2, {}, {}, -300, 500, nanos(1)};
  EXPECT_EQ(to_string(stated), "device clock: 0 ppm off, times in the trace within 0.1 us");
}

TEST(CudaClockCorrelation, SeesADriftBeyondTheBound) {
  ClockCorrelation clocks;
  add(clocks, sample(0, 100, 0));
  add(clocks, sample(1'000'000'000, 1'000'000'100, 1'000'250'000));
  EXPECT_FALSE(clocks.statement().is_within_bounds);
  EXPECT_EQ(to_string(clocks.statement()),
            "device clock: 250 ppm fast, but 100 ppm are assumed at most: times in the trace may be off by more than "
            "0.6 us");
}

// Two clocks: the device's speed changes from piece to piece. Host times are in millionths of a nanosecond.
class TwoClocks {
 public:
  __extension__ using Int128 = __int128;

  TwoClocks(std::mt19937_64& engine, std::int64_t mean_ppb, std::int64_t wander_ppb)
      : engine_(engine), offset_(draw(-1'000'000'000'000'000, 1'000'000'000'000'000)) {
    for (std::size_t piece = 0; piece < kPieces; ++piece)
      drift_ppb_.push_back(mean_ppb + draw(-wander_ppb, wander_ppb));
  }

  static constexpr std::int64_t kPiece = 700'000'000;
  static constexpr std::size_t kPieces = 40;

  std::int64_t draw(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  std::int64_t host_floor(std::int64_t device) const {
    constexpr Int128 kUnit = 1'000'000;
    Int128 host = 0;
    for (std::size_t piece = 0; piece < kPieces && device > 0; ++piece) {
      const std::int64_t part = std::min(device, kPiece);
      host += part * (kUnit * 1'000'000'000) / (1'000'000'000 + drift_ppb_[piece]);
      device -= part;
    }
    return offset_ + static_cast<std::int64_t>(host / kUnit);
  }

 private:
  std::mt19937_64& engine_;
  std::int64_t offset_;
  std::vector<std::int64_t> drift_ppb_;
};

// References and the device times that they are really of.
struct Measured {
  ClockCorrelation clocks;
  std::vector<std::int64_t> device = {};
  std::vector<Duration> at = {};
};

// A burst from `device` on.
void take_burst(TwoClocks& truth, std::int64_t device, Measured& measured) {
  std::vector<ClockSample> burst;
  std::vector<std::int64_t> real;
  for (int each = 0; each < 4; ++each) {
    device += truth.draw(20'000, 50'000);
    const std::int64_t host = truth.host_floor(device);
    const std::int64_t error = truth.draw(0, 1'000);
    std::int64_t at = device;
    if (!measured.at.empty()) {
      at = measured.at.back().count() + device - measured.device.back() + truth.draw(-error, error);
    }
    burst.push_back(sample(host - truth.draw(0, 9'000), host + 1 + truth.draw(0, 9'000), at, error));
    real.push_back(device);
  }
  const std::size_t best = measured.clocks.add_burst(burst);
  ASSERT_LT(best, burst.size());
  measured.device.push_back(real[best]);
  measured.at.push_back(burst[best].device.at);
}

// Of a device time that was measured from one of the references beside it.
void expect_inside(TwoClocks& truth, const Measured& measured, std::int64_t device, std::size_t reference) {
  const std::int64_t error = truth.draw(0, 1'000);
  const std::int64_t at =
      measured.at[reference].count() + device - measured.device[reference] + truth.draw(-error, error);
  const HostInterval host = measured.clocks.host_time({nanos(at), nanos(error)});
  const std::int64_t real = truth.host_floor(device);
  EXPECT_LE(host.earliest, nanos(real));
  EXPECT_GE(host.latest, nanos(real + 1));
  if (device < measured.device.front() || device > measured.device.back()) return;
  const Duration most = 2 * measured.clocks.statement().uncertainty + nanos(2 * (error + 1));
  EXPECT_LE(host.latest - host.earliest, most);
}

TEST(CudaClockCorrelation, HasTheTrueTimeInItsInterval) {
  const std::uint64_t first = std::random_device{}();
  for (std::uint64_t seed = first; seed < first + 300; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 engine(seed);
    const bool wanders = seed % 2 == 0;
    const std::int64_t mean = std::uniform_int_distribution<std::int64_t>(-99'000, 99'000)(engine);
    TwoClocks truth(engine, mean + (wanders || mean % 2 == 0 ? 0 : (mean < 0 ? -100'000 : 100'000) - mean),
                    wanders ? 450 : 0);
    Measured measured{ClockCorrelation({100, wanders ? 1 : 0})};
    std::int64_t device = 3'000'000'000;
    for (int burst = 0; burst < 4; ++burst) {
      take_burst(truth, device, measured);
      device += truth.draw(1'000'000, 5'000'000'000);
    }
    for (std::size_t left = 0; left + 1 < measured.at.size(); ++left) {
      for (int each = 0; each < 4; ++each) {
        const std::int64_t at = truth.draw(measured.device[left], measured.device[left + 1]);
        expect_inside(truth, measured, at, left + static_cast<std::size_t>(each % 2));
      }
    }
    expect_inside(truth, measured, truth.draw(0, measured.device.front()), 0);
    expect_inside(truth, measured, measured.device.back() + truth.draw(0, 2'000'000'000), measured.at.size() - 1);
    const ClockStatement stated = measured.clocks.statement();
    EXPECT_TRUE(stated.is_within_bounds);
    if (!wanders && mean % 2 == 0) {
      EXPECT_LE(stated.least_drift_ppb, mean);
      EXPECT_GE(stated.most_drift_ppb, mean);
    }
    if (HasFailure()) return;
  }
}

TEST(CudaClockCorrelation, SpansAreAsExactAsAFloat) {
  const std::vector<std::array<double, 3>> expected = {{0.0, 0, 502},
                                                       {0.5, 500'000, 502},
                                                       {1.5, 1'500'000, 502},
                                                       {-1.5, -1'500'000, 502},
                                                       {11.0, 11'000'000, 503},
                                                       {8192.0, 8'192e6, 2'455},
                                                       {16'777'216.0, 16'777'216e6, 4'000'501}};
  for (const auto& [milliseconds, length, error] : expected) {
    const Result<DeviceTime> span = span_of_milliseconds(static_cast<float>(milliseconds));
    ASSERT_TRUE(span) << milliseconds;
    EXPECT_EQ(span->at, nanos(static_cast<std::int64_t>(length))) << milliseconds;
    EXPECT_EQ(span->error, nanos(static_cast<std::int64_t>(error))) << milliseconds;
  }
  EXPECT_EQ(span_of_milliseconds(0.1F)->at, nanos(100'000));
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::nanf(""), std::ldexp(1.0F, 40)}) {
    EXPECT_FALSE(span_of_milliseconds(wrong)) << wrong;
  }
}

// The fake device takes 1 ms for each event. So does the host for each sample: half of it after the call, but for the
// sixth sample, which sees the event after 100 us.
class CudaDeviceClock : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Driver> loaded = Driver::load(FakeCuda::path());
    ASSERT_TRUE(loaded);
    driver.emplace(*loaded);
    CUcontext context = nullptr;
    ASSERT_EQ((*driver)->cuDevicePrimaryCtxRetain(&context, 0), CUresult::success);
    ASSERT_EQ((*driver)->cuCtxSetCurrent(context), CUresult::success);
    ASSERT_EQ((*driver)->cuStreamCreateWithPriority(&stream, kStreamNonBlocking, 0), CUresult::success);
    things = fake.things_left();
  }

  Duration tell() {
    const std::int64_t call = calls++;
    host += Duration::microseconds(call == 11 ? 100 : call == 12 ? 900 : 500);
    return host;
  }
  Result<DeviceClock> clock() {
    return DeviceClock::create(*driver, stream, [this] { return tell(); });
  }
  CUevent recorded(unsigned flags = kEventDefault) const {
    CUevent event = nullptr;
    EXPECT_EQ((*driver)->cuEventCreate(&event, flags), CUresult::success);
    EXPECT_EQ((*driver)->cuEventRecord(event, stream), CUresult::success);
    return event;
  }

  FakeCuda fake;
  std::optional<Driver> driver;
  CUstream stream = nullptr;
  std::size_t things = 0;
  std::int64_t calls = 0;
  Duration host = Duration::microseconds(-500);
};

TEST_F(CudaDeviceClock, MapsEventsToTheHost) {
  Result<DeviceClock> made = clock();
  ASSERT_TRUE(made);
  DeviceClock device = std::move(*made);
  ASSERT_EQ(device.take_burst(), CUresult::success);
  EXPECT_EQ(device.correlation().last().device.at, millis(5));
  EXPECT_EQ(device.correlation().last().before, millis(5));
  EXPECT_EQ(device.correlation().last().after, millis(5) + Duration::microseconds(100));
  auto* const early = recorded();  // 11 ms after the reference, of which 503 ns are an error: 504 of the host's
  const Result<HostInterval> at = device.host_time(early);
  ASSERT_TRUE(at);
  EXPECT_THAT(ends(*at), Pair(5'000'000 + 10'998'900 - 504, 5'100'000 + 11'001'101 + 504));

  host += millis(1);
  ASSERT_EQ(device.take_burst(), CUresult::success);
  EXPECT_EQ(device.correlation().last().device.at, millis(17));  // all are as narrow: the first
  EXPECT_EQ(device.correlation().last().before, millis(17));
  const Result<HostInterval> again = device.host_time(early);
  ASSERT_TRUE(again);
  EXPECT_GT(again->earliest, millis(16) - Duration::microseconds(2));
  EXPECT_LT(again->earliest, millis(16));
  EXPECT_GT(again->latest, millis(16) + Duration::microseconds(466));  // 100 us and 11/12 of what 500 us are more
  EXPECT_LT(again->latest, millis(16) + Duration::microseconds(469));
  EXPECT_TRUE(device.correlation().statement().is_within_bounds);
}

TEST_F(CudaDeviceClock, TakesNoReferenceIfTheDeviceDoesNotAnswer) {
  Result<DeviceClock> device = clock();
  ASSERT_TRUE(device);
  auto* const event = recorded();
  EXPECT_FALSE(device->host_time(event));
  fake.set("hold=1");
  EXPECT_EQ(device->take_burst(), CUresult::not_ready);
  EXPECT_LE(calls, 1 + DeviceClock::kPatience.count() / 500'000);
  fake.set("hold=0");
  for (const std::string call : {"cuEventRecord", "cuEventQuery", "cuEventElapsedTime"}) {
    fake.set("fail=" + call + ":719");
    EXPECT_EQ(device->take_burst(), CUresult::launch_failed) << call;
  }
  EXPECT_TRUE(device->correlation().empty());
  ASSERT_EQ(device->take_burst(), CUresult::success);
  EXPECT_TRUE(device->host_time(recorded()));
  const Result<HostInterval> untimed = device->host_time(recorded(kEventDisableTiming));
  ASSERT_FALSE(untimed);
  EXPECT_THAT(to_string(untimed.errors().front()), HasSubstr("CUDA_ERROR_INVALID_HANDLE (400)"));
}

TEST_F(CudaDeviceClock, GivesItsEventsBack) {
  {
    Result<DeviceClock> device = clock();
    ASSERT_TRUE(device);
    EXPECT_EQ(fake.things_left(), things + DeviceClock::kBurst + 1);
    DeviceClock moved = std::move(*device);
    moved = std::move(*clock());
    EXPECT_EQ(moved.take_burst(), CUresult::success);
  }
  EXPECT_EQ(fake.things_left(), things);
  fake.set("fail=cuEventCreate:2");
  const Result<DeviceClock> none = clock();
  ASSERT_FALSE(none);
  EXPECT_THAT(to_string(none.errors().front()), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2)"));
  EXPECT_EQ(fake.things_left(), things);
}

}  // namespace
}  // namespace rtgpu::cuda
