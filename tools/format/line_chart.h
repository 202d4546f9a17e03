// Charts of lines over a parameter: what gnuplot is told to draw one, and the page that holds it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

// Both are decimal numbers.
struct ChartPoint {
  std::string x;
  std::string y;
};

// Lines of one colour have the same kind of marks as well, so that they are told apart in print; the dashed one of a
// colour has open marks where there are such.
struct ChartLine {
  std::string name;
  int colour = 0;
  bool is_dashed = false;
  std::vector<ChartPoint> points;  // by rising x
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  // Of the y axis; decimal numbers.
  std::string y_low = "0";
  std::string y_high = "1";
  std::vector<ChartLine> lines;
};

// A gnuplot script that writes the chart as SVG to standard output.
std::string gnuplot_script(const LineChart& chart);

// A page without references to other files: the chart, and its numbers as a table.
std::string chart_page(const LineChart& chart, std::string_view svg);

}  // namespace rtgpu
