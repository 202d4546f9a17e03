// Arguments of the benchmark programs.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace rtgpu::benchmarks {

// A whole number; 0 if it is none.
inline std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace rtgpu::benchmarks
