// Results as one short line a document: for many documents.
#pragma once

#include "tools/format/report.h"

#include <string>

namespace rtgpu {

void append_ndjson(std::string& out, const DocumentReport& report);
void append_ndjson(std::string& out, const DocumentFailure& failure);

}  // namespace rtgpu
