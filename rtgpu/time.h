// Time as a whole number of nanoseconds: the only representation of time in verdicts.
#pragma once

#include "rtgpu/result.h"

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <ratio>
#include <string>
#include <string_view>
#include <type_traits>

namespace rtgpu {

// A length of time in nanoseconds, signed 64 bit.
//
// Sums, differences and products never wrap. A result that does not fit becomes Duration::infinite(), which absorbs
// every later operation, so a calculation may be carried out first and tested once at its end with is_infinite().
// (A sum that falls below the smallest value becomes infinite too: "not representable" is one state, not two.)
class Duration {
 public:
  constexpr Duration() = default;

  // From <chrono>, so that an embedding application can write 33ms. Exact; a value that does not fit is infinite.
  template <class Rep, class Period>
  requires std::is_integral_v<Rep>
  // NOLINTNEXTLINE(google-explicit-constructor): 33ms is meant to convert.
  constexpr Duration(std::chrono::duration<Rep, Period> length)
      : Duration(Duration(static_cast<std::int64_t>(length.count())) * std::ratio_divide<Period, std::nano>::num) {
    static_assert(std::ratio_divide<Period, std::nano>::den == 1, "finer than a nanosecond");
  }

  static constexpr Duration nanoseconds(std::int64_t count) { return Duration(count); }
  static constexpr Duration microseconds(std::int64_t count) { return nanoseconds(1'000) * count; }
  static constexpr Duration milliseconds(std::int64_t count) { return nanoseconds(1'000'000) * count; }
  static constexpr Duration seconds(std::int64_t count) { return nanoseconds(1'000'000'000) * count; }

  // Longer than every representable time; the result of every calculation that left the range.
  static constexpr Duration infinite() { return Duration(std::numeric_limits<std::int64_t>::max()); }

  constexpr std::int64_t count() const { return ns_; }
  constexpr bool is_infinite() const { return ns_ == std::numeric_limits<std::int64_t>::max(); }

  friend constexpr auto operator<=>(Duration, Duration) = default;

  friend constexpr Duration operator+(Duration a, Duration b) {
    std::int64_t sum = 0;
    const bool overflow = add_overflows(a.ns_, b.ns_, sum);
    return overflow || a.is_infinite() || b.is_infinite() ? infinite() : Duration(sum);
  }
  friend constexpr Duration operator-(Duration a, Duration b) {
    std::int64_t difference = 0;
    const bool overflow = sub_overflows(a.ns_, b.ns_, difference);
    return overflow || a.is_infinite() || b.is_infinite() ? infinite() : Duration(difference);
  }
  friend constexpr Duration operator*(Duration a, std::int64_t n) {
    std::int64_t product = 0;
    const bool overflow = mul_overflows(a.ns_, n, product);
    return overflow || a.is_infinite() ? infinite() : Duration(product);
  }
  friend constexpr Duration operator*(std::int64_t n, Duration a) { return a * n; }

  constexpr Duration& operator+=(Duration other) { return *this = *this + other; }
  constexpr Duration& operator-=(Duration other) { return *this = *this - other; }

 private:
  explicit constexpr Duration(std::int64_t ns) : ns_(ns) {}

  // Whether the result does not fit. In a constant expression without the compiler's own functions, which nvcc does not
  // evaluate there: CUDA code includes this file too.
  static constexpr bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t& sum) {
    if (std::is_constant_evaluated()) return narrowed(static_cast<__int128>(a) + b, sum);
    return __builtin_add_overflow(a, b, &sum);
  }
  static constexpr bool sub_overflows(std::int64_t a, std::int64_t b, std::int64_t& difference) {
    if (std::is_constant_evaluated()) return narrowed(static_cast<__int128>(a) - b, difference);
    return __builtin_sub_overflow(a, b, &difference);
  }
  static constexpr bool mul_overflows(std::int64_t a, std::int64_t b, std::int64_t& product) {
    if (std::is_constant_evaluated()) return narrowed(static_cast<__int128>(a) * b, product);
    return __builtin_mul_overflow(a, b, &product);
  }
  static constexpr bool narrowed(__int128 exact, std::int64_t& result) {
    result = static_cast<std::int64_t>(exact);
    return result != exact;
  }

  std::int64_t ns_ = 0;
};

// The smallest n with n * b >= a, for a >= 0 and b > 0. An infinite a gives the largest int64.
constexpr std::int64_t ceil_div(Duration a, Duration b) {
  if (a.is_infinite()) return std::numeric_limits<std::int64_t>::max();
  return a.count() / b.count() + (a.count() % b.count() != 0 ? 1 : 0);
}

enum class TimeUnit : std::uint8_t { ns, us, ms, s };

// "ns", "us", "ms" or "s".
std::string_view to_string(TimeUnit unit);
// The unit of that name; an error otherwise.
Result<TimeUnit> parse_time_unit(std::string_view text);

// Where a value finer than a nanosecond goes: a worst case up, a best case down.
enum class Rounding : std::uint8_t { up, down };

// The exact value of a decimal number ("0.1", "25", "1e3"; the JSON grammar) in a unit. No floating point is
// involved. Errors: not a number; negative; 2^63-1 ns or more. Linear in the length of the text.
Result<Duration> duration_from_decimal(std::string_view decimal, TimeUnit unit, Rounding rounding);

// The value of a text with its own unit: "250us", "0.1ms", "1e-3s".
Result<Duration> parse_duration(std::string_view text, Rounding rounding);

// Exact, as a whole number of the largest unit that allows it: "250us", "100ms", "0ns", "infinite".
// parse_duration() reads it back to the same value.
std::string to_string(Duration duration);

// Exact, as a decimal number of milliseconds without a unit: "73.6", "0.25", "100". For tables in one unit.
std::string to_milliseconds(Duration duration);

}  // namespace rtgpu
