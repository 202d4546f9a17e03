// Words of options turned into values.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

template <class T>
struct OptionChoice {
  std::string_view word;
  T value;
};

// "--wait: found 'buzy'; expected one of suspend, busy, file. Did you mean 'busy'?"
Error choice_error(std::string_view option, std::string_view found, const std::vector<std::string_view>& expected);

// The value that `word` stands for.
template <class T>
Result<T> choose(std::string_view option, std::string_view word, const std::vector<OptionChoice<T>>& choices) {
  std::vector<std::string_view> known;
  for (const OptionChoice<T>& choice : choices) {
    if (choice.word == word) return choice.value;
    known.push_back(choice.word);
  }
  return choice_error(option, word, known);
}

}  // namespace rtgpu
