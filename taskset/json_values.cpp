#include "taskset/json_values.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::string_view kTimeExpected = "a time: a number in time_unit, or text with a unit such as \"250us\"";

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

struct ByteUnit {
  std::string_view name;
  int shift;
};
constexpr std::array kByteUnits = {ByteUnit{"B", 0}, ByteUnit{"KiB", 10}, ByteUnit{"MiB", 20}, ByteUnit{"GiB", 30},
                                   ByteUnit{"TiB", 40}};

// The number of bytes that "256MiB" stands for; nullopt if it is not of that form, or too large.
std::optional<std::int64_t> parse_bytes(std::string_view text) {
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, count);
  if (number.ec != std::errc{} || count < 0) return std::nullopt;
  const std::string_view unit(number.ptr, static_cast<std::size_t>(end - number.ptr));
  for (const ByteUnit& known : kByteUnits) {
    if (unit != known.name) continue;
    if (count > kMemoryRange.high >> known.shift) return std::nullopt;
    return count << known.shift;
  }
  return std::nullopt;
}

struct MinMax {
  Duration min;
  Duration max;
};

constexpr std::array kMinMaxFields = {
    Field<MinMax>{"min", [](JsonValues& v, JsonValue j, MinMax& t) { v.read_time(j, t.min, Rounding::down); },
                  "the best case"},
    Field<MinMax>{"max", [](JsonValues& v, JsonValue j, MinMax& t) { v.read_time(j, t.max, Rounding::up); },
                  "the worst case"}};

}  // namespace

bool JsonValues::expect(JsonValue value, JsonKind kind, std::string_view expected) {
  if (value.kind() == kind) return true;
  reject(value, ErrorCode::type, std::string(expected));
  return false;
}

void JsonValues::reject(JsonValue value, ErrorCode code, std::string expected, std::string advice) {
  report_.add(value, code, describe(value), std::move(expected), std::move(advice));
}

void JsonValues::reject_key(JsonValue member, const std::vector<std::string_view>& known) {
  if (!report_.keeps_more()) return report_.add_uncounted(1);
  const std::string_view near = nearest(member.key(), known);
  report_.add(member, ErrorCode::unknown_key, "the unknown key " + in_quotes(member.key()),
              near.empty() ? "one of the keys " + joined(known) : in_quotes(near),
              near.empty() ? "" : fmt::format("Did you mean {}?", in_quotes(near)));
}

void JsonValues::reject_choice(JsonValue value, const std::vector<std::string_view>& words) {
  const bool text = value.kind() == JsonKind::string;
  const std::string_view near = text ? nearest(value.text(), words) : std::string_view();
  std::string expected;
  for (const std::string_view word : words) expected += (expected.empty() ? "" : " or ") + in_quotes(word);
  reject(value, text ? ErrorCode::value : ErrorCode::type, std::move(expected),
         near.empty() ? "" : fmt::format("Did you mean {}?", in_quotes(near)));
}

std::optional<Duration> JsonValues::time(JsonValue value, Rounding rounding) {
  const bool number = value.kind() == JsonKind::number;
  if (!number && value.kind() != JsonKind::string) {
    reject(value, ErrorCode::type, std::string(kTimeExpected));
    return std::nullopt;
  }
  Result<Duration> time =
      number ? duration_from_decimal(value.text(), unit_, rounding) : parse_duration(value.text(), rounding);
  if (!time && time.errors().front().code != ErrorCode::limit) {
    const Error& error = time.errors().front();
    reject(value, error.code, error.expected, error.advice);
    return std::nullopt;
  }
  if (!time || *time > kMaxTime) {
    reject(value, ErrorCode::limit, "a time of at most " + to_string(kMaxTime));
    return std::nullopt;
  }
  return *time;
}

void JsonValues::read_time(JsonValue value, Duration& out, Rounding rounding) {
  if (const auto read = time(value, rounding)) out = *read;
}

void JsonValues::read_execution_time(JsonValue value, ExecutionTime& out) {
  if (value.kind() == JsonKind::object) {
    MinMax times;
    const std::size_t errors = report_.size();
    read_fields(*this, value, kMinMaxFields, times);
    if (report_.size() == errors) out = {times.min, times.max};
  } else if (value.kind() == JsonKind::number || value.kind() == JsonKind::string) {
    if (const auto worst = time(value, Rounding::up)) out = {*worst, *worst};
  } else {
    reject(value, ErrorCode::type, R"(a time, or {"min": ..., "max": ...})");
  }
}

std::optional<std::int64_t> JsonValues::integer(JsonValue value, const IntRange& range) {
  if (value.kind() != JsonKind::number) {
    reject(value, ErrorCode::type, describe(range));
    return std::nullopt;
  }
  const std::string_view text = value.text();
  std::int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size() || !range.holds(number)) {
    reject(value, ErrorCode::value, describe(range));
    return std::nullopt;
  }
  return number;
}

void JsonValues::read_integer(JsonValue value, std::int64_t& out, const IntRange& range) {
  if (const auto number = integer(value, range)) out = *number;
}

void JsonValues::read_integer(JsonValue value, int& out, const IntRange& range) {
  if (const auto number = integer(value, range)) out = static_cast<int>(*number);
}

void JsonValues::read_unsigned(JsonValue value, std::uint64_t& out) {
  constexpr std::string_view kExpected = "a whole number from 0 to 18446744073709551615";
  if (!expect(value, JsonKind::number, kExpected)) return;
  const std::string_view text = value.text();
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) {
    return reject(value, ErrorCode::value, std::string(kExpected));
  }
  out = number;
}

void JsonValues::read_boolean(JsonValue value, bool& out) {
  if (expect(value, JsonKind::boolean, "true or false")) out = value.text() == "true";
}

void JsonValues::read_string(JsonValue value, std::string& out) {
  if (expect(value, JsonKind::string, "text in double quotes")) out = value.text();
}

void JsonValues::read_memory(JsonValue value, std::int64_t& out) {
  constexpr std::string_view kExpected = "a number of bytes, or text such as \"256MiB\" (units: B, KiB, MiB, GiB, TiB)";
  if (value.kind() == JsonKind::number) return read_integer(value, out, kMemoryRange);
  if (!expect(value, JsonKind::string, kExpected)) return;
  if (const auto bytes = parse_bytes(value.text())) {
    out = *bytes;
    return;
  }
  const std::string_view text = value.text();
  const bool decimal = text.ends_with("KB") || text.ends_with("kB") || text.ends_with("MB") || text.ends_with("GB");
  reject(value, ErrorCode::value, std::string(kExpected),
         decimal ? "KB, MB and GB are read in two ways; write KiB, MiB or GiB for powers of 1024." : "");
}

void JsonValues::read_millionths(JsonValue value, std::int64_t& out, const IntRange& range) {
  const std::string expected = fmt::format("a number from {} to {}", range.low / 1'000'000, range.high / 1'000'000);
  if (!expect(value, JsonKind::number, expected)) return;
  // A millisecond has a million nanoseconds: this is the exact conversion that times have.
  const Result<Duration> millionths = duration_from_decimal(value.text(), TimeUnit::ms, Rounding::up);
  if (!millionths || !range.holds(millionths->count())) return reject(value, ErrorCode::value, expected);
  out = millionths->count();
}

}  // namespace rtgpu
