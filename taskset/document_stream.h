// A file or standard input as a sequence of JSON documents: one document, or NDJSON with one a line.
#pragma once

#include "rtgpu/result.h"

#include <cstddef>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rtgpu {

struct DocumentText {
  std::string_view text;  // valid until the next call of next()
  std::size_t index = 0;  // counted from 0
  std::size_t line = 1;   // line of the file it starts on
};

// Reads documents one at a time: memory does not grow with their number.
//
// The input is NDJSON if its name ends in .ndjson or .jsonl, or if its first line that is not blank is a whole JSON
// value and more follows; otherwise all of it is one document.
class DocumentStream {
 public:
  // `name` is a path, or "-" for standard input. Errors: cannot be opened, a directory.
  static Result<DocumentStream> open(const std::string& name);
  // From a stream that outlives this object; for tests and embedding.
  static DocumentStream from(std::istream& stream, std::string name);

  ~DocumentStream();
  DocumentStream(DocumentStream&&) noexcept;
  DocumentStream& operator=(DocumentStream&&) noexcept;

  // Whether the input holds (or may hold) several documents.
  bool is_ndjson() const;
  const std::string& name() const;

  // The next document, or nullopt at the end. Blank lines of NDJSON are skipped. An empty input gives one empty
  // document (so that its reader reports it). Errors: reading fails; a document of more than kMaxDocumentBytes.
  Result<std::optional<DocumentText>> next();

 private:
  struct State;
  explicit DocumentStream(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rtgpu
