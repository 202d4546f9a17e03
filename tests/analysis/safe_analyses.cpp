#include "tests/analysis/safe_analyses.h"

#include "analysis/rta/fmlp_plus_safe.h"
#include "analysis/rta/gcaps_safe.h"
#include "analysis/rta/mpcp_safe.h"
#include "analysis/rta/stream_priority_safe.h"
#include "analysis/rta/tsg_rr_safe.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
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

Duration few_ms(std::mt19937_64& engine, std::int64_t least, std::int64_t most) {
  return Duration::milliseconds(uniform(engine, least, most));
}

Segment small_segment(std::mt19937_64& engine, bool copies, bool slices) {
  const std::int64_t kind = uniform(engine, 0, copies ? 3 : 2);
  if (kind == 0) return cpu(few_ms(engine, 0, 4));
  if (kind == 3) {
    return CopySegment{{{}, few_ms(engine, 1, 5)},
                       chance(engine, 50) ? CopyDirection::to_device : CopyDirection::to_host};
  }
  Segment segment = gpu(few_ms(engine, 0, 3), few_ms(engine, 0, 6));
  auto& work = std::get<GpuSegment>(segment);
  if (slices && chance(engine, 50)) work.slices = static_cast<int>(uniform(engine, 1, 3));
  if (chance(engine, 50)) work.block = Duration::milliseconds(1);
  return segment;
}

void add_small_overheads(std::mt19937_64& engine, Gpu& gpu) {
  const auto maybe = [&] { return chance(engine, 35) ? Duration::microseconds(250) : Duration(); };
  gpu.overheads = {.runlist_update = maybe() + maybe(),
                   .context_switch = maybe(),
                   .time_slice = few_ms(engine, 1, 3),
                   .launch = maybe(),
                   .lock = maybe()};
  gpu.stream_priorities = static_cast<int>(uniform(engine, 1, 4));
  gpu.copy_engines = static_cast<int>(uniform(engine, 1, 2));
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

Taskset small_target(std::mt19937_64& engine) {
  const std::int64_t count = uniform(engine, 2, 5);
  const std::int64_t cores = uniform(engine, 1, 3);
  const bool jitter = chance(engine, 50);
  const bool copies = chance(engine, 40);
  const bool slices = chance(engine, 30);
  const int spinning = static_cast<int>(uniform(engine, 0, 2)) * 50;
  std::vector<Task> tasks;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Segment> segments;
    for (std::int64_t rest = uniform(engine, 1, 4); rest > 0; --rest) {
      segments.push_back(small_segment(engine, copies, slices));
    }
    tasks.push_back(task("t" + std::to_string(i), few_ms(engine, 8, i < 2 ? 30 : 80), std::move(segments),
                         static_cast<int>(uniform(engine, 0, cores - 1))));
    Task& made = tasks.back();
    if (jitter && chance(engine, 50)) made.jitter = few_ms(engine, 0, made.period.count() / 2'000'000);
    if (chance(engine, 40)) made.wait = WaitMode::busy;
    if (chance(engine, spinning)) made.lock_wait = LockWait::spin;
    made.best_effort = chance(engine, 8);
  }
  Taskset taskset = make_taskset(std::move(tasks));
  if (chance(engine, 25)) {
    for (std::size_t i = taskset.tasks.size(); i > 1; --i) {
      const auto other = static_cast<std::size_t>(uniform(engine, 0, static_cast<std::int64_t>(i) - 1));
      std::swap(taskset.tasks[i - 1].gpu_priority, taskset.tasks[other].gpu_priority);
    }
  }
  add_small_overheads(engine, taskset.platform.gpus[0]);
  return taskset;
}

}  // namespace rtgpu::testing
