#include "taskset/json_locate.h"

#include <algorithm>

namespace rtgpu {
namespace {

constexpr std::string_view kWhitespace = " \t\r\n";
constexpr std::string_view kNoValue = " \t\r\n,:]}";

// Steps from value to value through a text that is known to be JSON.
class ValueScanner {
 public:
  explicit ValueScanner(std::string_view text) : text_(text), at_(byte_order_mark(text)) {}

  // The offset of the next value, keys left out; the length of the text after the last.
  std::size_t next() {
    for (;;) {
      at_ = find_not_of(kNoValue, at_);
      const std::size_t start = at_;
      if (start == text_.size()) return start;
      skip_token();
      if (text_[start] != '"' || !is_key()) return start;
    }
  }

 private:
  std::size_t find_not_of(std::string_view set, std::size_t from) const {
    return std::min(text_.find_first_not_of(set, from), text_.size());
  }

  void skip_token() {
    const char first = text_[at_++];
    if (first == '"') {
      skip_string();
    } else if (first != '{' && first != '[') {
      at_ = std::min(text_.find_first_of(kNoValue, at_), text_.size());
    }
  }

  // What follows the opening quote.
  void skip_string() {
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }

  bool is_key() const {
    const std::size_t after = find_not_of(kWhitespace, at_);
    return after < text_.size() && text_[after] == ':';
  }

  std::string_view text_;
  std::size_t at_;
};

// Turns ascending offsets into places, reading the text once.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text), line_start_(byte_order_mark(text)) {}

  TextPlace at(std::size_t offset) {
    for (;;) {
      const std::size_t end = text_.find('\n', line_start_);
      if (end >= offset) break;  // npos too
      line_start_ = end + 1;
      ++line_;
    }
    return {line_, offset - std::min(offset, line_start_) + 1};
  }

 private:
  std::string_view text_;
  std::size_t line_start_;
  std::size_t line_ = 1;
};

}  // namespace

std::size_t byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

TextPlace place_of(std::string_view text, std::size_t offset) {
  return LineCounter(text).at(offset);
}

std::vector<TextPlace> locate(std::string_view text, const std::vector<NodeId>& nodes) {
  ValueScanner scanner(text);
  LineCounter lines(text);
  std::vector<TextPlace> places;
  NodeId seen = 0;  // values read so far
  std::size_t offset = 0;
  for (const NodeId node : nodes) {
    for (; seen <= node; ++seen) offset = scanner.next();
    places.push_back(lines.at(offset));
  }
  return places;
}

}  // namespace rtgpu
