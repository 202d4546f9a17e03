// Collects the errors of a document and places them in its text. Internal to the library.
#pragma once

#include "rtgpu/error.h"
#include "taskset/json_document.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

// Where a text comes from.
struct TextOrigin {
  std::string_view source;
  std::size_t first_line = 1;
};

// A document that is full of errors costs no more than this many of them; the rest is counted.
inline constexpr std::size_t kMaxKeptErrors = 1000;
// How many are shown.
inline constexpr std::size_t kMaxShownErrors = 100;

// The last error of a list that was cut.
Error more_errors(std::size_t count);

class JsonReport {
 public:
  explicit JsonReport(const JsonDocument& document) : document_(document) {}

  // How many errors there are so far.
  std::size_t size() const { return count_; }
  // Whether details of a further error would be kept; ask before computing costly ones.
  bool keeps_more() const { return items_.size() < kMaxKeptErrors; }

  void add(JsonValue at, ErrorCode code, std::string found, std::string expected, std::string advice = "");
  // A key that is not there.
  void add_missing(JsonValue object, std::string_view key, std::string expected, std::string advice = "");
  // An error that has its JSON pointer already; `node` is the value of the pointer, or the nearest around it.
  void add_at(NodeId node, Error error);
  // Errors that were met but not kept.
  void add_uncounted(std::size_t count) { count_ += count; }

  // The errors in the order of the text, with their lines and columns.
  Errors take(std::string_view text, const TextOrigin& origin);

 private:
  struct Item {
    NodeId node{};
    Error error;
  };

  const JsonDocument& document_;
  std::vector<Item> items_;
  std::size_t count_ = 0;
};

}  // namespace rtgpu
