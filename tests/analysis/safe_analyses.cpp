#include "tests/analysis/safe_analyses.h"

#include "analysis/rta/fmlp_plus_safe.h"
#include "analysis/rta/gcaps_safe.h"
#include "analysis/rta/mpcp_safe.h"
#include "analysis/rta/stream_priority_safe.h"
#include "analysis/rta/tsg_rr_safe.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <variant>

#include <gtest/gtest.h>

namespace rtgpu::testing {
namespace {

constexpr std::array kSafe = {SafeAnalysis{Policy::gcaps, &build_gcaps_safe},
                              SafeAnalysis{Policy::gcaps_wc, &build_gcaps_wc_safe},
                              SafeAnalysis{Policy::tsg_rr, &build_tsg_rr_safe},
                              SafeAnalysis{Policy::mpcp, &build_mpcp_safe},
                              SafeAnalysis{Policy::fmlp_plus, &build_fmlp_plus_safe},
                              SafeAnalysis{Policy::stream_priority, &build_stream_priority_safe}};

void vary(std::mt19937_64& engine, Taskset& taskset) {
  Overheads& overheads = taskset.platform.gpus[0].overheads;
  overheads.time_slice = Duration::microseconds(uniform(engine, 200, 2000));
  taskset.platform.gpus[0].stream_priorities = static_cast<int>(uniform(engine, 1, 6));
  if (chance(engine, 30)) overheads.runlist_update = overheads.lock = Duration();
  const int spinning = static_cast<int>(uniform(engine, 0, 2)) * 50;
  for (Task& each : taskset.tasks) {
    if (chance(engine, spinning)) each.lock_wait = LockWait::spin;
    if (chance(engine, 15)) {
      const CopySegment copy{{{}, Duration::microseconds(uniform(engine, 100, 1500))}};
      each.segments.insert(each.segments.begin() + uniform(engine, 0, std::ssize(each.segments)), copy);
    }
    for (Segment& segment : each.segments) {
      auto* work = std::get_if<GpuSegment>(&segment);
      if (work == nullptr) continue;
      if (chance(engine, 50)) work->block = Duration::microseconds(uniform(engine, 50, 1000));
      if (chance(engine, 40)) work->slices = static_cast<int>(uniform(engine, 1, 4));
    }
  }
}

}  // namespace

std::span<const SafeAnalysis> safe_analyses() {
  return kSafe;
}

std::vector<TaskResult> safe_bounds(const Taskset& taskset, const AnalysisOptions& options) {
  const auto* analysis = std::ranges::find(kSafe, options.policy, &SafeAnalysis::policy);
  const Result<StagedModel> model = StagedModel::of(taskset, options.wait);
  EXPECT_TRUE(model) << (model ? "" : to_string(model.errors().front()));
  if (!model) return {};
  WorkBudget budget;
  return bound_all_safe(*model, taskset, analysis->build, options, budget);
}

std::vector<TaskResult> safe_bounds(const Taskset& taskset, Policy policy, WaitChoice wait) {
  AnalysisOptions options;
  options.policy = policy;
  options.wait = wait;
  return safe_bounds(taskset, options);
}

std::string test_name(Policy policy) {
  std::string name(to_string(policy));
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == '+'; }, '_');
  return name;
}

Taskset random_target(std::mt19937_64& engine) {
  RandomOptions options;
  options.tasks = static_cast<int>(uniform(engine, 2, 9));
  options.cpus = static_cast<int>(uniform(engine, 1, 3));
  options.utilisation_percent = static_cast<int>(uniform(engine, 5, 45));
  options.gpu_percent = 70;
  options.best_effort_percent = 10;
  options.waits = RandomOptions::Waits::mixed;
  options.jitter = chance(engine, 20);
  options.constrained_deadlines = chance(engine, 20);
  options.separate_gpu_priorities = chance(engine, 15);
  options.order = chance(engine, 80) ? RandomOptions::Order::deadline_monotonic : RandomOptions::Order::random;
  options.overheads = true;
  options.min_period_ms = 10;
  options.max_period_ms = 60;
  Taskset taskset = random_taskset(engine, options);
  vary(engine, taskset);
  return taskset;
}

}  // namespace rtgpu::testing
