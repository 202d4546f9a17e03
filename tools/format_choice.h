// The format of a command's answer where nobody has asked for one.
#pragma once

#include "taskset/document_stream.h"
#include "tools/analyze_request.h"
#include "tools/standard_output.h"

#include <optional>

namespace rtgpu {

// A table on a terminal, otherwise JSON, a line for each document of several.
Format format_or_usual(std::optional<Format> asked, const DocumentStream& documents, const StandardOutput& output);

}  // namespace rtgpu
