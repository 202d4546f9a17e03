// Any bytes as a file of tasksets: reading never crashes, every error is placed and explained, and what was read is
// written and read back to the same value.
#include "taskset/document_stream.h"
#include "taskset/json.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>

namespace rtgpu {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fputs(what, stderr);
  std::abort();
}

void check_errors(const Errors& errors) {
  require(!errors.empty(), "a failure without errors\n");
  for (const Error& error : errors) require(!error.expected.empty() && !to_string(error).empty(), "an empty error\n");
  require(errors.front().place.line > 0 && errors.front().place.column > 0, "an error without a place\n");
}

void check_round_trip(TasksetReader& reader, const Taskset& taskset) {
  require(validate(taskset).empty(), "an invalid taskset was read\n");
  for (const JsonStyle style : {JsonStyle::pretty, JsonStyle::compact}) {
    const auto again = reader.read(write_taskset(taskset, style));
    require(again && again->taskset == taskset, "a taskset that is not read back\n");
  }
}

void check_input(const std::string& bytes) {
  std::istringstream in(bytes);
  auto stream = DocumentStream::from(in, "-");
  TasksetReader reader;
  for (auto next = stream.next(); next && *next; next = stream.next()) {
    const auto loaded = reader.read((*next)->text, "-", (*next)->line);
    if (loaded) {
      check_round_trip(reader, loaded->taskset);
    } else {
      check_errors(loaded.errors());
    }
  }
}

}  // namespace
}  // namespace rtgpu

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rtgpu::check_input(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
