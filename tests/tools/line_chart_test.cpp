// Charts: what gnuplot is told, what it draws, and the page around it.
#include "tools/format/line_chart.h"

#include "tools/gnuplot.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LineChart small_chart() {
  LineChart chart;
  chart.title = "It's <schedulable> & more";
  chart.x_label = "utilisation_per_cpu";
  chart.y_label = "ratio";
  chart.lines = {{"gcaps, suspend", 0, false, {{"0.1", "1"}, {"0.2", "0.75"}}},
                 {"gcaps, busy", 0, true, {{"0.1", "0.5"}}}};
  return chart;
}

std::size_t count_of(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(LineChart, TellsGnuplotItsPointsAndQuotesItsTexts) {
  const std::string script = gnuplot_script(small_chart());
  EXPECT_THAT(script, HasSubstr("set title 'It''s <schedulable> & more'"));
  EXPECT_THAT(script, HasSubstr("$line0 << END\n0.1 1\n0.2 0.75\nEND\n$line1 << END\n0.1 0.5\nEND\n"));
  EXPECT_THAT(script, HasSubstr("title 'gcaps, busy' with linespoints linecolor rgb '#0072b2' dashtype 2 pointtype 6"));
}

TEST(LineChart, IsDrawnByGnuplot) {
  if (missing_gnuplot()) GTEST_SKIP() << "no gnuplot";
  const Result<std::string> svg = run_gnuplot(gnuplot_script(small_chart()));
  ASSERT_TRUE(svg) << svg.errors().front().found;
  EXPECT_THAT(*svg, HasSubstr("<svg"));
  EXPECT_THAT(*svg, HasSubstr("utilisation_per_cpu"));
  EXPECT_THAT(*svg, HasSubstr("gcaps, suspend"));
  EXPECT_THAT(*svg, HasSubstr("</svg>"));
}

TEST(LineChart, AScriptThatGnuplotDoesNotTakeIsAnError) {
  if (missing_gnuplot()) GTEST_SKIP() << "no gnuplot";
  const Result<std::string> svg = run_gnuplot("plot nothing_there\n");
  ASSERT_FALSE(svg);
  EXPECT_THAT(svg.errors().front().found, HasSubstr("nothing_there"));
}

TEST(LineChart, ThePageHoldsTheDrawingAndTheNumbers) {
  const std::string page = chart_page(small_chart(), "<?xml version=\"1.0\"?>\n<svg>drawing</svg>");
  EXPECT_THAT(page, HasSubstr("<svg>drawing</svg>"));
  EXPECT_THAT(page, Not(HasSubstr("<?xml")));
  EXPECT_THAT(page, HasSubstr("It's &lt;schedulable&gt; &amp; more"));
  EXPECT_THAT(page, HasSubstr("<tr><td>0.2</td><td>0.75</td><td></td></tr>"));
  EXPECT_EQ(count_of("<tr>", page), 3U);
  EXPECT_THAT(page, Not(HasSubstr("http")));
}

}  // namespace
}  // namespace rtgpu
