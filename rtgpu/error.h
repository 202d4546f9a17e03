// Errors that say what was found, where, what was expected, and what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

// The kind of an error: stable names for programs (to_string gives them as printed in JSON).
enum class ErrorCode : std::uint8_t {
  io,             // a file cannot be opened or read
  syntax,         // the text is not JSON, or not UTF-8
  type,           // a value of the wrong JSON type
  value,          // a value out of its range
  missing,        // a required key is not there
  unknown_key,    // a key that does not exist
  duplicate_key,  // a key that is given twice in one object
  conflict,       // values that contradict each other (equal priorities, deadline > period, ...)
  limit,          // larger than what the format allows
  unsupported,    // valid, but not covered by what was asked for
  environment,    // the machine or its settings do not allow it
};

std::string_view to_string(ErrorCode code);

// Where an error is. Parts that do not apply are empty or 0.
struct Place {
  std::string source;      // file name, "-" for standard input
  std::string pointer;     // JSON pointer (RFC 6901) into the document, e.g. /tasks/2/segments/1/gpu/exec
  std::size_t line = 0;    // counted from 1
  std::size_t column = 0;  // in bytes, counted from 1
};

struct Error {
  ErrorCode code = ErrorCode::value;
  Place place;
  std::string found;     // the value met, as written where possible
  std::string expected;  // what would have been right
  std::string advice;    // what to do about it; may be empty
};

using Errors = std::vector<Error>;

// "case.json:12:5: /tasks/2/period: found 0; expected a time above 0. Advice."
std::string to_string(const Error& error);

// The known word nearest to `word` if it is near enough to be a misspelling (edit distance at most a third of its
// length, at least 1), otherwise empty. O(words * length^2).
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace rtgpu
