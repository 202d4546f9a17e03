// A judge answers what analyze() answers, whatever it has judged before.
#include "analysis/judge.h"

#include "taskset/generators/gcaps_table3.h"
#include "taskset/generators/random.h"
#include "tests/support/attack_targets.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

std::vector<AnalysisOptions> all_options() {
  std::vector<AnalysisOptions> all;
  for (const AnalysisEntry& entry : analyses()) {
    for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy, WaitChoice::file}) {
      all.push_back({.policy = entry.policy, .variant = entry.variant, .wait = wait});
      if (wait != WaitChoice::suspend) continue;
      all.push_back({.policy = entry.policy, .variant = entry.variant, .wait = wait, .jitter = JitterSource::deadline});
      if (!entry.gpu_priority_search) continue;
      all.push_back({.policy = entry.policy, .variant = entry.variant, .gpu_priorities = GpuPriorities::search});
    }
  }
  return all;
}

Taskset table3_at(std::int64_t utilisation, std::uint64_t seed) {
  GcapsTable3 parameters;
  parameters.utilisation_per_cpu = {utilisation, utilisation};
  parameters.sms = 24;
  Taskset taskset = generate(parameters, seed);
  taskset.platform.gpus.front().stream_priorities = 6;
  return taskset;
}

// Counts the verdicts by kind, so that a test can say that it saw both.
struct Verdicts {
  int yes = 0;
  int no = 0;
};

void expect_same(Judge& judge, const Taskset& taskset, Verdicts& seen) {
  judge.take(taskset);
  for (const AnalysisOptions& options : all_options()) {
    // The safe ones search for long.
    const bool takes_long = options.gpu_priorities == GpuPriorities::search && options.variant == Variant::safe;
    if (takes_long && taskset.tasks.size() > 8) continue;
    const Result<AnalysisResult> result = analyze(taskset, options);
    const Result<bool> verdict = judge.is_schedulable(options);
    ASSERT_EQ(static_cast<bool>(verdict), static_cast<bool>(result));
    if (!result) {
      EXPECT_EQ(verdict.errors().front().expected, result.errors().front().expected);
      continue;
    }
    EXPECT_EQ(*verdict, result->schedulable)
        << to_string(options.policy) << ", " << to_string(options.variant) << ", " << to_string(result->wait);
    ++(result->schedulable ? seen.yes : seen.no);
  }
}

TEST(Judge, AnswersAsTheAnalysesDo) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Judge judge;
  Verdicts seen;
  for (unsigned trial = 0; trial < 8; ++trial) {
    SCOPED_TRACE(::testing::Message() << "trial " << trial);
    expect_same(judge, table3_at(50'000 + 60'000 * trial, seed_of(seed, trial)), seen);
    std::mt19937_64 engine(seed + trial);
    Taskset target = testing::attack_target(engine);
    testing::divide_sms(engine, target);
    expect_same(judge, target, seen);
    const Taskset small = testing::small_target(engine);
    if (validate(small).empty()) expect_same(judge, small, seen);
  }
  EXPECT_GT(seen.yes, 0);
  EXPECT_GT(seen.no, 0);
}

TEST(Judge, RefusesWhatTheAnalysisRefusesAndGoesOn) {
  Taskset unsliced = table3_at(100'000, 1);
  unsliced.platform.gpus.front().overheads.time_slice = Duration();
  const Taskset sliced = table3_at(100'000, 1);
  Judge judge;
  judge.take(unsliced);
  EXPECT_FALSE(judge.is_schedulable({.policy = Policy::tsg_rr}));
  EXPECT_TRUE(judge.is_schedulable({.policy = Policy::mpcp}).value());
  judge.take(sliced);
  EXPECT_TRUE(judge.is_schedulable({.policy = Policy::tsg_rr}).value());
}

}  // namespace
}  // namespace rtgpu
