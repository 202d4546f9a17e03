// Results as text for people, with times in milliseconds.
#pragma once

#include "tools/format/report.h"

#include <string>

namespace rtgpu {

void append_table(std::string& out, const DocumentReport& report);
void append_table(std::string& out, const DocumentFailure& failure);

}  // namespace rtgpu
