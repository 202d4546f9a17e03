// Tables of numbers as comma-separated text. Internal to the library.
#pragma once

#include "taskset/importers/file_values.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace rtgpu {

struct CsvRow {
  std::size_t line = 0;
  std::vector<FileValue> fields;  // without the blanks around them
};

// The rows that are not blank, the header first. Rows after it with fewer than `columns` fields are reported. A
// byte-order mark and CRLF line ends are accepted; nothing is quoted. The values refer to `text`.
std::vector<CsvRow> read_csv(std::string_view text, std::size_t columns, FileValues& values);

}  // namespace rtgpu
