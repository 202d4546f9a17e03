// Results as comma-separated values (RFC 4180, with line feeds): a row for each task of each analysis.
#pragma once

#include "tools/format/report.h"

#include <string>
#include <string_view>

namespace rtgpu {

// A field, in quotes where it needs them.
void append_csv_field(std::string& out, std::string_view field);

void append_csv_header(std::string& out);
void append_csv(std::string& out, const DocumentReport& report);
// One row: where, and the errors as its reason.
void append_csv(std::string& out, const DocumentFailure& failure);

}  // namespace rtgpu
