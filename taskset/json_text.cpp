#include "taskset/json_text.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// The longest part of a value that a message shows, in bytes.
constexpr std::size_t kMaxShown = 60;

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80;
}

std::string_view shortened(std::string_view text) {
  if (text.size() <= kMaxShown) return text;
  std::size_t length = kMaxShown;
  while (length > 0 && is_continuation(text[length])) --length;
  return text.substr(0, length);
}

struct Utf8Range {
  unsigned char first_low, first_high;    // of the first byte
  unsigned char second_low, second_high;  // of the second byte; all others are continuations
  std::size_t length;
};

// Table 3-7 of the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF.
constexpr std::array kUtf8 = {Utf8Range{0xC2, 0xDF, 0x80, 0xBF, 2}, Utf8Range{0xE0, 0xE0, 0xA0, 0xBF, 3},
                              Utf8Range{0xE1, 0xEC, 0x80, 0xBF, 3}, Utf8Range{0xED, 0xED, 0x80, 0x9F, 3},
                              Utf8Range{0xEE, 0xEF, 0x80, 0xBF, 3}, Utf8Range{0xF0, 0xF0, 0x90, 0xBF, 4},
                              Utf8Range{0xF1, 0xF3, 0x80, 0xBF, 4}, Utf8Range{0xF4, 0xF4, 0x80, 0x8F, 4}};

// The length of the character of several bytes that the text starts with; 0 if there is none.
std::size_t multibyte_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (const Utf8Range& range : kUtf8) {
    if (byte(0) < range.first_low || byte(0) > range.first_high) continue;
    if (text.size() < range.length || byte(1) < range.second_low || byte(1) > range.second_high) return 0;
    for (std::size_t i = 2; i < range.length; ++i) {
      if (!is_continuation(text[i])) return 0;
    }
    return range.length;
  }
  return 0;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string in_quotes(std::string_view text) {
  const std::string_view shown = shortened(text);
  std::string out;
  append_json_string(out, shown);
  if (shown.size() < text.size()) out.insert(out.size() - 1, "...");
  return out;
}

std::string describe(JsonValue value) {
  switch (value.kind()) {
    case JsonKind::array:
      return value.empty() ? "an empty array" : "an array";
    case JsonKind::object:
      return value.empty() ? "an empty object" : "an object";
    case JsonKind::string:
      return in_quotes(value.text());
    default:
      break;
  }
  const std::string_view shown = shortened(value.text());
  return std::string(shown) + (shown.size() < value.text().size() ? "..." : "");
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const bool ascii = static_cast<unsigned char>(text.front()) < 0x80;
    const std::size_t length = ascii ? 1 : multibyte_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace rtgpu
