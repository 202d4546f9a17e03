// What is wrong with a text that is not JSON. Internal to the library; used only once there is an error to report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rtgpu {

struct SyntaxProblem {
  std::size_t offset = 0;
  std::string found;
  std::string expected;
  std::string advice;
};

// `bytes_read` is where the parser stopped: up to and including the byte that cannot be.
SyntaxProblem explain_syntax(std::string_view text, std::size_t bytes_read);

}  // namespace rtgpu
