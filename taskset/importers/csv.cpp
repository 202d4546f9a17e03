#include "taskset/importers/csv.h"

#include "taskset/json_locate.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::string_view kBlanks = " \t\r";

CsvRow split_line(std::string_view line, std::size_t number) {
  CsvRow row{number, {}};
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    std::string_view field = line.substr(begin, end - begin);
    const std::size_t blanks = std::min(field.find_first_not_of(kBlanks), field.size());
    field.remove_prefix(blanks);
    field = field.substr(0, field.find_last_not_of(kBlanks) + 1);
    row.fields.push_back({field, number, begin + blanks + 1});
    begin = end + 1;
  }
  return row;
}

}  // namespace

std::vector<CsvRow> read_csv(std::string_view text, std::size_t columns, FileValues& values) {
  text.remove_prefix(byte_order_mark(text));
  std::vector<CsvRow> rows;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.find_first_not_of(kBlanks) == std::string_view::npos) continue;
    CsvRow row = split_line(line, number);
    if (row.fields.size() < columns && !rows.empty()) {
      values.reject({line, number, 1}, ErrorCode::value, fmt::format("{} fields", row.fields.size()),
                    fmt::format("{} fields with commas between them", columns));
      continue;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rtgpu
