// Results as JSON, with everything that is known.
#pragma once

#include "tools/format/report.h"

#include <string>

namespace rtgpu {

// Indented if it is the only one of its input; else a line, with its index.
void append_json(std::string& out, const DocumentReport& report);
void append_json(std::string& out, const DocumentFailure& failure);

// "error":{...} and, if there are several, "errors":[...], without braces around them.
std::string error_members(const Errors& errors);

// A string as JSON, with its quotes; bytes that are not UTF-8 are replaced.
std::string json_string(const std::string& text);

}  // namespace rtgpu
