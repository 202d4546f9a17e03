#include "taskset/json.h"
#include "tests/taskset/documents.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::HasSubstr;

struct Broken {
  std::string text;
  std::size_t line;
  std::size_t column;
  std::string found;
  std::string expected;
  std::string advice = {};
  ErrorCode code = ErrorCode::syntax;
};

class SyntaxError : public ::testing::TestWithParam<Broken> {};

TEST_P(SyntaxError, IsPlacedAndExplained) {
  const Broken& broken = GetParam();
  SCOPED_TRACE(broken.text);
  const auto loaded = read_taskset(broken.text, "f");
  ASSERT_FALSE(loaded);
  ASSERT_EQ(loaded.errors().size(), 1U);
  const Error& error = loaded.errors().front();
  EXPECT_EQ(to_string(error.code), to_string(broken.code));
  EXPECT_EQ(error.place.line, broken.line);
  EXPECT_EQ(error.place.column, broken.column);
  EXPECT_THAT(error.found, HasSubstr(broken.found));
  EXPECT_THAT(error.expected, HasSubstr(broken.expected));
  EXPECT_THAT(error.advice, HasSubstr(broken.advice));
}

INSTANTIATE_TEST_SUITE_P(
    Structure, SyntaxError,
    ::testing::Values(Broken{"", 1, 1, "nothing", "a taskset", "The document is empty."},
                      Broken{" \r\n\t\n", 1, 1, "nothing", "a taskset", "The document is empty."},
                      Broken{"\xEF\xBB\xBF ", 1, 1, "nothing", "a taskset", "The document is empty."},
                      Broken{"{", 1, 2, "the end of the text", "a key in double quotes or '}'"},
                      Broken{"\xEF\xBB\xBF{", 1, 2, "the end of the text", "a key"},
                      Broken{"{\r\n  \"a\" 1}", 2, 7, "\"1\"", "':' after the key"},
                      Broken{"{\"a\":: 1}", 1, 6, "':'", "a value"},
                      Broken{"{\"a\": 1 \"b\": 2}", 1, 9, "a string", "',' or '}'"},
                      Broken{"{\"a\": 1,}", 1, 9, "'}'", "a key in double quotes", "Remove the comma"},
                      Broken{"[1, 2,\n]", 2, 1, "']'", "a value", "Remove the comma"},
                      Broken{"[1 2]", 1, 4, "\"2\"", "',' or ']'"}, Broken{"[1}", 1, 3, "'}'", "',' or ']'"},
                      Broken{"{a: 1}", 1, 2, "\"a\"", "a key in double quotes"},
                      Broken{"{'a': 1}", 1, 2, "'''", "a key in double quotes", "double quotes only"},
                      Broken{"{} {}", 1, 4, "'{'", "nothing after the end"},
                      Broken{"// note\n{}", 1, 1, "'/'", "a value", "no comments"},
                      Broken{std::string("{}\0{}", 5), 1, 3, "byte 0x00", "nothing after the end"},
                      Broken{std::string("[1,\0]", 5), 1, 4, "byte 0x00", "a value"}));

INSTANTIATE_TEST_SUITE_P(Words, SyntaxError,
                         ::testing::Values(Broken{"{\"a\": NaN}", 1, 7, "\"NaN\"", "a value", "not JSON numbers"},
                                           Broken{"[-Infinity]", 1, 2, "\"-Infinity\"", "a value", "not JSON numbers"},
                                           Broken{"[True]", 1, 2, "\"True\"", "a value", "lower case"},
                                           Broken{"[nul]", 1, 2, "\"nul\"", "a value"},
                                           Broken{"[01]", 1, 2, "\"01\"", "a value", "zeros"},
                                           Broken{"[1.]", 1, 2, "\"1.\"", "a value", "digit on both sides"},
                                           Broken{"[.5]", 1, 2, "\".5\"", "a value", "digit on both sides"},
                                           Broken{"[+1]", 1, 2, "\"+1\"", "a value", "no leading '+'"},
                                           Broken{"[1e]", 1, 2, "\"1e\"", "a value"},
                                           Broken{"[-]", 1, 2, "\"-\"", "a value"},
                                           Broken{"[10ms]", 1, 2, "\"10ms\"", "a value"},
                                           Broken{"[1, 1e400]", 1, 5, "1e400", "below 1.8e308", "", ErrorCode::limit}));

INSTANTIATE_TEST_SUITE_P(Strings, SyntaxError,
                         ::testing::Values(Broken{"[\"abc", 1, 2, "a string without an end", "a closing double quote"},
                                           Broken{"[\"abc\\", 1, 2, "a string without an end",
                                                  "a closing double quote"},
                                           Broken{"[\"ab\n\"]", 1, 5, "byte 0x0A", "a closing double quote", "escapes"},
                                           Broken{"[\"a\xFF\"]", 1, 4, "byte 0xFF", "UTF-8"},
                                           Broken{"[\xFF]", 1, 2, "byte 0xFF", "a value", "UTF-8"},
                                           Broken{"[\"\xC3\"]", 1, 4, "byte 0x22", "UTF-8"},
                                           Broken{"[\"\xED\xA0\x80\"]", 1, 4, "byte 0xA0", "UTF-8"},
                                           Broken{"{\"a\\q\": 1}", 1, 5, R"(the escape "\\q")", R"(one of \")"},
                                           Broken{"[\"\\u12G4\"]", 1, 7, R"("\\u12G")", R"(\uXXXX)"},
                                           Broken{"[\"\\ud800x\"]", 1, 9, R"("\\ud800x")", R"(\uXXXX)", "surrogates"}));

TEST(SyntaxErrors, ADeepDocumentIsStoppedAtTheLimit) {
  const std::string text = "\n" + std::string(10'000'000, '[');
  const auto loaded = read_taskset(text);
  ASSERT_FALSE(loaded);
  const Error& error = loaded.errors().front();
  EXPECT_EQ(error.code, ErrorCode::limit);
  EXPECT_EQ(error.place.line, 2U);
  EXPECT_EQ(error.place.column, kMaxDepth + 1);
  EXPECT_THAT(error.expected, HasSubstr("at most 32 levels"));
}

TEST(SyntaxErrors, ANumberOutOfRangeHasItsPointer) {
  const auto loaded = read_taskset(with_task("\"jitter\": -1e999, "));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.errors().front().place.pointer, "/tasks/0/jitter");
  EXPECT_EQ(loaded.errors().front().found, "-1e999");
}

TEST(SyntaxErrors, EveryTruncationOfADocumentIsAnError) {
  const std::string text = with_task("\"jitter\": {\"min\": 0.25e1}, \"memory\": \"\\u00e9\u00e9\\n\", ");
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto loaded = read_taskset(text.substr(0, length));
    SCOPED_TRACE(text.substr(0, length));
    ASSERT_FALSE(loaded);
    ASSERT_EQ(loaded.errors().size(), 1U);
    EXPECT_EQ(loaded.errors().front().code, ErrorCode::syntax);
    EXPECT_EQ(loaded.errors().front().place.line, 1U);
    EXPECT_LE(loaded.errors().front().place.column, length + 1);
    EXPECT_THAT(loaded.errors().front().expected, ::testing::Not(HasSubstr("valid JSON")));
  }
}

TEST(SyntaxErrors, NoChangedByteCrashes) {
  const std::string text = with_segment(R"({"gpu": {"exec": {"by_sms": {"2": "1ms", "4": 0.5}}, "block": 1e-2}})");
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int byte = 0; byte < 256; byte += 3) {
      std::string changed = text;
      changed[i] = static_cast<char>(byte);
      const auto loaded = read_taskset(changed);
      if (loaded) continue;
      for (const Error& error : loaded.errors()) {
        ASSERT_GE(error.place.line, 1U) << changed;
        ASSERT_LE(error.place.column, changed.size() + 1) << changed;
        ASSERT_NE(error.expected, "valid JSON") << changed;
      }
    }
  }
}

}  // namespace
}  // namespace rtgpu
