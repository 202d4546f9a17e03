#include "rtgpu/time.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using UInt128 = unsigned __int128;

struct UnitName {
  TimeUnit unit;
  std::string_view name;
  int exponent;  // of ten, in nanoseconds
};
constexpr std::array kUnits = {UnitName{TimeUnit::ns, "ns", 0}, UnitName{TimeUnit::us, "us", 3},
                               UnitName{TimeUnit::ms, "ms", 6}, UnitName{TimeUnit::s, "s", 9}};

const UnitName& unit_name(TimeUnit unit) {
  return kUnits[static_cast<std::size_t>(unit)];
}

Error time_error(ErrorCode code, std::string_view found, std::string_view expected, std::string_view advice) {
  return Error{code, {}, fmt::format("\"{}\"", found), std::string(expected), std::string(advice)};
}

// Significant digits of a decimal number: value = mantissa * 10^exponent, plus something smaller than 10^exponent if
// `inexact`.
struct Decimal {
  UInt128 mantissa = 0;
  std::int64_t exponent = 0;
  bool inexact = false;
};

// The mantissa stays below 10^kMaxDigits, which leaves room in 128 bits.
constexpr int kMaxDigits = 36;
// Larger exponents are all alike: far above or far below every time.
constexpr std::int64_t kMaxExponent = 1'000'000;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Reads digits of the decimal from the front of `text`. Returns how many there were.
std::size_t read_digits(std::string_view& text, bool fraction, int& significant, Decimal& decimal) {
  std::size_t count = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), ++count) {
    const auto digit = static_cast<unsigned>(text.front() - '0');
    if (significant < kMaxDigits) {
      decimal.mantissa = decimal.mantissa * 10 + digit;
      if (decimal.mantissa != 0) ++significant;
      if (fraction) --decimal.exponent;
    } else {
      decimal.inexact = decimal.inexact || digit != 0;
      if (!fraction) ++decimal.exponent;
    }
  }
  return count;
}

// Reads "e", a sign and digits if they are there. False if there is an "e" without digits.
bool read_exponent(std::string_view& text, Decimal& decimal) {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) return true;
  text.remove_prefix(1);
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || !is_digit(text.front())) return false;
  std::int64_t exponent = 0;
  for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1)) {
    exponent = std::min(exponent * 10 + (text.front() - '0'), kMaxExponent);
  }
  decimal.exponent += negative ? -exponent : exponent;
  return true;
}

// Splits a number off the front of `text`; what follows it stays. Nullopt-like false if there is none.
bool read_decimal(std::string_view& text, Decimal& decimal) {
  int significant = 0;
  if (read_digits(text, false, significant, decimal) == 0) return false;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    if (read_digits(text, true, significant, decimal) == 0) return false;
  }
  return read_exponent(text, decimal);
}

// The decimal in units of 10^-unit_exponent seconds as whole nanoseconds, or infinite if it is too large.
Duration scale(const Decimal& decimal, int unit_exponent, Rounding rounding) {
  constexpr auto kMax = static_cast<UInt128>(std::numeric_limits<std::int64_t>::max());
  if (decimal.mantissa == 0) return Duration();
  UInt128 value = decimal.mantissa;
  bool inexact = decimal.inexact;
  std::int64_t exponent = decimal.exponent + unit_exponent;
  for (; exponent > 0; --exponent) {
    value *= 10;
    if (value >= kMax) return Duration::infinite();
  }
  for (; exponent < 0 && value != 0; ++exponent) {
    inexact = inexact || value % 10 != 0;
    value /= 10;
  }
  if (inexact && rounding == Rounding::up) ++value;
  if (value >= kMax) return Duration::infinite();
  return Duration::nanoseconds(static_cast<std::int64_t>(value));
}

Result<Duration> in_range(Duration duration, std::string_view text) {
  if (!duration.is_infinite()) return duration;
  return time_error(ErrorCode::limit, text, "a time below 2^63 ns", "");
}

}  // namespace

std::string_view to_string(TimeUnit unit) {
  return unit_name(unit).name;
}

Result<TimeUnit> parse_time_unit(std::string_view text) {
  const auto* found = std::ranges::find(kUnits, text, &UnitName::name);
  if (found != kUnits.end()) return found->unit;
  return time_error(ErrorCode::value, text, "one of the units ns, us, ms, s", "");
}

Result<Duration> duration_from_decimal(std::string_view decimal, TimeUnit unit, Rounding rounding) {
  std::string_view rest = decimal;
  Decimal parsed;
  if (rest.starts_with('-')) {
    return time_error(ErrorCode::value, decimal, "a time that is not negative", "");
  }
  if (!read_decimal(rest, parsed) || !rest.empty()) {
    return time_error(ErrorCode::value, decimal, "a decimal number such as 0.25", "");
  }
  return in_range(scale(parsed, unit_name(unit).exponent, rounding), decimal);
}

Result<Duration> parse_duration(std::string_view text, Rounding rounding) {
  constexpr std::string_view kExpected = "a time with its unit, such as 250us (units: ns, us, ms, s)";
  std::string_view rest = text;
  Decimal parsed;
  if (rest.starts_with('-')) {
    return time_error(ErrorCode::value, text, "a time that is not negative", "");
  }
  if (!read_decimal(rest, parsed)) return time_error(ErrorCode::value, text, kExpected, "");
  const auto* unit = std::ranges::find(kUnits, rest, &UnitName::name);
  if (unit == kUnits.end()) {
    const bool micro = rest == "\xC2\xB5s" || rest == "\xCE\xBCs";  // U+00B5 and U+03BC
    return time_error(ErrorCode::value, text, kExpected, micro ? "Write us for microseconds." : "");
  }
  return in_range(scale(parsed, unit->exponent, rounding), text);
}

std::string to_string(Duration duration) {
  if (duration.is_infinite()) return "infinite";
  std::int64_t value = duration.count();
  std::size_t unit = 0;
  while (value != 0 && unit + 1 < kUnits.size() && value % 1000 == 0) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{}{}", value, kUnits[unit].name);
}

std::string to_milliseconds(Duration duration) {
  if (duration.is_infinite()) return "infinite";
  constexpr std::int64_t kPerMillisecond = 1'000'000;
  const std::int64_t whole = duration.count() / kPerMillisecond;
  const std::int64_t fraction = duration.count() % kPerMillisecond;
  std::string text = fmt::format("{}{}", duration.count() < 0 && whole == 0 ? "-" : "", whole);
  if (fraction == 0) return text;
  text += fmt::format(".{:06}", fraction < 0 ? -fraction : fraction);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

}  // namespace rtgpu
