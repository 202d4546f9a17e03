#include "tools/format/text_table.h"

#include <string>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

std::string text_of(const TextTable& table) {
  std::string out;
  table.append_to(out);
  return out;
}

TEST(TextTable, AlignsEachColumnItsWay) {
  TextTable table({{"name", Align::left}, {"n", Align::right}, {"time", Align::decimal}, {"", Align::left}});
  table.add_row({"a", "1", "2.5", ""});
  table.add_row({"größe", "100", "1000", "why"});
  table.add_row({"b", "20", "-", "not"});
  EXPECT_EQ(text_of(table),
            "  name     n    time\n"
            "  a        1     2.5\n"
            "  größe  100  1000    why\n"
            "  b       20     -    not\n");
}

TEST(TextTable, ATitleMayBeTheWidest) {
  TextTable table({{"deadline", Align::decimal}, {"end", Align::left}});
  table.add_row({"1", "x"});
  table.add_row({"0.25", "y"});
  EXPECT_EQ(text_of(table),
            "  deadline  end\n"
            "      1     x\n"
            "      0.25  y\n");
}

TEST(TextTable, RemarksAreBelowTheirRow) {
  TextTable table({{"name", Align::left}});
  table.add_row({"a"});
  table.add_remark("own 2: a 1 x 2");
  table.add_row({"b"});
  EXPECT_EQ(text_of(table),
            "  name\n"
            "  a\n"
            "      own 2: a 1 x 2\n"
            "  b\n");
}

}  // namespace
}  // namespace rtgpu
