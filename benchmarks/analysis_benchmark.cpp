// How long it takes to analyse and to judge tasksets in memory.
#include "analysis/analysis.h"
#include "analysis/judge.h"
#include "taskset/generators/gcaps_table3.h"
#include "taskset/generators/random.h"
#include "tests/support/random_taskset.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <benchmark/benchmark.h>

namespace rtgpu {
namespace {

void analyse(benchmark::State& state, Policy policy, WaitChoice wait) {
  std::mt19937_64 engine(1);
  testing::RandomOptions options;
  options.tasks = static_cast<int>(state.range(0));
  options.cpus = 4;
  options.utilisation_percent = 30;
  options.overheads = true;
  std::vector<Taskset> tasksets;
  for (int i = 0; i < 64; ++i) {
    tasksets.push_back(testing::random_taskset(engine, options));
    tasksets.back().platform.gpus.front().overheads.time_slice = Duration::milliseconds(1);
  }
  AnalysisOptions request{.variant = Variant::published};
  request.policy = policy;
  request.wait = wait;
  std::size_t next = 0;
  for (auto _ : state) {
    const Result<AnalysisResult> result = analyze(tasksets[next++ % tasksets.size()], request);
    if (!result) state.SkipWithError("the analysis refuses the taskset");
    benchmark::DoNotOptimize(&result);
  }
  state.SetItemsProcessed(state.iterations());
}
// gcaps-table3 with its default parameters, and 18 tasks.
std::vector<Taskset> table3_tasksets() {
  std::vector<Taskset> tasksets;
  for (std::uint64_t index = 0; tasksets.size() < 1000; ++index) {
    tasksets.push_back(generate(GcapsTable3{}, seed_of(1, index)));
    if (tasksets.back().tasks.size() != 18) tasksets.pop_back();
  }
  return tasksets;
}

void judge(benchmark::State& state, AnalysisOptions options) {
  const std::vector<Taskset> tasksets = table3_tasksets();
  Judge judge;
  std::size_t next = 0;
  std::int64_t schedulable = 0;
  for (auto _ : state) {
    judge.take(tasksets[next++ % tasksets.size()]);
    const Result<bool> verdict = judge.is_schedulable(options);
    if (!verdict) state.SkipWithError("the analysis refuses the taskset");
    schedulable += verdict && *verdict ? 1 : 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["schedulable"] = static_cast<double>(schedulable) / static_cast<double>(state.iterations());
}

// How an analysis grows with the number of tasks: 0.2 a core on four cores, in small tasks, with short overheads, so
// that most tasksets are schedulable and no early end helps.
void grow(benchmark::State& state, Policy policy) {
  GcapsTable3 parameters;
  parameters.tasks = static_cast<int>(state.range(0));
  const std::int64_t each = 800'000 / state.range(0);
  parameters.task_utilisation = {each, each};
  parameters.runlist_update = Duration::microseconds(10);
  parameters.context_switch = Duration::microseconds(10);
  parameters.stream_priorities = 6;
  std::vector<Taskset> tasksets;
  for (std::uint64_t index = 0; index < 16; ++index) tasksets.push_back(generate(parameters, seed_of(1, index)));
  Judge judge;
  std::size_t next = 0;
  std::int64_t schedulable = 0;
  for (auto _ : state) {
    judge.take(tasksets[next++ % tasksets.size()]);
    const Result<bool> verdict = judge.is_schedulable({.policy = policy, .wait = WaitChoice::suspend});
    if (!verdict) state.SkipWithError("the analysis refuses the taskset");
    schedulable += verdict && *verdict ? 1 : 0;
  }
  state.counters["schedulable"] = static_cast<double>(schedulable) / static_cast<double>(state.iterations());
}
BENCHMARK_CAPTURE(grow, gcaps, Policy::gcaps)->RangeMultiplier(2)->Range(25, 200)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(grow, gcaps_wc, Policy::gcaps_wc)->RangeMultiplier(2)->Range(25, 200)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(grow, tsg_rr, Policy::tsg_rr)->RangeMultiplier(2)->Range(25, 200)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(grow, mpcp, Policy::mpcp)->RangeMultiplier(2)->Range(25, 200)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(grow, fmlp_plus, Policy::fmlp_plus)
    ->RangeMultiplier(2)
    ->Range(25, 200)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(grow, stream_priority, Policy::stream_priority)
    ->RangeMultiplier(2)
    ->Range(25, 200)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(grow, server, Policy::server)->RangeMultiplier(2)->Range(25, 200)->Unit(benchmark::kMicrosecond);

constexpr AnalysisOptions options_of(Policy policy, Variant variant) {
  return {.policy = policy, .variant = variant, .wait = WaitChoice::suspend};
}
BENCHMARK_CAPTURE(judge, gcaps_safe, options_of(Policy::gcaps, Variant::safe));
BENCHMARK_CAPTURE(judge, gcaps_wc_safe, options_of(Policy::gcaps_wc, Variant::safe));
BENCHMARK_CAPTURE(judge, mpcp_safe, options_of(Policy::mpcp, Variant::safe));
BENCHMARK_CAPTURE(judge, gcaps_published, options_of(Policy::gcaps, Variant::published));
BENCHMARK_CAPTURE(judge, mpcp_published, options_of(Policy::mpcp, Variant::published));

BENCHMARK_CAPTURE(analyse, gcaps_suspend, Policy::gcaps, WaitChoice::suspend)->Arg(18)->Arg(200);
BENCHMARK_CAPTURE(analyse, gcaps_busy, Policy::gcaps, WaitChoice::busy)->Arg(18)->Arg(200);
BENCHMARK_CAPTURE(analyse, tsg_rr_suspend, Policy::tsg_rr, WaitChoice::suspend)->Arg(18)->Arg(200);
BENCHMARK_CAPTURE(analyse, tsg_rr_busy, Policy::tsg_rr, WaitChoice::busy)->Arg(18)->Arg(200);

}  // namespace
}  // namespace rtgpu
