// Reads a Chrome trace that holds its schedule exactly.
#pragma once

#include "analysis/simulation/schedule.h"

#include <string>

namespace rtgpu::testing {

// Throws nlohmann::json::exception, or std::runtime_error, where the text is not such a trace.
Schedule read_chrome_trace(const std::string& text);

}  // namespace rtgpu::testing
