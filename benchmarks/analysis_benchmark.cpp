// How long it takes to analyse tasksets in memory.
#include "analysis/analysis.h"
#include "tests/support/random_taskset.h"

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
BENCHMARK_CAPTURE(analyse, gcaps_suspend, Policy::gcaps, WaitChoice::suspend)->Arg(18)->Arg(200);
BENCHMARK_CAPTURE(analyse, gcaps_busy, Policy::gcaps, WaitChoice::busy)->Arg(18)->Arg(200);
BENCHMARK_CAPTURE(analyse, tsg_rr_suspend, Policy::tsg_rr, WaitChoice::suspend)->Arg(18)->Arg(200);
BENCHMARK_CAPTURE(analyse, tsg_rr_busy, Policy::tsg_rr, WaitChoice::busy)->Arg(18)->Arg(200);

}  // namespace
}  // namespace rtgpu
