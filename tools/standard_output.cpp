#include "tools/standard_output.h"

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <unistd.h>

namespace rtgpu {
namespace {

constexpr std::size_t kLarge = std::size_t{64} << 10U;

}  // namespace

OutputError::OutputError(int error_number)
    : std::runtime_error("cannot write to standard output: " + std::generic_category().message(error_number)),
      reader_is_gone_(error_number == EPIPE) {}

StandardOutput::StandardOutput() : is_terminal_(isatty(STDOUT_FILENO) == 1) {}

void StandardOutput::flush() {
  std::size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = ::write(STDOUT_FILENO, buffer_.data() + written, buffer_.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      throw OutputError(errno);
    }
  }
  buffer_.clear();
}

void StandardOutput::flush_if_large() {
  if (buffer_.size() >= kLarge) flush();
}

}  // namespace rtgpu
