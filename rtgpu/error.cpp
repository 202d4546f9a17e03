#include "rtgpu/error.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// Edits (insert, delete, replace, swap of neighbours) that turn a into b: the optimal string alignment distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::io:
      return "io";
    case ErrorCode::syntax:
      return "syntax";
    case ErrorCode::type:
      return "type";
    case ErrorCode::value:
      return "value";
    case ErrorCode::missing:
      return "missing";
    case ErrorCode::unknown_key:
      return "unknown_key";
    case ErrorCode::duplicate_key:
      return "duplicate_key";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::limit:
      return "limit";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::environment:
      return "environment";
  }
  return "?";
}

std::string to_string(const Error& error) {
  std::string text = error.place.source;
  if (error.place.line > 0) {
    text += fmt::format("{}{}:{}", text.empty() ? "" : ":", error.place.line, error.place.column);
  }
  if (!error.place.pointer.empty()) text += (text.empty() ? "" : ": ") + error.place.pointer;
  if (!error.found.empty()) text += fmt::format("{}found {}", text.empty() ? "" : ": ", error.found);
  if (!error.expected.empty()) {
    text += fmt::format("{}expected {}", error.found.empty() ? (text.empty() ? "" : ": ") : "; ", error.expected);
  }
  if (!error.advice.empty()) text += fmt::format("{}{}", text.empty() ? "" : ". ", error.advice);
  return text;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    // A difference in length alone is at least that many edits, which also bounds the work on very long words.
    const std::size_t lengths = std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    if (lengths >= best_distance) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace rtgpu
