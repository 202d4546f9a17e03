// Every order of the events of small systems: entering, submitting, completing, leaving, being interrupted, and being
// cancelled at any moment, under every policy and with all kinds of priorities. What a policy does at each step has to
// be what its specification says, and every order has to come to its end. Larger systems are explored by
// gpu_policy_long_exploration_test.cpp; the largest are walked through at random.
#include "tests/rtgpu/policy_exploration.h"

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::ExplorationLimits;
using testing::ExplorationResult;
using testing::PolicyEvent;
using testing::PolicySpecification;
using testing::SpecifiedState;

constexpr bool kBestEffort = true;

class EveryOrder : public ::testing::TestWithParam<Policy> {
 protected:
  static void expect_right(const std::vector<PolicyTask>& tasks, ExplorationLimits limits) {
    const ExplorationResult result = testing::explore(GetParam(), tasks, limits);
    EXPECT_EQ(result.failure, "");
    EXPECT_GT(result.ends, 0U);
    EXPECT_GT(result.states, 40U);
  }
};

TEST_P(EveryOrder, OfTasksWhosePrioritiesRiseWithTheirPosition) {
  expect_right({{1}, {2}, {3}}, {.segments = 2, .boundaries = 1, .cancels = 1});
}

TEST_P(EveryOrder, OfEqualPriorities) {
  expect_right({{7}, {7}, {7}}, {.segments = 2, .boundaries = 1, .cancels = 1});
}

TEST_P(EveryOrder, WithABestEffortTaskOfHighPriority) {
  expect_right({{9, kBestEffort}, {1}, {1}}, {.segments = 2, .boundaries = 1, .cancels = 1});
}

TEST_P(EveryOrder, WithTwoBestEffortTasks) {
  expect_right({{1, kBestEffort}, {2}, {2, kBestEffort}}, {.segments = 2, .boundaries = 1, .cancels = 1});
}

TEST_P(EveryOrder, OfTwoTasksByEveryPath) {
  const ExplorationLimits limits = {.segments = 1, .boundaries = 1, .cancels = 1, .every_path = true};
  expect_right({{1}, {2}}, limits);
  expect_right({{2, kBestEffort}, {1}}, limits);
  expect_right({{1, kBestEffort}, {1, kBestEffort}}, limits);
}

TEST_P(EveryOrder, OfFourTasks) {
  expect_right({{1}, {3, kBestEffort}, {2}, {3}}, {.segments = 1, .boundaries = 1, .cancels = 1});
}

// A hundred tasks, one event after another at random.
class ManyTasks : public ::testing::TestWithParam<Policy> {
 protected:
  struct Step {
    PolicyEvent event;
    TaskId task;
  };

  static std::vector<PolicyTask> random_tasks(std::mt19937_64& engine) {
    std::vector<PolicyTask> tasks;
    for (TaskId task = 0; task < 100; ++task) tasks.push_back({static_cast<int>(engine() % 50), engine() % 10 == 0});
    return tasks;
  }

  // One of the events that are in place; a cancellation now and then.
  static Step random_step(std::mt19937_64& engine, const PolicySpecification& specification,
                          const SpecifiedState& state) {
    const auto tasks = static_cast<TaskId>(state.phases.size());
    std::vector<Step> steps;
    if (engine() % 30 == 0) steps.push_back({PolicyEvent::cancel, static_cast<TaskId>(engine() % tasks)});
    const bool cancels = !steps.empty();
    for (TaskId task = 0; task < tasks && !cancels; ++task) {
      for (std::size_t event = 0; event < testing::kPolicyEvents; ++event) {
        const Step step{static_cast<PolicyEvent>(event), task};
        if (step.event != PolicyEvent::cancel && specification.allows(state, step.event, task)) steps.push_back(step);
      }
    }
    return steps[engine() % steps.size()];
  }
};

TEST_P(ManyTasks, DoWhatTheSpecificationSays) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 engine(seed);
  const PolicySetup setup = testing::setup_of(random_tasks(engine));
  const PolicySpecification specification = testing::specification_of(GetParam(), setup);
  Result<std::unique_ptr<GpuPolicy>> made = make_policy(GetParam(), setup);
  ASSERT_TRUE(made);
  GpuPolicy& policy = **made;
  SpecifiedState expected = specification.start();
  int completed = 0;
  for (int step = 0; step < 5000; ++step) {
    const auto [event, task] = random_step(engine, specification, expected);
    const GpuState before = policy.gpu();
    const Decision decision = testing::apply(policy, event, task);
    const auto outcome = specification.move_on(expected, event, task, policy.gpu().runs);
    ASSERT_EQ(testing::difference(policy, decision, before, specification, expected, outcome), "")
        << "step " << step << ": " << to_string(event) << " of " << task;
    if (event == PolicyEvent::complete) ++completed;
  }
  EXPECT_GT(completed, 50);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryOrder,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority, Policy::federated,
                                           Policy::server),
                         [](const auto& policy) {
                           std::string name(to_string(policy.param));
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '+'; }, '_');
                           return name;
                         });

INSTANTIATE_TEST_SUITE_P(Policies, ManyTasks,
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
