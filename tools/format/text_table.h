// Aligned columns of text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

enum class Align : unsigned char {
  left,
  right,
  decimal,  // decimal points below one another
};

class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit TextTable(std::vector<Column> columns);

  // As many cells as there are columns; UTF-8 without control characters.
  void add_row(std::vector<std::string> cells);
  // A line below the last row, indented, outside the columns.
  void add_remark(std::string text);

  // Appends the lines, each indented by two spaces and without spaces at its end.
  void append_to(std::string& out) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::vector<std::string> remarks;
  };
  struct Width {
    std::size_t total = 0;
    std::size_t fraction = 0;  // from the decimal point on
  };

  Width width_of(std::size_t column) const;
  void append_line(std::string& out, const std::vector<std::string>& cells, const std::vector<Width>& widths,
                   bool is_title) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace rtgpu
