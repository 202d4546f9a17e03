// Every order of the events of systems of four tasks, and of three with more boundaries and cancellations. Takes
// minutes without optimisation.
#include "tests/rtgpu/policy_exploration.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::ExplorationLimits;
using testing::ExplorationResult;

constexpr bool kBestEffort = true;

class EveryLongOrder : public ::testing::TestWithParam<Policy> {
 protected:
  static void expect_right(const std::vector<PolicyTask>& tasks, ExplorationLimits limits) {
    const ExplorationResult result = testing::explore(GetParam(), tasks, limits);
    EXPECT_EQ(result.failure, "");
    EXPECT_GT(result.ends, 0U);
    RecordProperty("states", std::to_string(result.states));
    RecordProperty("steps", std::to_string(result.steps));
  }
};

TEST_P(EveryLongOrder, OfThreeBestEffortTasks) {
  expect_right({{1, kBestEffort}, {2, kBestEffort}, {2, kBestEffort}}, {.segments = 2, .boundaries = 2, .cancels = 2});
}

TEST_P(EveryLongOrder, OfThreeTasksWithTwoCancellations) {
  expect_right({{1}, {2}, {1, kBestEffort}}, {.segments = 2, .boundaries = 2, .cancels = 2});
}

TEST_P(EveryLongOrder, OfFourTasksWithTwoSegments) {
  expect_right({{1}, {3}, {2}, {3}}, {.segments = 2, .boundaries = 1, .cancels = 1});
}

TEST_P(EveryLongOrder, OfFourTasksTwoOfThemBestEffort) {
  expect_right({{4, kBestEffort}, {2}, {1, kBestEffort}, {2}}, {.segments = 2, .boundaries = 1, .cancels = 0});
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryLongOrder,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority, Policy::federated,
                                           Policy::server),
                         [](const auto& policy) {
                           std::string name(to_string(policy.param));
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '+'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace rtgpu
