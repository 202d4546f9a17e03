#include "taskset/importers/file_values.h"

#include "taskset/json_report.h"
#include "taskset/json_text.h"
#include "taskset/taskset.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {

std::string value_as(const FileValue& value, std::string_view what) {
  return fmt::format("{} as the {}", in_quotes(value.text), what);
}

Duration FileValues::time(const FileValue& value, std::string_view what, Rounding rounding, Duration least) {
  const Result<Duration> time = duration_from_decimal(value.text, unit_, rounding);
  if (!time || *time > kMaxTime || *time < least) {
    const bool large = time ? *time > kMaxTime : time.errors().front().code == ErrorCode::limit;
    reject(value, large ? ErrorCode::limit : ErrorCode::value, value_as(value, what),
           fmt::format("a number of {} {} 0, at most {}", to_string(unit_),
                       least == Duration() ? "of at least" : "above", to_string(kMaxTime)));
    return least;
  }
  return *time;
}

std::int64_t FileValues::integer(const FileValue& value, std::string_view what, const IntRange& range) {
  std::int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto read = std::from_chars(value.text.data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end && range.holds(number)) return number;
  reject(value, ErrorCode::value, value_as(value, what), describe(range));
  return range.low;
}

void FileValues::reject(const FileValue& at, ErrorCode code, std::string found, std::string expected,
                        std::string advice) {
  ++count_;
  if (errors_.size() >= kMaxShownErrors) return;
  errors_.push_back(
      Error{code, Place{source_, "", at.line, at.column}, std::move(found), std::move(expected), std::move(advice)});
}

Errors FileValues::take() {
  if (count_ > errors_.size()) errors_.push_back(more_errors(count_ - errors_.size()));
  count_ = 0;
  return std::exchange(errors_, {});
}

}  // namespace rtgpu
