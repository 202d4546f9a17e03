#include "rtgpu/policy.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

TEST(Policy, NamesAreThoseOfTheCommandLine) {
  std::vector<std::string> names;
  for (const Policy policy : all_policies()) names.emplace_back(to_string(policy));
  EXPECT_THAT(names, ::testing::ElementsAre("gcaps", "gcaps-wc", "tsg-rr", "mpcp", "fmlp+", "stream-priority",
                                            "federated", "server"));
}

TEST(Policy, EveryNameParsesToItsPolicy) {
  for (const Policy policy : all_policies()) EXPECT_EQ(parse_policy(to_string(policy)), policy);
}

TEST(Policy, OtherNamesDoNotParse) {
  EXPECT_EQ(parse_policy(""), std::nullopt);
  EXPECT_EQ(parse_policy("GCAPS"), std::nullopt);
  EXPECT_EQ(parse_policy("gcaps_wc"), std::nullopt);
}

}  // namespace
}  // namespace rtgpu
