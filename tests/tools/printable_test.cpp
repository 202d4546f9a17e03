#include "tools/format/printable.h"

#include <string>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::string_literals;

TEST(Printable, OrdinaryTextStaysAsItIs) {
  for (const char* text : {"", "histogram", "größe", "任务", "\xf0\x9f\x98\x80"}) EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(printable("\x1b[2J"), "\\u001b[2J");
  EXPECT_EQ(printable("\x7f"), "\\u007f");
  EXPECT_EQ(printable("a\0b"s), "a\\u0000b");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u009b");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\u202e");
}

TEST(Printable, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(printable("a\xff z"), "a\\xff z");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                             // ends early
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");                    // longer than needed
  EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80");           // likewise
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // above U+10FFFF
}

TEST(Width, CountsCodePoints) {
  EXPECT_EQ(width(""), 0U);
  EXPECT_EQ(width("abc"), 3U);
  EXPECT_EQ(width("größe"), 5U);
  EXPECT_EQ(width("任务"), 2U);
}

}  // namespace
}  // namespace rtgpu
