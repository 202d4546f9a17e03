// The result of a run in each of the formats.
#pragma once

#include "tools/format/run_result.h"

#include <string>

namespace rtgpu {

// Text for people, with times in milliseconds.
void append_table(std::string& out, const RunResult& result);

// Everything that is known, indented.
void append_json(std::string& out, const RunResult& result);

// A header, and a row for each task. What does not apply is empty.
void append_csv(std::string& out, const RunResult& result);

}  // namespace rtgpu
