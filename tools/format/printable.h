// Text that is safe to show on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rtgpu {

// Control characters as \n, \t, \u001b; bytes that are not UTF-8 as \xff; everything else as it is.
std::string printable(std::string_view text);

// Number of code points of UTF-8 text: its width in most fonts.
std::size_t width(std::string_view utf8);

}  // namespace rtgpu
