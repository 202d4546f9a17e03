#include "tools/option_values.h"

#include "taskset/taskset.h"

#include <charconv>
#include <limits>
#include <string>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Error value_error(std::string_view option, std::string_view found, std::string expected, std::string advice = "") {
  return option_error(ErrorCode::value, option, fmt::format("'{}'", found), std::move(expected), std::move(advice));
}

// Whether all of `text` is a number of that type.
template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  return end.ec == std::errc{} && end.ptr == text.data() + text.size();
}

}  // namespace

Error option_error(ErrorCode code, std::string_view option, std::string found, std::string expected,
                   std::string advice) {
  Error error;
  error.code = code;
  error.place.source = option;
  error.found = std::move(found);
  error.expected = std::move(expected);
  error.advice = std::move(advice);
  return error;
}

std::int64_t whole_number(std::string_view option, std::string_view text, std::int64_t low, std::int64_t high,
                          Errors& errors) {
  std::int64_t number = 0;
  if (parse(text, number) && low <= number && number <= high) return number;
  errors.push_back(value_error(option, text, fmt::format("a whole number from {} to {}", low, high)));
  return low;
}

std::uint64_t seed_number(std::string_view option, std::string_view text, Errors& errors) {
  std::uint64_t number = 0;
  if (parse(text, number)) return number;
  errors.push_back(
      value_error(option, text, fmt::format("a whole number from 0 to {}", std::numeric_limits<std::uint64_t>::max())));
  return 0;
}

Duration time_above_zero(std::string_view option, std::string_view text, Errors& errors) {
  const Result<Duration> time = parse_duration(text, Rounding::up);
  if (time && *time > Duration() && *time <= kMaxTime) return *time;
  errors.push_back(value_error(option, text, fmt::format("a time above 0 with its unit, up to {}", to_string(kMaxTime)),
                               "Write for instance 10s or 500ms."));
  return Duration::nanoseconds(1);
}

}  // namespace rtgpu
