// Tasksets as JSON documents, version 1 of the format.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/result.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

inline constexpr std::size_t kMaxDocumentBytes = std::size_t{256} << 20U;
inline constexpr std::size_t kMaxDepth = 32;

// A taskset as read, with what a user should be told about it.
struct LoadedTaskset {
  Taskset taskset;
  std::vector<std::string> assigned_priorities;  // names of tasks whose priority was assigned, highest first
};

// Reads one document after another and keeps its buffers between them, so that a long stream of documents costs no
// allocation of its own. One object per thread.
class TasksetReader {
 public:
  TasksetReader();
  ~TasksetReader();
  TasksetReader(TasksetReader&&) noexcept;
  TasksetReader& operator=(TasksetReader&&) noexcept;

  // Parses and validates a document. All errors are returned at once (a syntax error is the only one of its document).
  // `source` and `first_line` place the document in its file: they are copied into the errors. A byte-order mark at the
  // start and CRLF line ends are accepted. Linear in the text but for sorting.
  Result<LoadedTaskset> read(std::string_view text, std::string_view source = "", std::size_t first_line = 1);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One document, read with a reader of its own.
Result<LoadedTaskset> read_taskset(std::string_view text, std::string_view source = "");

enum class JsonStyle : std::uint8_t {
  pretty,   // indented, a segment a line
  compact,  // one line, for NDJSON
};

// The document of a taskset; reading it gives an equal taskset. Each time is a string in the largest unit that keeps it
// a whole number; keys with default values are left out.
std::string write_taskset(const Taskset& taskset, JsonStyle style = JsonStyle::pretty);

}  // namespace rtgpu
