// What the program says on standard error: errors, notes and hints, a line each.
#pragma once

#include "rtgpu/error.h"

#include <string_view>

namespace rtgpu {

// "rtgpu: error: ..."; characters that could disturb a terminal are escaped.
void print_error(std::string_view message);
// One line for each error; then how many there are, if several.
void print_errors(const Errors& errors);
void print_note(std::string_view message);
// A line that goes with the error above it.
void print_hint(std::string_view message);

}  // namespace rtgpu
