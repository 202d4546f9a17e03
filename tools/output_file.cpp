#include "tools/output_file.h"

#include "tools/option_values.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return a == b || std::filesystem::equivalent(a, b, ignored);
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

ReservedFile::~ReservedFile() {
  std::error_code failed;
  if (!made_ || std::filesystem::file_size(name_, failed) != 0 || failed) return;
  std::filesystem::remove(name_, failed);
}

}  // namespace rtgpu
