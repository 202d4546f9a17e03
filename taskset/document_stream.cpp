#include "taskset/document_stream.h"

#include "taskset/json.h"
#include "taskset/json_locate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10U;
constexpr std::string_view kBlank = " \t\r";

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kBlank) == std::string_view::npos;
}

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlank) - first + 1);
}

// Whether a line without blanks around it is a whole object or array: its first bracket closes at its end.
bool is_balanced(std::string_view line) {
  if (!line.starts_with('{') && !line.starts_with('[')) return false;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1 == line.size();
    }
  }
  return false;
}

// Whether the first line, which is not balanced, looks like a document that was cut rather than the first line of one
// that goes on.
bool looks_cut(std::string_view line) {
  return line.starts_with('{') && line.size() > 2 &&
         std::string_view("{[,:").find(line.back()) == std::string_view::npos;
}

Error io_error(const std::string& name, std::string found, std::string expected) {
  Error error;
  error.code = ErrorCode::io;
  error.place.source = name;
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

}  // namespace

// The text that was read and not yet given out is buffer[begin..]; memory is bounded by the largest document.
struct DocumentStream::State {
  State(std::istream& in, std::string input_name) : stream(&in), name(std::move(input_name)) {}

  std::istream* stream;
  std::string name;
  std::ifstream file;
  std::string buffer;
  std::size_t begin = 0;
  std::size_t line = 1;   // of buffer[begin]
  std::size_t index = 0;  // of the next document
  std::size_t given = 0;  // length of the document that was given out last; its text is valid until the next call
  bool at_end = false;
  bool failed = false;
  bool ndjson = false;
  bool skip_line = false;  // the rest of the line is of a document that was too large

  std::string_view pending() const { return std::string_view(buffer).substr(begin); }

  bool read_more();
  void fill(std::streambuf& source);
  void drop(std::size_t count);
  std::size_t find_line_end(std::size_t from);

  void start();
  void strip_byte_order_mark();
  bool detect();
  bool more_after(std::size_t from);

  Error broken();
  Error too_large() const;
  Result<std::optional<DocumentText>> whole();
  Result<std::optional<DocumentText>> next_line();
  bool skip_to_text();
  DocumentText document(std::size_t length) { return {pending().substr(0, length), index++, line}; }
};

// Appends what the source has ready, so that a pipe is answered line by line. False at the end.
bool DocumentStream::State::read_more() {
  if (at_end) return false;
  try {
    fill(*stream->rdbuf());
  } catch (const std::ios_base::failure&) {
    failed = at_end = true;
  }
  return !at_end;
}

void DocumentStream::State::fill(std::streambuf& source) {
  using Traits = std::streambuf::traits_type;
  if (Traits::eq_int_type(source.sgetc(), Traits::eof())) {
    at_end = true;
    return;
  }
  const std::streamsize ready = std::clamp<std::streamsize>(source.in_avail(), 1, kChunk);
  const std::size_t size = buffer.size();
  buffer.resize(size + static_cast<std::size_t>(ready));
  const std::streamsize got = source.sgetn(buffer.data() + size, ready);
  buffer.resize(size + static_cast<std::size_t>(std::max<std::streamsize>(got, 0)));
}

// Gives up text that was handed out. The buffer moves down only when that costs less than what was read.
void DocumentStream::State::drop(std::size_t count) {
  const auto from = buffer.begin() + static_cast<std::ptrdiff_t>(begin);
  line += static_cast<std::size_t>(std::count(from, from + static_cast<std::ptrdiff_t>(count), '\n'));
  begin += count;
  if (begin < buffer.size() / 2) return;
  buffer.erase(0, begin);
  begin = 0;
}

// The end of the line in pending(), searched from an offset; reads on as needed. Stops at what is too large.
std::size_t DocumentStream::State::find_line_end(std::size_t from) {
  for (;;) {
    const std::size_t end = pending().find('\n', from);
    if (end != std::string_view::npos) return end;
    from = pending().size();
    if (from > kMaxDocumentBytes || !read_more()) return pending().size();
  }
}

void DocumentStream::State::start() {
  strip_byte_order_mark();
  ndjson = name.ends_with(".ndjson") || name.ends_with(".jsonl") || detect();
}

void DocumentStream::State::strip_byte_order_mark() {
  while (pending().size() < 3 && read_more()) {
  }
  begin = byte_order_mark(buffer);
}

// Looks at the first lines that are not blank, and leaves all text in the buffer.
bool DocumentStream::State::detect() {
  std::size_t start = 0;
  std::size_t end = find_line_end(start);
  while (is_blank(pending().substr(start, end - start))) {
    if (end >= pending().size()) return false;
    start = end + 1;
    end = find_line_end(start);
  }
  const std::string_view first = trimmed(pending().substr(start, end - start));
  if (is_balanced(first)) return more_after(end);
  if (!looks_cut(first) || !more_after(end)) return false;
  const std::size_t second = pending().find_first_not_of(" \t\r\n", end);
  if (pending()[second] != '{') return false;
  const std::size_t second_end = find_line_end(second);
  return is_balanced(trimmed(pending().substr(second, second_end - second)));
}

// Whether text follows that is not blank.
bool DocumentStream::State::more_after(std::size_t from) {
  for (;;) {
    if (pending().find_first_not_of(" \t\r\n", from) != std::string_view::npos) return true;
    from = pending().size();
    if (from > kMaxDocumentBytes || !read_more()) return false;
  }
}

// Reported once; then the input is at its end.
Error DocumentStream::State::broken() {
  failed = false;
  buffer.clear();
  begin = 0;
  ++index;
  return io_error(name, "an error while reading", "a readable file");
}

Error DocumentStream::State::too_large() const {
  Error error;
  error.code = ErrorCode::limit;
  error.place.source = name;
  error.place.line = line;
  error.place.column = 1;
  error.found = fmt::format("a document of more than {} bytes", kMaxDocumentBytes);
  error.expected = fmt::format("at most {} bytes", kMaxDocumentBytes);
  return error;
}

// The input as one document.
Result<std::optional<DocumentText>> DocumentStream::State::whole() {
  if (index > 0) return std::optional<DocumentText>();
  while (pending().size() <= kMaxDocumentBytes && read_more()) {
  }
  if (failed) return broken();
  if (pending().size() > kMaxDocumentBytes) {
    ++index;
    return too_large();
  }
  return std::optional(document(pending().size()));
}

// Drops the rest of a line that was too large, then blank lines. False at the end.
bool DocumentStream::State::skip_to_text() {
  while (skip_line) {
    const std::size_t end = pending().find('\n');
    skip_line = end == std::string_view::npos;
    drop(skip_line ? pending().size() : end + 1);
    if (skip_line && !read_more()) return false;
  }
  std::size_t seen = 0;  // all of it blank
  for (;;) {
    const std::size_t text = pending().find_first_not_of(" \t\r\n", seen);
    seen = std::min(text, pending().size());
    const std::size_t line_end = pending().substr(0, seen).rfind('\n');
    if (line_end != std::string_view::npos) {
      drop(line_end + 1);
      seen -= line_end + 1;
    }
    if (text != std::string_view::npos || seen > kMaxDocumentBytes) return true;
    if (!read_more()) return false;
  }
}

Result<std::optional<DocumentText>> DocumentStream::State::next_line() {
  drop(std::exchange(given, 0));
  const bool more = skip_to_text();
  const std::size_t end = more ? find_line_end(0) : 0;
  if (failed) return broken();
  if (!more && index > 0) return std::optional<DocumentText>();
  if (end > kMaxDocumentBytes) {
    ++index;
    skip_line = true;
    return too_large();
  }
  given = end;
  return std::optional(document(end));
}

Result<DocumentStream> DocumentStream::open(const std::string& name) {
  if (name == "-") return from(std::cin, name);
  std::error_code ignored;
  if (std::filesystem::is_directory(name, ignored)) return io_error(name, "a directory", "a file");
  auto state = std::make_unique<State>(std::cin, name);
  state->file.open(name, std::ios::in | std::ios::binary);
  if (!state->file) return io_error(name, std::strerror(errno), "a file that can be opened");
  state->stream = &state->file;
  state->start();
  if (state->failed) return state->broken();
  return DocumentStream(std::move(state));
}

DocumentStream DocumentStream::from(std::istream& stream, std::string name) {
  auto state = std::make_unique<State>(stream, std::move(name));
  state->start();
  return DocumentStream(std::move(state));
}

DocumentStream::DocumentStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
DocumentStream::~DocumentStream() = default;
DocumentStream::DocumentStream(DocumentStream&&) noexcept = default;
DocumentStream& DocumentStream::operator=(DocumentStream&&) noexcept = default;

bool DocumentStream::is_ndjson() const {
  return state_->ndjson;
}

const std::string& DocumentStream::name() const {
  return state_->name;
}

Result<std::optional<DocumentText>> DocumentStream::next() {
  return state_->ndjson ? state_->next_line() : state_->whole();
}

}  // namespace rtgpu
