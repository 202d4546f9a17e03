#include "tools/messages.h"

#include "tools/format/printable.h"

#include <iostream>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// In one piece, so that lines of several processes do not mix.
void print_line(std::string_view kind, std::string_view message) {
  std::cerr << fmt::format("rtgpu: {}{}\n", kind, printable(message)) << std::flush;
}

}  // namespace

void print_error(std::string_view message) {
  print_line("error: ", message);
}

void print_errors(const Errors& errors) {
  for (const Error& error : errors) print_error(to_string(error));
  if (errors.size() > 1) print_line("", fmt::format("{} errors", errors.size()));
}

void print_note(std::string_view message) {
  print_line("note: ", message);
}

void print_hint(std::string_view message) {
  print_line("", message);
}

}  // namespace rtgpu
