#include "tools/read_text.h"

#include "taskset/json.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Error file_error(ErrorCode code, const std::string& name, std::string found, std::string expected) {
  Error error;
  error.code = code;
  error.place.source = name;
  error.found = std::move(found);
  error.expected = std::move(expected);
  return error;
}

// Whether all of it fits. A stream that fails is left bad.
bool append_all(std::istream& stream, std::string& text) {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  for (;;) {
    const std::size_t size = text.size();
    text.resize(size + kPiece);
    stream.read(text.data() + size, static_cast<std::streamsize>(kPiece));
    text.resize(size + static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kMaxDocumentBytes) return false;
    if (!stream) return true;
  }
}

}  // namespace

Result<std::string> read_text(const std::string& name) {
  std::ifstream file;
  errno = 0;
  if (name != "-") file.open(name, std::ios::in | std::ios::binary);
  std::istream& stream = name == "-" ? std::cin : file;
  if (!stream) return file_error(ErrorCode::io, name, std::strerror(errno), "a file that can be opened");
  std::string text;
  errno = 0;
  if (!append_all(stream, text)) {
    return file_error(ErrorCode::limit, name, "a larger file", fmt::format("at most {} bytes", kMaxDocumentBytes));
  }
  if (stream.bad()) {
    return file_error(ErrorCode::io, name, errno == 0 ? "a failed read" : std::strerror(errno), "a readable file");
  }
  return text;
}

}  // namespace rtgpu
