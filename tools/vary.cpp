#include "tools/vary.h"

#include "analysis/experiments/sweep.h"
#include "rtgpu/time.h"
#include "tools/option_values.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// A number in millionths, or a time in nanoseconds: a millisecond has a million nanoseconds.
struct Quantity {
  Duration value;
  bool is_time = false;
};

std::optional<Quantity> parse_quantity(std::string_view text) {
  const Result<Duration> number = duration_from_decimal(text, TimeUnit::ms, Rounding::up);
  const Result<Duration> down = duration_from_decimal(text, TimeUnit::ms, Rounding::down);
  if (number && down) return *number == *down ? std::optional(Quantity{*number, false}) : std::nullopt;
  const Result<Duration> time = parse_duration(text, Rounding::up);
  if (!time) return std::nullopt;
  return Quantity{*time, true};
}

std::string text_of(Duration value, bool is_time) {
  return is_time ? to_string(value) : to_milliseconds(value);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// nullopt if it is no range of numbers or times.
std::optional<std::vector<std::string>> values_of_range(const std::vector<std::string_view>& parts) {
  if (parts.size() != 3) return std::nullopt;
  std::array<Quantity, 3> range;
  for (std::size_t i = 0; i < range.size(); ++i) {
    const std::optional<Quantity> quantity = parse_quantity(parts[i]);
    if (!quantity) return std::nullopt;
    range[i] = *quantity;
  }
  const auto [low, high, step] = range;
  const bool same_kind = low.is_time == high.is_time && low.is_time == step.is_time;
  if (!same_kind || step.value <= Duration() || low.value > high.value) return std::nullopt;
  std::vector<std::string> values;
  // One more than there may be, so that too many are seen as such.
  for (Duration value = low.value; values.size() <= kMaxPoints; value += step.value) {
    values.push_back(text_of(value, low.is_time));
    if (step.value > high.value - value) break;
  }
  return values;
}

}  // namespace

std::optional<Variation> parse_variation(std::string_view option, std::string_view text, Errors& errors) {
  const std::size_t equals = text.find('=');
  const std::string_view rest = equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  std::optional<std::vector<std::string>> values;
  if (rest.find(':') != std::string_view::npos) {
    values = values_of_range(split(rest, ':'));
  } else if (!rest.empty()) {
    values.emplace();
    for (const std::string_view value : split(rest, ',')) values->emplace_back(value);
  }
  if (equals == 0 || !values) {
    errors.push_back(option_error(ErrorCode::value, option, fmt::format("'{}'", text),
                                  "key=a:b:step with a up to b and a step above 0, or key=value,value,...",
                                  "Write for instance --vary utilisation_per_cpu=0.1:0.9:0.1."));
    return std::nullopt;
  }
  if (values->size() > kMaxPoints) {
    errors.push_back(option_error(ErrorCode::limit, option, fmt::format("'{}', more than {} values", text, kMaxPoints),
                                  "fewer", "Give a larger step."));
    return std::nullopt;
  }
  return Variation{std::string(text.substr(0, equals)), *std::move(values)};
}

}  // namespace rtgpu
