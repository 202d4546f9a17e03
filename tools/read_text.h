// A whole file as text, for formats that are not JSON.
#pragma once

#include "rtgpu/result.h"

#include <string>

namespace rtgpu {

// `name` is a path, or "-" for standard input. Errors: cannot be opened, a directory, reading fails; more than
// kMaxDocumentBytes.
Result<std::string> read_text(const std::string& name);

}  // namespace rtgpu
