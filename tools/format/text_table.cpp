#include "tools/format/text_table.h"

#include "tools/format/printable.h"

#include <algorithm>
#include <utility>

namespace rtgpu {
namespace {

// Characters of a number from its decimal point on.
std::size_t fraction_width(std::string_view number) {
  const std::size_t point = number.find('.');
  return point == std::string_view::npos ? 0 : number.size() - point;
}

void remove_spaces_at_end(std::string& out) {
  while (!out.empty() && out.back() == ' ') out.pop_back();
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add_row(std::vector<std::string> cells) {
  rows_.push_back({std::move(cells), {}});
}

void TextTable::add_remark(std::string text) {
  rows_.back().remarks.push_back(std::move(text));
}

TextTable::Width TextTable::width_of(std::size_t column) const {
  Width result;
  std::size_t whole = 0;
  for (const Row& row : rows_) {
    const std::string& cell = row.cells[column];
    const std::size_t fraction = columns_[column].align == Align::decimal ? fraction_width(cell) : 0;
    result.fraction = std::max(result.fraction, fraction);
    whole = std::max(whole, width(cell) - fraction);
  }
  result.total = std::max(whole + result.fraction, width(columns_[column].title));
  return result;
}

void TextTable::append_line(std::string& out, const std::vector<std::string>& cells, const std::vector<Width>& widths,
                            bool is_title) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool decimal = columns_[i].align == Align::decimal && !is_title;
    const std::size_t after = decimal ? widths[i].fraction - fraction_width(cells[i]) : 0;
    const std::size_t blank = widths[i].total - width(cells[i]) - after;
    const bool left = columns_[i].align == Align::left;
    out += "  ";
    if (!left) out.append(blank, ' ');
    out += cells[i];
    out.append(left ? blank : after, ' ');
  }
  remove_spaces_at_end(out);
  out += '\n';
}

void TextTable::append_to(std::string& out) const {
  std::vector<Width> widths;
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(width_of(i));
    titles.push_back(columns_[i].title);
  }
  append_line(out, titles, widths, true);
  for (const Row& row : rows_) {
    append_line(out, row.cells, widths, false);
    for (const std::string& remark : row.remarks) out.append("      ").append(remark).append("\n");
  }
}

}  // namespace rtgpu
