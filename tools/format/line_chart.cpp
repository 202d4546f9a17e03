#include "tools/format/line_chart.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// Told apart with impaired colour vision as well, and by their lightness in print (Okabe and Ito).
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#000000", "#e69f00", "#56b4e9", "#7f7f7f"};

// gnuplot's point types, filled and open ones of the same form.
struct Marks {
  int filled = 0;
  int open = 0;
};
constexpr std::array<Marks, 5> kMarks = {{{7, 6}, {5, 4}, {9, 8}, {11, 10}, {13, 12}}};

// In single quotes gnuplot reads everything as it is, but for the quote itself.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string escaped_for_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void append_line_style(std::string& out, const ChartLine& line) {
  const auto place = static_cast<std::size_t>(std::max(line.colour, 0));
  const Marks marks = kMarks[place % kMarks.size()];
  fmt::format_to(std::back_inserter(out), "with linespoints linecolor rgb '{}' dashtype {} pointtype {} linewidth 2",
                 kColours[place % kColours.size()], line.is_dashed ? 2 : 1, line.is_dashed ? marks.open : marks.filled);
}

// Every x of the chart once, in the order of the first line that has it.
std::vector<std::string> all_x(const LineChart& chart) {
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const ChartLine& line : chart.lines) {
    for (const ChartPoint& point : line.points) {
      if (seen.insert(point.x).second) all.push_back(point.x);
    }
  }
  return all;
}

std::string_view y_at(const ChartLine& line, const std::string& x) {
  const auto found = std::ranges::find(line.points, x, &ChartPoint::x);
  return found == line.points.end() ? std::string_view() : found->y;
}

constexpr std::string_view kPageStyle = R"(body { font-family: sans-serif; margin: 2em auto; max-width: 60em; }
svg { width: 100%; height: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 90%; }
th, td { padding: 0.2em 0.7em; text-align: right; border-bottom: 1px solid #ccc; }
@media print { body { margin: 0; } }
)";

}  // namespace

std::string gnuplot_script(const LineChart& chart) {
  std::string out =
      "set terminal svg size 900,560 dynamic noenhanced font 'sans-serif,15' background rgb 'white'\n"
      "set encoding utf8\n"
      "set key outside right top vertical Left reverse noenhanced\n"
      "set grid back linecolor rgb '#d0d0d0'\n"
      "set border 3\n"
      "set tics nomirror\n"
      "set offsets graph 0.02, graph 0.02, 0, 0\n";
  auto to = std::back_inserter(out);
  fmt::format_to(to, "set title {} noenhanced\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n",
                 single_quoted(chart.title), single_quoted(chart.x_label), single_quoted(chart.y_label));
  fmt::format_to(to, "set yrange [{}:{}]\n", chart.y_low, chart.y_high);
  for (std::size_t place = 0; place < chart.lines.size(); ++place) {
    fmt::format_to(to, "$line{} << END\n", place);
    for (const ChartPoint& point : chart.lines[place].points) fmt::format_to(to, "{} {}\n", point.x, point.y);
    out += "END\n";
  }
  out += "plot ";
  for (std::size_t place = 0; place < chart.lines.size(); ++place) {
    fmt::format_to(to, "{}$line{} using 1:2 title {} ", place == 0 ? "" : ", \\\n  ", place,
                   single_quoted(chart.lines[place].name));
    append_line_style(out, chart.lines[place]);
  }
  return out + "\n";
}

std::string chart_page(const LineChart& chart, std::string_view svg) {
  // The declaration of an SVG file has no place inside a page.
  const std::size_t drawing = svg.find("<svg");
  if (drawing != std::string_view::npos) svg.remove_prefix(drawing);
  const std::string title = escaped_for_html(chart.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n{}</style>\n"
      "</head>\n<body>\n{}\n<table>\n<thead><tr><th>{}</th>",
      title, kPageStyle, svg, escaped_for_html(chart.x_label));
  auto to = std::back_inserter(out);
  for (const ChartLine& line : chart.lines) fmt::format_to(to, "<th>{}</th>", escaped_for_html(line.name));
  out += "</tr></thead>\n<tbody>\n";
  for (const std::string& x : all_x(chart)) {
    fmt::format_to(to, "<tr><td>{}</td>", escaped_for_html(x));
    for (const ChartLine& line : chart.lines) fmt::format_to(to, "<td>{}</td>", escaped_for_html(y_at(line, x)));
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n</body>\n</html>\n";
}

}  // namespace rtgpu
