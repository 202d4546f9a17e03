// In steady state a run of the simulator allocates nothing. A program of its own, since it replaces operator new.
#include "analysis/simulation/simulator.h"
#include "tests/support/build.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// Not inlined: GCC would see malloc() and operator delete, or operator new and free(), and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*unused*/) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace rtgpu {
namespace {

TEST(SimulatorAllocation, NoneInSteadyState) {
  Taskset taskset = testing::load_case("gcaps-case-study.json");
  taskset.platform.gpus[0].stream_priorities = 6;
  for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp, Policy::fmlp_plus,
                              Policy::stream_priority, Policy::federated, Policy::server}) {
    Result<Simulator> simulator = Simulator::of(testing::runnable(taskset, policy), policy, WaitChoice::file);
    ASSERT_TRUE(simulator);
    const Scenario scenario = synchronous_scenario(taskset.tasks.size());
    simulator->run(scenario, Duration::seconds(20));
    const std::size_t before = allocations;
    EXPECT_GT(before, 0U);  // the counter works
    const Observation& seen = simulator->run(scenario, Duration::seconds(20));
    EXPECT_EQ(allocations - before, 0U) << to_string(policy);
    EXPECT_GT(seen.events, 1000);
  }
}

}  // namespace
}  // namespace rtgpu
