// Reads the values of a text file that is not JSON, and collects what is wrong with them. Internal to the library.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/time.h"
#include "taskset/validate.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace rtgpu {

// A value as it is written, and where: line and column are counted from 1, the column in bytes.
struct FileValue {
  std::string_view text;
  std::size_t line = 0;
  std::size_t column = 0;
};

class FileValues {
 public:
  FileValues(std::string source, TimeUnit unit) : source_(std::move(source)), unit_(unit) {}

  const std::string& source() const { return source_; }

  // Each returns the value, or a harmless one after an error. `what` names the value in it: "period".
  Duration time(const FileValue& value, std::string_view what, Rounding rounding, Duration least = {});
  std::int64_t integer(const FileValue& value, std::string_view what, const IntRange& range);

  void reject(const FileValue& at, ErrorCode code, std::string found, std::string expected, std::string advice = "");

  bool sound() const { return count_ == 0; }
  // The first of them; then how many more there are.
  Errors take();

 private:
  std::string source_;
  TimeUnit unit_;
  Errors errors_;
  std::size_t count_ = 0;
};

// "x" as the period.
std::string value_as(const FileValue& value, std::string_view what);

}  // namespace rtgpu
