#include "tools/format/printable.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace rtgpu {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// Bytes that a code point takes, by its first byte; 0 if none starts with it.
std::size_t length_of(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

// Whether `value` may be written in that many bytes: not longer than needed, no surrogate, not above U+10FFFF.
bool is_legal(std::uint32_t value, std::size_t bytes) {
  if (bytes == 3) return value >= 0x800 && (value < 0xD800 || value > 0xDFFF);
  if (bytes == 4) return value >= 0x10000 && value <= 0x10FFFF;
  return true;
}

// The first code point of a text that is not empty.
CodePoint decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = length_of(first);
  if (bytes == 0 || bytes > text.size()) return {};
  if (bytes == 1) return {first, 1};
  std::uint32_t value = first & (0x7FU >> bytes);
  for (const char byte : text.substr(1, bytes - 1)) {
    if (!is_continuation(byte)) return {};
    value = (value << 6U) | (static_cast<unsigned char>(byte) & 0x3FU);
  }
  return is_legal(value, bytes) ? CodePoint{value, bytes} : CodePoint{};
}

// C0 and C1 controls, line and paragraph separators, and the marks that reorder text.
bool is_control(std::uint32_t value) {
  return value < 0x20 || (value >= 0x7F && value <= 0x9F) || (value >= 0x2028 && value <= 0x202E) ||
         (value >= 0x2066 && value <= 0x2069);
}

void append_escaped(std::string& out, std::uint32_t value) {
  switch (value) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", value);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (point.bytes == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (is_control(point.value)) {
      append_escaped(out, point.value);
    } else {
      out += text.substr(0, point.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(point.bytes, 1));
  }
  return out;
}

std::size_t width(std::string_view utf8) {
  return utf8.size() - static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), is_continuation));
}

}  // namespace rtgpu
