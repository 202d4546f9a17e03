// The safe analysis of server: bounds that were worked out by hand, and schedules that reach them.
#include "analysis/analysis.h"
#include "analysis/simulation/simulator.h"
#include "tests/support/build.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::gpu;
using ::testing::HasSubstr;
using testing::make_taskset;
using testing::ms;
using testing::ns;
using testing::task;

Taskset served(std::vector<Task> tasks, int server_cpu, Duration lock = {}) {
  Taskset taskset = make_taskset(std::move(tasks));
  taskset.platform.cpus = std::max(taskset.platform.cpus, server_cpu + 1);
  taskset.platform.gpus[0].server_cpu = server_cpu;
  taskset.platform.gpus[0].overheads.lock = lock;
  return taskset;
}

std::vector<TaskResult> server_results(const Taskset& taskset) {
  const Result<AnalysisResult> result = analyze(taskset, {.policy = Policy::server, .explain = true});
  if (!result) throw std::runtime_error(to_string(result.errors().front()));
  return result->tasks;
}

std::vector<std::optional<Duration>> server_bounds(const Taskset& taskset) {
  std::vector<std::optional<Duration>> bounds;
  for (const TaskResult& each : server_results(taskset)) bounds.push_back(each.bound);
  return bounds;
}

std::vector<Duration> longest_seen(const Taskset& taskset, const std::vector<Duration>& offsets) {
  Result<Simulator> simulator = Simulator::of(taskset, Policy::server, WaitChoice::file);
  if (!simulator) throw std::runtime_error(to_string(simulator.errors().front()));
  Scenario scenario = synchronous_scenario(offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) scenario.tasks[i].offset = offsets[i];
  std::vector<Duration> longest;
  for (const TaskObservation& each : simulator->run(scenario, ms(90)).tasks) longest.push_back(each.max_response);
  return longest;
}

using Bounds = std::vector<std::optional<Duration>>;

// b may be served when a asks; b waits for a, which may be served once.
TEST(SafeServer, ARequestWaitsForOneBelowAndThoseAbove) {
  const Taskset taskset = served(
      {task("a", ms(100), {cpu(ms(2)), gpu(ms(1), ms(3))}, 0), task("b", ms(100), {gpu(ms(2), ms(5))}, 1)}, 2, ms(1));
  EXPECT_EQ(server_bounds(taskset), (Bounds{ms(2 + 6 + 9), ms(9 + 6)}));
  EXPECT_EQ(longest_seen(taskset, {ns(1), ms(2)}), (std::vector{ms(17) - ns(1), ms(9)}));
  const TaskResult a = server_results(taskset)[0];
  EXPECT_EQ(a.terms[static_cast<std::size_t>(Term::own)], ms(6));
  EXPECT_EQ(a.terms[static_cast<std::size_t>(Term::overhead)], ms(2));
  EXPECT_EQ(a.terms[static_cast<std::size_t>(Term::gpu_blocking)], ms(9));
}

// Whatever the server does for l delays h, though that is above l and on another core.
TEST(SafeServer, OnItsCoreTheServerDelaysAll) {
  const std::vector<Task> tasks = {task("h", ms(100), {cpu(ms(5))}, 0), task("l", ms(100), {gpu(ms(2), ms(3))}, 1)};
  EXPECT_EQ(server_bounds(served(tasks, 1, ms(1))), (Bounds{ms(5), ms(7)}));
  const Taskset here = served(tasks, 0, ms(1));
  EXPECT_EQ(server_bounds(here), (Bounds{ms(5 + 3 + 1), ms(7)}));
  EXPECT_EQ(longest_seen(here, {ms(0), ms(0)}), (std::vector{ms(9), ms(7)}));
  EXPECT_EQ(server_results(here)[0].terms[static_cast<std::size_t>(Term::cpu_blocking)], ms(4));
}

// On the core of the server misc is the server's, above h.
TEST(SafeServer, MiscOfAClientBelowOnThatCoreBlocksOnce) {
  const std::vector<Task> tasks = {task("h", ms(50), {cpu(ms(20))}, 0),
                                   task("l", ms(100), {gpu(ms(3), ms(1)), gpu(ms(2), ms(1))}, 0)};
  EXPECT_EQ(server_bounds(served(tasks, 0))[0], ms(20 + 3));
  EXPECT_EQ(longest_seen(served(tasks, 0), {ns(1), ms(0)})[0], ms(23) - ns(1));
  EXPECT_EQ(server_bounds(served(tasks, 1))[0], ms(20));
}

// Released at 50, while i is being woken, h has the core before and after it.
TEST(SafeServer, WhatItsOwnServiceHeldBackComesBeforeItGoesOn) {
  const Taskset taskset =
      served({task("h", ms(10), {cpu(ms(2))}, 0), task("i", ms(100), {gpu(ms(3), ms(42)), cpu(ms(6))}, 0)}, 0, ms(3));
  EXPECT_EQ(server_bounds(taskset)[1], ms(57 + 2 + 4));
  EXPECT_EQ(longest_seen(taskset, {ms(0), ms(0)})[1], ms(63));
}

// While i is served for its first request, a and b ask for it: both go before the second, and a comes again.
TEST(SafeServer, WhatTheTaskKeptFromTheServerComesBeforeItsNextRequest) {
  const Taskset taskset = served({task("a", ms(17), {gpu(ms(3), ms(5))}, 0), task("b", ms(25), {gpu(ms(3), ms(4))}, 2),
                                  task("i", ms(100), {gpu(ms(0), ms(5)), gpu(ms(1), ms(1))}, 1)},
                                 3);
  const auto bound = server_bounds(taskset)[2];
  ASSERT_TRUE(bound);
  Duration longest;
  for (int a = 0; a < 17; ++a) {
    for (int b = 0; b < 25; ++b) longest = std::max(longest, longest_seen(taskset, {ms(a), ms(b), ns(1)})[2]);
  }
  EXPECT_GT(longest, ms(40));
  EXPECT_LE(longest, *bound);
}

TEST(SafeServer, ABusilyWaitingClientHoldsItsCoreWhileItIsServed) {
  Taskset taskset = served({task("h", ms(100), {gpu(ms(1), ms(4))}, 0), task("l", ms(100), {cpu(ms(5))}, 0)}, 1, ms(1));
  EXPECT_EQ(server_bounds(taskset), (Bounds{ms(7), ms(5)}));
  taskset.tasks[0].wait = WaitMode::busy;
  EXPECT_EQ(server_bounds(taskset), (Bounds{ms(7), ms(12)}));
  EXPECT_EQ(longest_seen(taskset, {ms(0), ms(0)})[1], ms(12));
  taskset.platform.gpus[0].server_cpu = 0;  // the server's work for h is part of that
  EXPECT_EQ(server_bounds(taskset), (Bounds{ms(7), ms(12)}));
}

// Its jobs may pile up, and then be served one after another.
TEST(SafeServer, ForATaskWithoutABoundTheServerMayWorkWithoutEnd) {
  Taskset taskset = served({task("h", ms(100), {cpu(ms(5))}, 0), task("k", ms(100), {cpu(ms(5))}, 1),
                            task("l", ms(100), {gpu(ms(2), ms(3))}, 1)},
                           0);
  taskset.tasks[2].best_effort = true;
  const std::vector<TaskResult> results = server_results(taskset);
  EXPECT_EQ(results[0].outcome, Outcome::unknown);
  EXPECT_THAT(results[0].reason, HasSubstr("l, which is best-effort"));
  EXPECT_EQ(results[1].bound, ms(5));
  taskset.tasks[2].cpu = 0;  // there it asks for nothing while h is ready
  EXPECT_EQ(server_bounds(taskset), (Bounds{ms(7), ms(5)}));
  taskset.tasks[2].cpu = 1;
  std::get<GpuSegment>(taskset.tasks[2].segments[0]).misc = {};  // and here it has none
  EXPECT_EQ(server_bounds(taskset), (Bounds{ms(5), ms(5)}));
}

// Slices are no boundaries; their launches are paid.
TEST(SafeServer, ServiceIsNotInterruptedBetweenSlices) {
  Taskset taskset = served({task("a", ms(100), {gpu(ms(0), ms(2))}, 0), task("b", ms(100), {gpu(ms(0), ms(6))}, 1)}, 2);
  std::get<GpuSegment>(taskset.tasks[1].segments[0]).slices = 3;
  taskset.platform.gpus[0].overheads.launch = ms(1);
  EXPECT_EQ(server_bounds(taskset), (Bounds{ms(10), ms(10)}));
  EXPECT_EQ(longest_seen(taskset, {ns(1), ms(0)})[0], ms(10) - ns(1));
}

TEST(SafeServer, GpuPrioritiesAreSearched) {
  Taskset taskset = served({task("a", ms(100), {gpu(ms(0), ms(20))}, 0), task("b", ms(100), {gpu(ms(0), ms(20))}, 1),
                            task("c", ms(100), {gpu(ms(0), ms(20))}, 2)},
                           3);
  taskset.tasks[2].deadline = ms(45);
  const auto given = analyze(taskset, {.policy = Policy::server});
  ASSERT_TRUE(given);
  EXPECT_FALSE(given->schedulable);  // c waits for both
  const auto searched = analyze(taskset, {.policy = Policy::server, .gpu_priorities = GpuPriorities::search});
  ASSERT_TRUE(searched);
  EXPECT_EQ(searched->gpu_priority_search, SearchOutcome::found);
  EXPECT_TRUE(searched->schedulable);
}

}  // namespace
}  // namespace rtgpu
