// The attack on bounds, and the bounds under attack.
#include "analysis/falsification/attack.h"

#include "analysis/analysis.h"
#include "analysis/falsification/counterexample.h"
#include "analysis/simulation/simulator.h"
#include "taskset/generators/gcaps_table3.h"
#include "tests/analysis/safe_analyses.h"
#include "tests/support/attack_targets.h"
#include "tests/support/build.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::load_case;
using testing::ms;

AttackResult attack_bounds(const Taskset& taskset, const AnalysisOptions& request, std::uint64_t seed,
                           std::int64_t runs) {
  const Result<AnalysisResult> result = analyze(taskset, request);
  EXPECT_TRUE(result);
  Result<Simulator> simulator = Simulator::of(taskset, request.policy, request.wait);
  EXPECT_TRUE(simulator);
  return attack(simulator->taskset(), *simulator, claims_of(*result),
                {.seed = seed, .runs = runs, .horizon = attack_horizon(taskset)});
}

TEST(Attack, FindsWhatExceedsPublishedBounds) {
  const AttackResult held = attack_bounds(load_case("gcaps-held-misc.json"), {.variant = Variant::published}, 1, 200);
  ASSERT_TRUE(held.worst);
  EXPECT_EQ(held.worst->claim.bound, ms(15));
  EXPECT_EQ(held.worst->observed, ms(20));
  const AttackResult switches =
      attack_bounds(load_case("tsg-rr-switch.json"), {.policy = Policy::tsg_rr, .variant = Variant::published}, 1, 200);
  ASSERT_TRUE(switches.worst);
  EXPECT_EQ(switches.worst->claim.bound, ms(22));
  EXPECT_GT(switches.worst->observed, ms(23));
  EXPECT_LE(switches.worst->observed, ms(24));
}

TEST(Attack, ReachesTheSafeBoundsOfThoseCases) {
  const Taskset taskset = load_case("gcaps-held-misc.json");
  EXPECT_EQ(attack_bounds(taskset, {.policy = Policy::gcaps}, 1, 200).longest[1], ms(20));
  EXPECT_EQ(attack_bounds(taskset, {.policy = Policy::gcaps_wc}, 1, 200).longest[1], ms(15));
}

TEST(Attack, IsTheSameForTheSameSeed) {
  std::mt19937_64 engine(8);
  const Taskset taskset = testing::attack_target(engine);
  const AttackResult once = attack_bounds(taskset, {.policy = Policy::gcaps_wc}, 3, 30);
  const AttackResult again = attack_bounds(taskset, {.policy = Policy::gcaps_wc}, 3, 30);
  ASSERT_TRUE(once.worst);
  EXPECT_EQ(once.runs, 30);
  EXPECT_EQ(once.worst->scenario, again.worst->scenario);
  EXPECT_EQ(once.worst->observed, again.worst->observed);
  EXPECT_EQ(once.longest, again.longest);
}

TEST(Attack, WithoutBoundsThereIsNothingToAttack) {
  Taskset taskset = load_case("gcaps-held-misc.json");
  for (Task& task : taskset.tasks) task.deadline = ms(1);
  const AttackResult result = attack_bounds(taskset, {.policy = Policy::gcaps}, 1, 20);
  EXPECT_FALSE(result.worst);
  EXPECT_EQ(result.runs, 0);
}

// A counterexample to the published analysis of gcaps, from an attack.
Counterexample found_counterexample(const Taskset& taskset) {
  const AttackResult result = attack_bounds(taskset, {.variant = Variant::published}, 5, 300);
  EXPECT_TRUE(result.worst && result.worst->exceeds());
  Counterexample found;
  found.why = "found by an attack";
  found.task = result.worst->claim.task;
  found.job = result.worst->job;
  found.bound = result.worst->claim.bound;
  found.observed = result.worst->observed;
  found.horizon = attack_horizon(taskset);
  found.scenario = result.worst->scenario;
  found.taskset = taskset;
  return found;
}

std::vector<Claim> published_claims(const Taskset& taskset) {
  const Result<AnalysisResult> result = analyze(taskset, {.variant = Variant::published});
  return result ? claims_of(*result) : std::vector<Claim>{};
}

TEST(Shrink, LeavesWhatMatters) {
  // The two tasks of the case, and others that have nothing to do with it.
  Taskset taskset = load_case("gcaps-held-misc.json");
  for (const char* name : {"x", "y", "z"}) {
    taskset.tasks.push_back(testing::task(name, ms(400), {testing::cpu(ms(2))}, 1));
    taskset.tasks.back().priority = taskset.tasks.back().gpu_priority = -static_cast<int>(taskset.tasks.size());
  }
  const Counterexample small = shrink(found_counterexample(taskset), published_claims, 1);
  ASSERT_EQ(small.taskset.tasks.size(), 2U);
  EXPECT_GT(small.observed, small.bound);
  EXPECT_EQ(*replay(small), small.observed);
  EXPECT_LT(small.horizon, attack_horizon(taskset));
  for (const TaskScenario& choices : small.scenario.tasks) EXPECT_EQ(choices.shorten_chance, 0);
}

TEST(Counterexamples, AreReadAsTheyWereWritten) {
  const Counterexample found = found_counterexample(load_case("gcaps-held-misc.json"));
  const std::string text = write_counterexample(found);
  EXPECT_TRUE(is_counterexample(text));
  const Result<Counterexample> read = read_counterexample(text, "c.json");
  ASSERT_TRUE(read) << to_string(read.errors().front());
  EXPECT_EQ(read->scenario, found.scenario);
  EXPECT_EQ(read->taskset, found.taskset);
  EXPECT_EQ(read->bound, found.bound);
  EXPECT_EQ(read->horizon, found.horizon);
  EXPECT_EQ(read->task, found.task);
  EXPECT_EQ(write_counterexample(*read), text);
  EXPECT_EQ(*replay(*read), found.observed);
}

std::string without(std::string text, const std::string& part, const std::string& instead) {
  return text.replace(text.find(part), part.size(), instead);
}

TEST(Counterexamples, BadOnesAreRefusedWithTheirPlace) {
  const std::string text = write_counterexample(found_counterexample(load_case("gcaps-held-misc.json")));
  const auto pointer_of_error = [](const std::string& bad) {
    const Result<Counterexample> read = read_counterexample(bad, "c.json");
    return read ? "none" : read.errors().front().place.pointer;
  };
  EXPECT_EQ(pointer_of_error("[]"), "");
  EXPECT_EQ(pointer_of_error(without(text, "\"rtgpu_counterexample\": 1", "\"rtgpu_counterexample\": 2")),
            "/rtgpu_counterexample");
  EXPECT_EQ(pointer_of_error(without(text, "\"policy\": \"gcaps\"", "\"policy\": \"gcasp\"")), "/policy");
  EXPECT_EQ(pointer_of_error(without(text, "\"seed\": ", "\"sed\": ")), "/scenario/seed");
  EXPECT_EQ(pointer_of_error(without(text, "\"bound_ns\": ", "\"bound_ns\": -")), "/bound_ns");
  EXPECT_EQ(pointer_of_error(without(text, "\"rtgpu\": 1", "\"rtgpu\": 3")), "/taskset/rtgpu");
}

// --- safe bounds under attack

class SafeUnderAttack : public ::testing::TestWithParam<Policy> {};

Taskset table3_target(std::mt19937_64& engine) {
  GcapsTable3 parameters;
  const auto utilisation = 100'000 * static_cast<std::int64_t>(1 + engine() % 6);
  parameters.utilisation_per_cpu = {utilisation, utilisation};
  if (engine() % 2 == 0) parameters.runlist_update = {};
  Taskset taskset = generate(parameters, engine());
  taskset.platform.gpus.front().stream_priorities = 6;
  taskset.platform.gpus.front().server_cpu = static_cast<int>(engine() % 4);
  return taskset;
}

// What is attacked are all bounds at or below the deadlines, also those of sets with others that have none.
TEST_P(SafeUnderAttack, NoScheduleExceedsABound) {
  const auto seed = std::random_device{}();
  std::mt19937_64 engine(seed);
  std::size_t attacked = 0;
  for (int trial = 0; trial < 40; ++trial) {
    Taskset taskset = trial % 4 == 0 ? table3_target(engine) : testing::attack_target(engine);
    const auto lock_wait = engine() % 2 == 0 ? LockWait::suspend : LockWait::spin;
    if (GetParam() == Policy::federated) testing::divide_sms(engine, taskset);
    if (trial % 4 == 0) {
      for (Task& task : taskset.tasks) task.lock_wait = lock_wait;
    }
    for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy, WaitChoice::file}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial << ", wait "
                                        << static_cast<int>(wait));
      const AttackResult result = attack_bounds(taskset, {.policy = GetParam(), .wait = wait}, engine(), 12);
      if (!result.worst) continue;
      ++attacked;
      ASSERT_FALSE(result.worst->exceeds())
          << taskset.tasks[result.worst->claim.task].name << ": " << to_string(result.worst->observed) << " > "
          << to_string(result.worst->claim.bound);
    }
  }
  EXPECT_GT(attacked, 10U);  // otherwise nothing was tested
}

INSTANTIATE_TEST_SUITE_P(Policies, SafeUnderAttack,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority, Policy::federated,
                                           Policy::server),
                         [](const auto& policy) { return testing::test_name(policy.param); });

}  // namespace
}  // namespace rtgpu
