// Runs programs and catches what they say.
#pragma once

#include <string>
#include <vector>

namespace rtgpu {

// Where the standard output of a process goes.
enum class OutputTo {
  pipe,         // caught
  terminal,     // caught; the process sees a terminal
  full_device,  // every write fails
  nobody,       // a pipe that its reader has closed
  closed,       // there is no standard output
};

struct ProcessOptions {
  std::string input = {};                     // given on standard input, through a pipe
  std::string directory = {};                 // to run in; empty: this one
  std::vector<std::string> environment = {};  // "NAME=value", in place of this process's own
  OutputTo output = OutputTo::pipe;
  std::string interrupt_after = {};  // once standard error holds this, the process gets a SIGINT; empty: none
};

struct ProcessResult {
  int status = -1;  // exit status; -1 if it ended by a signal, or had to be ended after a minute
  std::string out;
  std::string err;
};

ProcessResult run_process(const std::string& program, const std::vector<std::string>& arguments,
                          const ProcessOptions& options = {});

// The program under test, and where it is.
std::string rtgpu_program();
ProcessResult run_rtgpu(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

// A file with that content, for as long as the object lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const std::string& suffix = ".json");
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rtgpu
