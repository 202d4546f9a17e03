// Standard output, written in large pieces; a failed write is never ignored.
#pragma once

#include <stdexcept>
#include <string>

namespace rtgpu {

// Standard output cannot be written.
class OutputError : public std::runtime_error {
 public:
  explicit OutputError(int error_number);
  // The reader of a pipe has closed it: nobody waits for the rest.
  bool reader_is_gone() const { return reader_is_gone_; }

 private:
  bool reader_is_gone_;
};

// What is not flushed explicitly is not written: an error on the way leaves standard output as it was.
class StandardOutput {
 public:
  StandardOutput();

  bool is_terminal() const { return is_terminal_; }
  // Append here.
  std::string& buffer() { return buffer_; }
  // Both throw OutputError.
  void flush();
  void flush_if_large();

 private:
  bool is_terminal_;
  std::string buffer_;
};

}  // namespace rtgpu
