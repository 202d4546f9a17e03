// How many events a second the simulator handles.
#include "analysis/simulation/simulator.h"
#include "tests/support/build.h"

#include <cstdint>

#include <benchmark/benchmark.h>

namespace rtgpu {
namespace {

void simulate_case_study(benchmark::State& state, Policy policy) {
  const Taskset taskset = testing::load_case("gcaps-case-study.json");
  Result<Simulator> simulator = Simulator::of(taskset, policy, WaitChoice::file);
  Scenario scenario = synchronous_scenario(taskset.tasks.size());
  std::int64_t events = 0;
  for (auto _ : state) {
    ++scenario.seed;
    events += simulator->run(scenario, Duration::seconds(10)).events;
  }
  state.SetItemsProcessed(events);
}
BENCHMARK_CAPTURE(simulate_case_study, gcaps, Policy::gcaps);
BENCHMARK_CAPTURE(simulate_case_study, gcaps_wc, Policy::gcaps_wc);
BENCHMARK_CAPTURE(simulate_case_study, tsg_rr, Policy::tsg_rr);
BENCHMARK_CAPTURE(simulate_case_study, mpcp, Policy::mpcp);

}  // namespace
}  // namespace rtgpu
