// Files that a command writes besides standard output.
#pragma once

#include "rtgpu/error.h"

#include <string>
#include <string_view>

namespace rtgpu {

// Adds an error if `file`, the value of an option, is standard output or the input; empty: none is written.
void check_output_file(std::string_view option, const std::string& file, const std::string& input, Errors& errors);

// A file that is written at the end of long work: whether it can be is found out at the beginning. One that was made
// here, and is still empty at the end, is removed.
class ReservedFile {
 public:
  // Empty: none. Throws std::system_error with the name if it cannot be written.
  explicit ReservedFile(std::string name);
  ~ReservedFile();
  ReservedFile(const ReservedFile&) = delete;
  ReservedFile& operator=(const ReservedFile&) = delete;

 private:
  std::string name_;
  bool made_ = false;
};

// Puts `content` in place of what the file holds, all at once: whoever ends this process meanwhile leaves the one or
// the other. What is no regular file (a pipe, a device) is written to. Throws std::system_error with the name.
void replace_file(const std::string& name, std::string_view content);

}  // namespace rtgpu
