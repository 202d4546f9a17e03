// Numbers and times of options turned into values. Each adds what is wrong to `errors` and returns a harmless value
// then, so that all errors of a command line are told at once.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace rtgpu {

// A value, or that of a default-constructed T after its errors have been added to `errors`.
template <class T>
T value_or_report(Result<T> result, Errors& errors) {
  if (result) return *std::move(result);
  errors.insert(errors.end(), result.errors().begin(), result.errors().end());
  return T{};
}

// An error in the value of an option, or in how options go together.
Error option_error(ErrorCode code, std::string_view option, std::string found, std::string expected,
                   std::string advice = "");

// A whole number from `low` to `high`.
std::int64_t whole_number(std::string_view option, std::string_view text, std::int64_t low, std::int64_t high,
                          Errors& errors);

// A whole number from 0 to 2^64 - 1.
std::uint64_t seed_number(std::string_view option, std::string_view text, Errors& errors);

// A time with its unit, such as "10s", above 0 and at most kMaxTime.
Duration time_above_zero(std::string_view option, std::string_view text, Errors& errors);

}  // namespace rtgpu
