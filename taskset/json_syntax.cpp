#include "taskset/json_syntax.h"

#include "taskset/json_locate.h"
#include "taskset/json_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// What may come next.
enum class State { value, first_element, element, first_key, key, colon, after_element, after_member, end };

std::string_view expectation(State state) {
  switch (state) {
    case State::value:
    case State::element:
      return "a value";
    case State::first_element:
      return "a value or ']'";
    case State::first_key:
      return "a key in double quotes or '}'";
    case State::key:
      return "a key in double quotes";
    case State::colon:
      return "':' after the key";
    case State::after_element:
      return "',' or ']'";
    case State::after_member:
      return "',' or '}'";
    case State::end:
      return "nothing after the end of the document";
  }
  return "";
}

constexpr std::string_view kNumberAdvice =
    "Numbers have a digit on both sides of the point and no leading '+' or zeros, such as 0.5 or 1e3.";

bool is_decimal_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_decimal_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '-' || c == '.' ||
         c == '_';
}

bool starts_number(char c) {
  return is_decimal_digit(c) || c == '-' || c == '+' || c == '.';
}

// Whether a word is a number of JSON.
bool is_number(std::string_view word) {
  const auto digits = [&] {
    const std::size_t count = std::min(word.find_first_not_of("0123456789"), word.size());
    word.remove_prefix(count);
    return count;
  };
  if (word.starts_with('-')) word.remove_prefix(1);
  const bool leading_zero = word.starts_with('0');
  const std::size_t whole = digits();
  if (whole == 0 || (leading_zero && whole > 1)) return false;
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (word.starts_with('e') || word.starts_with('E')) {
    word.remove_prefix(1);
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return word.empty();
}

// Follows the grammar up to the first token that cannot be there.
class Explainer {
 public:
  Explainer(std::string_view text, std::size_t bad_byte)
      : text_(text), bad_byte_(std::min(bad_byte, text.size())), at_(byte_order_mark(text)) {}

  SyntaxProblem explain() {
    for (;;) {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      if (at_ == text_.size()) return at_end();
      if (auto problem = step()) return *problem;
    }
  }

 private:
  SyntaxProblem at_end() const {
    if (state_ != State::end) return {at_, "the end of the text", std::string(expectation(state_)), ""};
    // The grammar was followed to the end: the parser saw something that this class does not know of.
    return {bad_byte_, bad_byte_ < text_.size() ? token_at(bad_byte_) : "the end of the text", "valid JSON", ""};
  }

  // Takes one token, or says why it cannot be there.
  std::optional<SyntaxProblem> step() {
    const char c = text_[at_];
    if (c == '"') return string();
    if (is_word(c)) return word();
    const bool taken = takes_value() ? open(c) || close(c) : separator(c) || close(c);
    if (!taken) return unexpected();
    ++at_;
    return std::nullopt;
  }

  bool takes_value() const {
    return state_ == State::value || state_ == State::element || state_ == State::first_element;
  }

  void after_value() {
    state_ = open_.empty() ? State::end : open_.back() == '{' ? State::after_member : State::after_element;
  }

  bool open(char c) {
    if (c != '{' && c != '[') return false;
    open_.push_back(c);
    state_ = c == '{' ? State::first_key : State::first_element;
    return true;
  }

  bool close(char c) {
    const bool array = c == ']' && (state_ == State::first_element || state_ == State::after_element);
    const bool object = c == '}' && (state_ == State::first_key || state_ == State::after_member);
    if (!array && !object) return false;
    open_.pop_back();
    after_value();
    return true;
  }

  bool separator(char c) {
    if (c == ':' && state_ == State::colon) {
      state_ = State::value;
    } else if (c == ',' && state_ == State::after_element) {
      state_ = State::element;
    } else if (c == ',' && state_ == State::after_member) {
      state_ = State::key;
    } else {
      return false;
    }
    return true;
  }

  std::optional<SyntaxProblem> string() {
    const bool key = state_ == State::first_key || state_ == State::key;
    if (!key && !takes_value()) return unexpected();
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    const bool stopped_within = at_ < bad_byte_ && bad_byte_ <= end;
    if (stopped_within || end >= text_.size()) return bad_string();
    at_ = end + 1;
    if (key) {
      state_ = State::colon;
    } else {
      after_value();
    }
    return std::nullopt;
  }

  // The parser stopped within the string at at_.
  SyntaxProblem bad_string() const {
    if (bad_byte_ >= text_.size()) {
      return {at_, "a string without an end", "a closing double quote", ""};
    }
    const auto byte = static_cast<unsigned char>(text_[bad_byte_]);
    if (byte < 0x20) {
      return {bad_byte_, fmt::format("byte 0x{:02X} in a string", byte), "a closing double quote or a character",
              "Control characters are written as escapes, such as \\n or \\u0009."};
    }
    if (byte >= 0x80 || static_cast<unsigned char>(text_[bad_byte_ - 1]) >= 0x80) {
      return {bad_byte_, fmt::format("byte 0x{:02X} in a string", byte), "text in UTF-8", ""};
    }
    const std::size_t backslash = std::min(text_.rfind('\\', bad_byte_), bad_byte_);
    const std::string escape(text_.substr(backslash, std::min<std::size_t>(bad_byte_ - backslash + 1, 12)));
    return {bad_byte_, "the escape " + in_quotes(escape), R"(one of \" \\ \/ \b \f \n \r \t \uXXXX)",
            R"(Write a backslash as \\, and characters beyond U+FFFF as a pair of surrogates.)"};
  }

  std::optional<SyntaxProblem> word() {
    const std::size_t end = word_end(at_);
    const std::string_view word = text_.substr(at_, end - at_);
    const bool literal = word == "true" || word == "false" || word == "null";
    if (!takes_value() || !(literal || is_number(word))) return unexpected();
    at_ = end;
    after_value();
    return std::nullopt;
  }

  std::size_t word_end(std::size_t from) const {
    while (from < text_.size() && is_word(text_[from])) ++from;
    return from;
  }

  SyntaxProblem unexpected() const {
    return {at_, token_at(at_), std::string(expectation(state_)), std::string(advice())};
  }

  std::string token_at(std::size_t at) const {
    const auto c = static_cast<unsigned char>(text_[at]);
    if (is_word(text_[at])) return in_quotes(text_.substr(at, word_end(at) - at));
    if (c == '"') return "a string";
    if (c < 0x20 || c >= 0x7F) return fmt::format("byte 0x{:02X}", c);
    return fmt::format("'{}'", text_[at]);
  }

  std::string_view advice() const {
    const char c = text_[at_];
    if (takes_value() && is_word(c)) return word_advice(text_.substr(at_, word_end(at_) - at_));
    if ((state_ == State::key && c == '}') || (state_ == State::element && c == ']')) {
      return "Remove the comma before it.";
    }
    if (c == '\'') return "JSON has double quotes only.";
    if (c == '/' || c == '#') return "JSON has no comments.";
    if (static_cast<unsigned char>(c) >= 0x80 || c == '\0') return "The file is expected to be text in UTF-8.";
    return "";
  }

  static std::string_view word_advice(std::string_view word) {
    constexpr std::array kNotFinite = {"NaN", "nan", "NAN", "Infinity", "-Infinity", "inf", "-inf", "Inf", "-Inf"};
    if (std::find(kNotFinite.begin(), kNotFinite.end(), word) != kNotFinite.end()) {
      return "NaN and infinities are not JSON numbers.";
    }
    if (starts_number(word.front())) return kNumberAdvice;
    return "Texts are written in double quotes; true, false and null in lower case.";
  }

  std::string_view text_;
  std::size_t bad_byte_;
  std::size_t at_;
  State state_ = State::value;
  std::vector<char> open_;
};

}  // namespace

SyntaxProblem explain_syntax(std::string_view text, std::size_t bytes_read) {
  return Explainer(text, bytes_read - std::min<std::size_t>(bytes_read, 1)).explain();
}

}  // namespace rtgpu
