#include "tools/output_file.h"

#include "tools/option_values.h"

#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
}

// Throws std::system_error.
void write_all(int fd, std::string_view content, const std::string& name) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), name);
    }
  }
}

void write_file(const std::string& name, std::string_view content) {
  const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), name);
  try {
    write_all(fd, content, name);
    // A machine that goes down must not leave the new name with nothing behind it.
    if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) {
      throw std::system_error(errno, std::generic_category(), name);
    }
  } catch (...) {
    ::close(fd);
    throw;
  }
  if (::close(fd) != 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), name);
}

}  // namespace

void check_output_file(std::string_view option, const std::string& file, const std::string& input, Errors& errors) {
  if (file.empty()) return;
  if (file == "-") {
    errors.push_back(
        option_error(ErrorCode::conflict, option, "-", "the name of a file", "The results go to standard output."));
  } else if (is_same_file(file, input)) {
    errors.push_back(option_error(ErrorCode::conflict, option, fmt::format("'{}', the taskset", file), "another file"));
  }
}

ReservedFile::ReservedFile(std::string name) : name_(std::move(name)) {
  if (name_.empty()) return;
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(name_, ignored);
  made_ = !std::filesystem::exists(status);
  // Opening a pipe would wait for its reader.
  if (!made_ && !std::filesystem::is_regular_file(status) && !std::filesystem::is_directory(status)) return;
  errno = 0;
  const std::ofstream file(name_, std::ios::binary | std::ios::app);
  if (!file) throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), name_);
}

void replace_file(const std::string& name, std::string_view content) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(name, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return write_file(name, content);
  // Behind a symbolic link, which stays.
  const std::string target = std::filesystem::exists(status) ? std::filesystem::canonical(name).string() : name;
  const std::string beside = target + ".new";
  write_file(beside, content);
  std::error_code failed;
  std::filesystem::rename(beside, target, failed);
  if (!failed) return;
  std::filesystem::remove(beside, ignored);
  throw std::system_error(failed, name);
}

ReservedFile::~ReservedFile() {
  std::error_code failed;
  if (!made_ || std::filesystem::file_size(name_, failed) != 0 || failed) return;
  std::filesystem::remove(name_, failed);
}

}  // namespace rtgpu
