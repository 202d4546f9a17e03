// The published analysis of a GPU server: values worked out by hand.
#include "analysis/analysis.h"
#include "tests/support/build.h"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::gpu;
using testing::make_taskset;
using testing::ms;
using testing::task;
using OptionalBounds = std::vector<std::optional<Duration>>;

// The server is on the core of c.
Taskset three_cores() {
  Taskset taskset =
      make_taskset({task("h", ms(50), {cpu(ms(2)), gpu(ms(1), ms(3))}, 0),
                    task("l", ms(100), {cpu(ms(5)), gpu(ms(2), ms(8))}, 1), task("c", ms(200), {cpu(ms(10))}, 2)});
  taskset.platform.gpus[0].server_cpu = 2;
  taskset.platform.gpus[0].overheads.lock = ms(1);
  return taskset;
}

AnalysisResult published_server(const Taskset& taskset, WaitChoice wait = WaitChoice::suspend) {
  const auto result =
      analyze(taskset, {.policy = Policy::server, .variant = Variant::published, .wait = wait, .explain = true});
  EXPECT_TRUE(result);
  return result ? *result : AnalysisResult{};
}

OptionalBounds published_server_bounds(const Taskset& taskset, WaitChoice wait = WaitChoice::suspend) {
  OptionalBounds bounds;
  for (const TaskResult& each : published_server(taskset, wait).tasks) bounds.push_back(each.bound);
  return bounds;
}

TEST(PublishedServer, BoundsByHand) {
  // h: 2, a request of l, 12, and its own, 6.
  // l: 5, its own request, 12, and N(12, 0, 50) + 1 = 2 of h, 6 each.
  // c: 10, S_h = 3 and S_l = 4 twice each: in 24 ms and a jitter of 47 and of 96 there are two jobs.
  EXPECT_EQ(published_server_bounds(three_cores()), (OptionalBounds{ms(20), ms(29), ms(24)}));
}

TEST(PublishedServer, TheTermsSayWhereItWaits) {
  const AnalysisResult result = published_server(three_cores());
  const auto term = [&](std::size_t place, Term which) {
    return result.tasks[place].terms[static_cast<std::size_t>(which)];
  };
  EXPECT_EQ(term(0, Term::own), ms(6));
  EXPECT_EQ(term(0, Term::overhead), ms(2));
  EXPECT_EQ(term(0, Term::gpu_blocking), ms(12));
  EXPECT_EQ(term(1, Term::gpu_preemption), ms(12));
  EXPECT_EQ(term(2, Term::cpu_blocking), ms(14));
}

TEST(PublishedServer, TheServerIsOfNoConcernElsewhere) {
  Taskset taskset = three_cores();
  taskset.tasks[2].cpu = 1;
  taskset.platform.cpus = 4;
  taskset.platform.gpus[0].server_cpu = 3;
  // c, below l on its core: 10, and 5 of l once, with a jitter of 29 - 5.
  EXPECT_EQ(published_server_bounds(taskset), (OptionalBounds{ms(20), ms(29), ms(15)}));
  // A client that waits busily has the core until its request is done: 5 + 24.
  EXPECT_EQ(published_server_bounds(taskset, WaitChoice::busy), (OptionalBounds{ms(20), ms(29), ms(39)}));
}

TEST(PublishedServer, AWaitWithoutEndIsNotSchedulable) {
  Taskset taskset = three_cores();
  taskset.tasks[0].period = taskset.tasks[0].deadline = ms(6);  // its requests leave no time for others
  const AnalysisResult result = published_server(taskset);
  EXPECT_EQ(result.tasks[1].outcome, Outcome::not_schedulable);
  EXPECT_FALSE(result.tasks[1].bound);
}

}  // namespace
}  // namespace rtgpu
