#include "rtgpu/error.h"

#include "rtgpu/result.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

TEST(Error, PrintsEveryPart) {
  const Error error{ErrorCode::value, Place{"case.json", "/tasks/2/period", 12, 5}, "0", "a time above 0",
                    "Give the minimum separation of releases."};
  EXPECT_EQ(to_string(error),
            "case.json:12:5: /tasks/2/period: found 0; expected a time above 0. Give the minimum separation of "
            "releases.");
}

TEST(Error, LeavesOutWhatDoesNotApply) {
  EXPECT_EQ(to_string(Error{ErrorCode::io, Place{"x.json", {}, 0, 0}, "a directory", "a file", ""}),
            "x.json: found a directory; expected a file");
  EXPECT_EQ(to_string(Error{ErrorCode::missing, Place{{}, "/tasks", 0, 0}, "", "a list of tasks", ""}),
            "/tasks: expected a list of tasks");
  EXPECT_EQ(to_string(Error{ErrorCode::syntax, Place{{}, {}, 3, 1}, "\"}\"", "", ""}), "3:1: found \"}\"");
  EXPECT_EQ(to_string(Error{ErrorCode::unsupported, {}, "", "", "Not there yet."}), "Not there yet.");
}

TEST(Nearest, FindsMisspellings) {
  const std::vector<std::string_view> known = {"period", "deadline", "priority", "gpu_priority", "cpu"};
  EXPECT_EQ(nearest("perid", known), "period");
  EXPECT_EQ(nearest("preiod", known), "period");  // a swap is one edit
  EXPECT_EQ(nearest("dedline", known), "deadline");
  EXPECT_EQ(nearest("gpu-priority", known), "gpu_priority");
  EXPECT_EQ(nearest("cpus", known), "cpu");
}

TEST(Nearest, DoesNotGuessWildly) {
  const std::vector<std::string_view> known = {"period", "deadline", "cpu"};
  EXPECT_EQ(nearest("colour", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("xyz", known), "");
  EXPECT_EQ(nearest("period", {}), "");
  EXPECT_EQ(nearest(std::string(100'000, 'p'), known), "");
}

TEST(Result, HoldsAValueOrErrors) {
  const Result<int> good = 7;
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, 7);

  const Result<int> bad = Error{ErrorCode::io, {}, "nothing", "a file", ""};
  ASSERT_FALSE(bad);
  ASSERT_EQ(bad.errors().size(), 1U);
  EXPECT_EQ(bad.errors().front().found, "nothing");
  EXPECT_THROW(static_cast<void>(bad.value()), std::bad_variant_access);
}

}  // namespace
}  // namespace rtgpu
