// The safe analyses: values worked out by hand, and random attacks by the simulator, which must never exceed a bound.
#include "analysis/safe.h"

#include "analysis/analysis.h"
#include "analysis/rta/fmlp_plus_safe.h"
#include "analysis/rta/gcaps_safe.h"
#include "analysis/rta/mpcp_safe.h"
#include "analysis/rta/stream_priority_safe.h"
#include "analysis/rta/tsg_rr_safe.h"
#include "analysis/simulation/simulator.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::chance;
using testing::cpu;
using testing::gpu;
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using testing::RandomOptions;
using testing::task;
using testing::uniform;

struct SafeAnalysis {
  Policy policy;
  BuildWindowed build;
};
constexpr std::array kSafe = {SafeAnalysis{Policy::gcaps, &build_gcaps_safe},
                              SafeAnalysis{Policy::gcaps_wc, &build_gcaps_wc_safe},
                              SafeAnalysis{Policy::tsg_rr, &build_tsg_rr_safe},
                              SafeAnalysis{Policy::mpcp, &build_mpcp_safe},
                              SafeAnalysis{Policy::fmlp_plus, &build_fmlp_plus_safe},
                              SafeAnalysis{Policy::stream_priority, &build_stream_priority_safe}};

std::vector<TaskResult> bounds_of(const Taskset& taskset, Policy policy, WaitChoice wait = WaitChoice::file,
                                  bool explain = false) {
  const auto* analysis = std::ranges::find(kSafe, policy, &SafeAnalysis::policy);
  const Result<StagedModel> model = StagedModel::of(taskset, wait);
  EXPECT_TRUE(model);
  AnalysisOptions options;
  options.policy = policy;
  options.explain = explain;
  WorkBudget budget;
  return bound_all_safe(*model, taskset, analysis->build, options, budget);
}

TEST(Safe, HeldMiscIsChargedUnderGcapsOnly) {
  const Taskset taskset = load_case("gcaps-held-misc.json");
  EXPECT_EQ(bounds_of(taskset, Policy::gcaps)[1].bound, ms(20));
  EXPECT_EQ(bounds_of(taskset, Policy::gcaps_wc)[1].bound, ms(15));
}

TEST(Safe, OwnSwitchesAreChargedUnderTsgRr) {
  const auto bound = bounds_of(load_case("tsg-rr-switch.json"), Policy::tsg_rr)[0].bound;
  ASSERT_TRUE(bound);
  EXPECT_GE(*bound, Duration::microseconds(23'900));
  EXPECT_LE(*bound, ms(24));
}

TEST(Safe, PlainFixedPrioritiesAreExact) {
  const Taskset taskset = make_taskset({task("a", ms(4), {cpu(ms(1))}), task("b", ms(5), {cpu(ms(1))}),
                                        task("c", ms(9), {cpu(ms(3))}), task("d", ms(18), {cpu(ms(3))})});
  for (const SafeAnalysis& analysis : kSafe) {
    if (analysis.policy == Policy::stream_priority) continue;  // needs levels
    const auto results = bounds_of(taskset, analysis.policy);
    EXPECT_EQ(results[2].bound, ms(7)) << to_string(analysis.policy);
    EXPECT_EQ(results[3].bound, ms(18)) << to_string(analysis.policy);
  }
}

TEST(Safe, FullUtilisationWithHarmonicPeriodsIsAccepted) {
  const auto results =
      bounds_of(make_taskset({task("a", ms(10), {cpu(ms(5))}), task("b", ms(10), {cpu(ms(5))})}), Policy::gcaps);
  EXPECT_EQ(results[0].bound, ms(5));
  EXPECT_EQ(results[1].bound, ms(10));
}

TEST(Safe, ReleaseJitterCountsAgainstTheDeadline) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(5))})});
  taskset.tasks[0].jitter = ms(8);
  EXPECT_FALSE(bounds_of(taskset, Policy::gcaps)[0].schedulable());
  taskset.tasks[0].jitter = ms(5);
  EXPECT_EQ(bounds_of(taskset, Policy::gcaps)[0].bound, ms(10));
}

TEST(Safe, ASpinningLockWaitIsCharged) {
  Taskset taskset = make_taskset({task("h", ms(20), {cpu(ms(2)), gpu(ms(0), ms(2))}), task("l", ms(21), {cpu(ms(6))}),
                                  task("r", ms(200), {cpu(ms(1)), gpu(ms(0), ms(11))}, 1)});
  taskset.tasks[0].wait = WaitMode::busy;
  const auto suspending = bounds_of(taskset, Policy::mpcp)[1].bound;
  ASSERT_TRUE(suspending);
  EXPECT_GE(*suspending, ms(10));
  EXPECT_LE(*suspending, ms(14));
  taskset.tasks[0].lock_wait = LockWait::spin;
  EXPECT_FALSE(bounds_of(taskset, Policy::mpcp)[1].schedulable());  // seen at 24.9 ms
}

TEST(Safe, RoundRobinOverloadIsRefused) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(9))}), task("b", ms(100), {cpu(ms(40))}),
                                  task("c", ms(200), {cpu(ms(80)), gpu(ms(1), ms(2))})});
  taskset.platform.gpus[0].overheads.time_slice = ms(1);
  const auto results = bounds_of(taskset, Policy::tsg_rr);
  EXPECT_FALSE(std::ranges::all_of(results, &TaskResult::schedulable));
}

TEST(Safe, AGpuKeptFromATaskThatHoldsItsCoreIsADeadlock) {
  // On one core a is above b, on the GPU below: a waits busily for the GPU that b keeps, and b for the core.
  Taskset taskset = make_taskset(
      {task("a", ms(100), {cpu(ms(1)), gpu(ms(1), ms(10))}), task("b", ms(100), {cpu(ms(1)), gpu(ms(1), ms(10))})});
  std::swap(taskset.tasks[0].gpu_priority, taskset.tasks[1].gpu_priority);
  for (const TaskResult& result : bounds_of(taskset, Policy::gcaps, WaitChoice::busy)) {
    EXPECT_FALSE(result.bound);
  }
  EXPECT_TRUE(bounds_of(taskset, Policy::gcaps_wc, WaitChoice::busy)[0].schedulable());
}

// Found by random attack: misc of a task whose exec is in slices comes late in one job and early in the next, however
// much later the end of exec may be.
TEST(Safe, MiscOfASlicedSegmentCarriesInByItsOwnEnd) {
  Taskset taskset = make_taskset({task("h", ms(20), {gpu(ms(1), ms(2))}, 0), task("i", ms(100), {cpu(ms(19))}, 0),
                                  task("l", ms(100), {gpu(ms(0), ms(8))}, 1)});
  std::get<GpuSegment>(taskset.tasks[0].segments[0]).slices = 2;
  // h waits up to 8 ms for l: misc of two of its jobs fits into 20 ms.
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[0].bound, ms(11));
  EXPECT_EQ(bounds_of(taskset, Policy::mpcp)[1].bound, ms(21));
}

// With epsilon = 0 the safe analysis of gcaps-wc is never larger than the published one of gcaps.
TEST(Safe, GcapsWcWithoutUpdatesDominatesThePublishedBound) {
  const auto seed = std::random_device{}();
  for (unsigned trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial);
    std::mt19937_64 engine(seed + trial);
    RandomOptions options;
    options.tasks = static_cast<int>(uniform(engine, 2, 12));
    options.cpus = static_cast<int>(uniform(engine, 1, 4));
    options.utilisation_percent = static_cast<int>(uniform(engine, 5, 50));
    const Taskset taskset = testing::random_taskset(engine, options);
    for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
      AnalysisOptions request{.variant = Variant::published};
      request.wait = wait;
      const Result<AnalysisResult> published = analyze(taskset, request);
      ASSERT_TRUE(published);
      const std::vector<TaskResult> safe = bounds_of(taskset, Policy::gcaps_wc, wait);
      for (std::size_t i = 0; i < safe.size(); ++i) {
        if (!published->tasks[i].bound) continue;
        ASSERT_TRUE(safe[i].bound) << taskset.tasks[safe[i].task].name;
        ASSERT_LE(*safe[i].bound, *published->tasks[i].bound) << taskset.tasks[safe[i].task].name;
      }
    }
  }
}

}  // namespace
}  // namespace rtgpu
