#include "rtgpu/time.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""h;

constexpr Duration ns(std::int64_t count) {
  return Duration::nanoseconds(count);
}
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::int64_t parsed(std::string_view text, Rounding rounding = Rounding::up) {
  const Result<Duration> result = parse_duration(text, rounding);
  return result ? result->count() : -1;
}

std::int64_t decimal(std::string_view text, TimeUnit unit, Rounding rounding = Rounding::up) {
  const Result<Duration> result = duration_from_decimal(text, unit, rounding);
  return result ? result->count() : -1;
}

TEST(Duration, ConvertsFromChronoExactly) {
  EXPECT_EQ(Duration(33ms), ns(33'000'000));
  EXPECT_EQ(Duration(-5us), ns(-5'000));
  EXPECT_EQ(Duration(1h), Duration::seconds(3600));
  EXPECT_TRUE(Duration(std::chrono::hours(3'000'000)).is_infinite());
}

TEST(Duration, ArithmeticIsExactInRange) {
  EXPECT_EQ(ns(7) + ns(5), ns(12));
  EXPECT_EQ(ns(7) - ns(12), ns(-5));
  EXPECT_EQ(ns(7) * 3, ns(21));
  EXPECT_EQ(ns(1'000'000'000'000'000'001) * 2, ns(2'000'000'000'000'000'002));
  EXPECT_EQ(2 * ns(2'000'000'000), ns(4'000'000'000));  // would wrap in 32 bits
}

TEST(Duration, WhatDoesNotFitIsInfiniteAndStaysSo) {
  const Duration large = ns(kLargest - 1);
  EXPECT_FALSE(large.is_infinite());
  EXPECT_TRUE((large + ns(1)).is_infinite());
  EXPECT_TRUE((large + large).is_infinite());
  EXPECT_TRUE((large * 2).is_infinite());
  EXPECT_TRUE((large * -2).is_infinite());
  EXPECT_TRUE((ns(-3) - large).is_infinite());
  EXPECT_TRUE((Duration::infinite() - ns(1)).is_infinite());
  EXPECT_TRUE((Duration::infinite() + ns(-1)).is_infinite());
  EXPECT_TRUE((ns(1) - Duration::infinite()).is_infinite());
  EXPECT_TRUE((Duration::infinite() * 0).is_infinite());
  EXPECT_GT(Duration::infinite(), large);
}

TEST(Duration, CeilDivRoundsUp) {
  EXPECT_EQ(ceil_div(ns(0), ns(5)), 0);
  EXPECT_EQ(ceil_div(ns(1), ns(5)), 1);
  EXPECT_EQ(ceil_div(ns(5), ns(5)), 1);
  EXPECT_EQ(ceil_div(ns(6), ns(5)), 2);
  EXPECT_EQ(ceil_div(ns(kLargest - 1), ns(1)), kLargest - 1);
  EXPECT_EQ(ceil_div(ns(kLargest - 1), ns(2)), kLargest / 2);
  EXPECT_EQ(ceil_div(Duration::infinite(), ns(5)), kLargest);
}

TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(parsed("250us"), 250'000);
  EXPECT_EQ(parsed("0.1ms"), 100'000);
  EXPECT_EQ(parsed("3s"), 3'000'000'000);
  EXPECT_EQ(parsed("17ns"), 17);
  EXPECT_EQ(parsed("1.5e3us"), 1'500'000);
  EXPECT_EQ(parsed("1E-3s"), 1'000'000);
  EXPECT_EQ(parsed("0ms"), 0);
  EXPECT_EQ(parsed("0e400ms"), 0);
  EXPECT_EQ(parsed("00012us"), 12'000);
}

TEST(ParseDuration, DecimalsThatBinaryFractionsMissAreExact) {
  EXPECT_EQ(decimal("0.1", TimeUnit::ms), 100'000);
  EXPECT_EQ(decimal("0.3", TimeUnit::s), 300'000'000);
  EXPECT_EQ(decimal("1.024", TimeUnit::ms), 1'024'000);
  EXPECT_EQ(decimal("9007199.254740993", TimeUnit::s), 9'007'199'254'740'993);  // 2^53 + 1 ns
  EXPECT_EQ(decimal("999999.999999999", TimeUnit::s), 999'999'999'999'999);
}

TEST(ParseDuration, FinerThanANanosecondRoundsAsAsked) {
  EXPECT_EQ(decimal("0.0000001", TimeUnit::ms, Rounding::up), 1);
  EXPECT_EQ(decimal("0.0000001", TimeUnit::ms, Rounding::down), 0);
  EXPECT_EQ(decimal("1.0000000001", TimeUnit::s, Rounding::up), 1'000'000'001);
  EXPECT_EQ(decimal("1.0000000001", TimeUnit::s, Rounding::down), 1'000'000'000);
  EXPECT_EQ(decimal("1.0000000000", TimeUnit::s, Rounding::up), 1'000'000'000);
  EXPECT_EQ(decimal("1e-400", TimeUnit::s, Rounding::up), 1);
  EXPECT_EQ(decimal("1e-400", TimeUnit::s, Rounding::down), 0);
  // More digits than any fixed buffer: the last one still counts.
  EXPECT_EQ(decimal("1." + std::string(200, '0') + "1", TimeUnit::ns, Rounding::up), 2);
  EXPECT_EQ(decimal("1." + std::string(200, '0') + "1", TimeUnit::ns, Rounding::down), 1);
  EXPECT_EQ(decimal("0." + std::string(200, '0') + "1e201", TimeUnit::ns), 1);
  EXPECT_EQ(decimal("1" + std::string(200, '0') + "e-200", TimeUnit::ns), 1);
}

TEST(ParseDuration, TooLargeIsALimitError) {
  for (const std::string_view text :
       {"9223372036854775807ns", "1e400ms", "1e99999999999999999999s", "10000000000s", "1e19ns"}) {
    const Result<Duration> result = parse_duration(text, Rounding::down);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.errors().front().code, ErrorCode::limit) << text;
  }
  EXPECT_EQ(parsed("9223372036854775806ns"), kLargest - 1);
}

TEST(ParseDuration, OtherTextIsAValueError) {
  for (const std::string_view text :
       {"",     "ms",   "1",  "1 ms", " 1ms",   "1ms ", "1m",  "1MS",   "-1ms",  "+1ms",
        ".5ms", "1.ms", "1e", "1ems", "0x10ns", "nan",  "inf", "infms", "1,5ms", "1ms2"}) {
    const Result<Duration> result = parse_duration(text, Rounding::up);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.errors().front().code, ErrorCode::value) << text;
    EXPECT_EQ(result.errors().front().found, '"' + std::string(text) + '"');
    EXPECT_FALSE(result.errors().front().expected.empty()) << text;
  }
}

TEST(ParseDuration, MicroSignGetsAdvice) {
  for (const std::string_view text : {"5\xC2\xB5s", "5\xCE\xBCs"}) {
    const Result<Duration> result = parse_duration(text, Rounding::up);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.errors().front().advice, "Write us for microseconds.");
  }
}

TEST(ToString, UsesTheLargestExactUnit) {
  EXPECT_EQ(to_string(ns(0)), "0ns");
  EXPECT_EQ(to_string(ns(999)), "999ns");
  EXPECT_EQ(to_string(ns(250'000)), "250us");
  EXPECT_EQ(to_string(ns(100'000'000)), "100ms");
  EXPECT_EQ(to_string(ns(1'500'000'000)), "1500ms");
  EXPECT_EQ(to_string(Duration::seconds(1'000'000)), "1000000s");
  EXPECT_EQ(to_string(ns(-250'000)), "-250us");
  EXPECT_EQ(to_string(Duration::infinite()), "infinite");
}

TEST(ToString, MillisecondsAreExact) {
  EXPECT_EQ(to_milliseconds(ns(73'600'000)), "73.6");
  EXPECT_EQ(to_milliseconds(ns(100'000'000)), "100");
  EXPECT_EQ(to_milliseconds(ns(1)), "0.000001");
  EXPECT_EQ(to_milliseconds(ns(-500'000)), "-0.5");
  EXPECT_EQ(to_milliseconds(ns(-1'500'000)), "-1.5");
  EXPECT_EQ(to_milliseconds(ns(0)), "0");
}

TEST(ToString, ReadsBackToTheSameValue) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 engine(seed);
  for (int trial = 0; trial < 20'000; ++trial) {
    const auto shift = static_cast<unsigned>(engine() % 63);
    const Duration value = ns(static_cast<std::int64_t>((engine() >> 1U) >> shift));
    if (value.is_infinite()) continue;
    ASSERT_EQ(parsed(to_string(value)), value.count());
    ASSERT_EQ(decimal(to_milliseconds(value), TimeUnit::ms), value.count());
  }
}

TEST(TimeUnit, ParsesItsName) {
  for (const TimeUnit unit : {TimeUnit::ns, TimeUnit::us, TimeUnit::ms, TimeUnit::s}) {
    const Result<TimeUnit> result = parse_time_unit(to_string(unit));
    ASSERT_TRUE(result);
    EXPECT_EQ(*result, unit);
  }
  EXPECT_FALSE(parse_time_unit("m"));
  EXPECT_FALSE(parse_time_unit(""));
}

}  // namespace
}  // namespace rtgpu
