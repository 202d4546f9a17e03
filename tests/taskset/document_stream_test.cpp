#include "taskset/document_stream.h"

#include "taskset/json.h"

#include <filesystem>
#include <fstream>
#include <ios>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Seen {
  std::string text;
  std::size_t line;
  friend bool operator==(const Seen&, const Seen&) = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << seen.line << ":" << seen.text;
}

std::vector<Seen> documents(DocumentStream& stream) {
  std::vector<Seen> all;
  for (;;) {
    auto next = stream.next();
    if (!next) {
      ADD_FAILURE() << to_string(next.errors().front());
      return all;
    }
    if (!*next) return all;
    EXPECT_EQ((*next)->index, all.size());
    all.push_back({std::string((*next)->text), (*next)->line});
  }
}

// Gives out the text in pieces of a few bytes, as a pipe does, and fails at its end if told so.
class Pipe : public std::streambuf {
 public:
  Pipe(std::string text, std::size_t piece, bool fails = false)
      : text_(std::move(text)), piece_(piece), fails_(fails) {}

 protected:
  int_type underflow() override {
    if (at_ == text_.size()) {
      if (fails_) throw std::ios_base::failure("broken");
      return traits_type::eof();
    }
    const std::size_t count = std::min(piece_, text_.size() - at_);
    setg(text_.data() + at_, text_.data() + at_, text_.data() + at_ + count);
    at_ += count;
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::string text_;
  std::size_t piece_;
  bool fails_;
  std::size_t at_ = 0;
};

struct Input {
  std::string text;
  bool ndjson;
  std::vector<Seen> expected;
  std::string name = "-";
};

class Documents : public ::testing::TestWithParam<Input> {};

TEST_P(Documents, AreTheSameHoweverTheInputArrives) {
  const Input& input = GetParam();
  SCOPED_TRACE(input.text);
  for (const std::size_t piece : {1U, 3U, 100'000U}) {
    Pipe pipe(input.text, piece);
    std::istream in(&pipe);
    auto stream = DocumentStream::from(in, input.name);
    EXPECT_EQ(stream.is_ndjson(), input.ndjson);
    EXPECT_EQ(documents(stream), input.expected);
    EXPECT_TRUE(documents(stream).empty()) << "it stays at its end";
  }
}

INSTANTIATE_TEST_SUITE_P(Whole, Documents,
                         ::testing::Values(Input{"", false, {{"", 1}}}, Input{" \n\n", false, {{" \n\n", 1}}},
                                           Input{"{\"a\": 1}", false, {{"{\"a\": 1}", 1}}},
                                           Input{"{\"a\": 1}\n \r\n\n", false, {{"{\"a\": 1}\n \r\n\n", 1}}},
                                           Input{"\xEF\xBB\xBF{}", false, {{"{}", 1}}},
                                           Input{"{\n\"a\": 1\n}\n", false, {{"{\n\"a\": 1\n}\n", 1}}},
                                           Input{"{ \"a\": [\n{}\n]}", false, {{"{ \"a\": [\n{}\n]}", 1}}},
                                           Input{"{\"a\": 1,\n\"b\": {}}", false, {{"{\"a\": 1,\n\"b\": {}}", 1}}},
                                           Input{"{ \"a\":\n{\"b\": 2}\n}", false, {{"{ \"a\":\n{\"b\": 2}\n}", 1}}},
                                           Input{"{\"a\": 1\n}", false, {{"{\"a\": 1\n}", 1}}},
                                           Input{"[1,\n{}]", false, {{"[1,\n{}]", 1}}}));

INSTANTIATE_TEST_SUITE_P(
    Lines, Documents,
    ::testing::Values(
        Input{"{}\n{}\n", true, {{"{}", 1}, {"{}", 2}}},
        Input{"{}\n\n \t\n{\"b\": 2}", true, {{"{}", 1}, {"{\"b\": 2}", 4}}},
        Input{"\n\n{}\r\n{\"x\"}\r\n", true, {{"{}\r", 3}, {"{\"x\"}\r", 4}}},
        Input{"\xEF\xBB\xBF[\"}\\\"{\"]\n  {}", true, {{"[\"}\\\"{\"]", 1}, {"  {}", 2}}},
        Input{"{}\noops\n{}", true, {{"{}", 1}, {"oops", 2}, {"{}", 3}}},
        Input{"{\"a\": 1, \"b\n{\"a\": 1}\n{}\n", true, {{"{\"a\": 1, \"b", 1}, {"{\"a\": 1}", 2}, {"{}", 3}}},
        Input{"", true, {{"", 1}}, "x.ndjson"}, Input{"{}", true, {{"{}", 1}}, "x.jsonl"},
        Input{"{\n}\n", true, {{"{", 1}, {"}", 2}}, "x.ndjson"}));

TEST(DocumentStreamTest, ManyLinesNeedNoMoreMemoryThanOne) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "{\"n\": " + std::to_string(i) + "}\n\n";
  std::istringstream in(text);
  auto stream = DocumentStream::from(in, "-");
  const std::vector<Seen> all = documents(stream);
  ASSERT_EQ(all.size(), 20'000U);
  EXPECT_EQ(all.back(), (Seen{"{\"n\": 19999}", 39'999}));
}

TEST(DocumentStreamTest, AnErrorWhileReadingIsReportedOnce) {
  for (const char* const text : {"", "{}", "{}\n{", "{}\n{}\n"}) {
    SCOPED_TRACE(text);
    Pipe pipe(text, 2, true);
    std::istream in(&pipe);
    auto stream = DocumentStream::from(in, "pipe");
    Errors errors;
    for (int calls = 0; calls < 9; ++calls) {
      auto next = stream.next();
      if (!next) errors.push_back(next.errors().front());
    }
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, ErrorCode::io);
    EXPECT_EQ(errors[0].place.source, "pipe");
  }
}

TEST(DocumentStreamTest, FilesThatCannotBeOpened) {
  const auto missing = DocumentStream::open("no/such/file.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.errors().front().code, ErrorCode::io);
  EXPECT_EQ(missing.errors().front().place.source, "no/such/file.json");
  EXPECT_THAT(missing.errors().front().found, HasSubstr("No such file"));
  const auto directory = DocumentStream::open(std::filesystem::temp_directory_path().string());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.errors().front().code, ErrorCode::io);
  EXPECT_THAT(directory.errors().front().found, HasSubstr("a directory"));
}

TEST(DocumentStreamTest, AFile) {
  const std::string path = ::testing::TempDir() + "rtgpu_document_stream_test.txt";
  std::ofstream(path) << "{\"a\": 1}\n{}\n";
  auto stream = DocumentStream::open(path);
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->name(), path);
  EXPECT_THAT(documents(*stream), ElementsAre(Seen{"{\"a\": 1}", 1}, Seen{"{}", 2}));
  std::filesystem::remove(path);
}

// A stream of two lines, the first of them longer than a document may be; nothing of it is stored.
class LongLine : public std::streambuf {
 protected:
  int_type underflow() override {
    if (given_ > kMaxDocumentBytes + block_.size()) {
      if (ended_) return traits_type::eof();
      ended_ = true;
      block_ = "\n{}\n";
    }
    given_ += block_.size();
    setg(block_.data(), block_.data(), block_.data() + block_.size());
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::string block_ = std::string(std::size_t{1} << 20U, '[');
  std::size_t given_ = 0;
  bool ended_ = false;
};

TEST(DocumentStreamTest, ALineThatIsTooLongIsSkipped) {
  LongLine source;
  std::istream in(&source);
  auto stream = DocumentStream::from(in, "x.ndjson");
  auto first = stream.next();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.errors().front().code, ErrorCode::limit);
  auto second = stream.next();
  ASSERT_TRUE(second);
  ASSERT_TRUE(*second);
  EXPECT_EQ((*second)->text, "{}");
  EXPECT_EQ((*second)->line, 2U);
  EXPECT_EQ((*second)->index, 1U);
}

TEST(DocumentStreamTest, ADocumentThatIsTooLongIsAnError) {
  LongLine source;
  std::istream in(&source);
  auto stream = DocumentStream::from(in, "x.json");
  auto first = stream.next();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.errors().front().code, ErrorCode::limit);
  auto second = stream.next();
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
}

}  // namespace
}  // namespace rtgpu
