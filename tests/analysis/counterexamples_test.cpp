// The counterexamples that are shipped: each exceeds a published bound, and no safe one.
#include "analysis/analysis.h"
#include "analysis/falsification/counterexample.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using Counterexamples = std::map<std::string, Counterexample>;

Counterexamples all_shipped() {
  Counterexamples all;
  for (const auto& entry : std::filesystem::directory_iterator(RTGPU_COUNTEREXAMPLES)) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const Result<Counterexample> read = read_counterexample(text, entry.path().string());
    EXPECT_TRUE(read) << entry.path() << (read ? "" : to_string(read.errors().front()));
    if (read) all.emplace(entry.path().stem().string(), *read);
  }
  return all;
}

TEST(ShippedCounterexamples, AreTheKnownOnes) {
  std::vector<std::string> names;
  for (const auto& [name, counterexample] : all_shipped()) names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("federated-core-between-devices", "fmlp-plus-exec-from-above",
                                            "fmlp-plus-requests-from-below", "gcaps-busy-cpu-only", "gcaps-held-misc",
                                            "gcaps-preempted-keeper", "gcaps-updates-from-below", "mpcp-late-sections",
                                            "tsg-rr-own-switches"));
}

TEST(ShippedCounterexamples, ReplayExactly) {
  for (const auto& [name, counterexample] : all_shipped()) {
    SCOPED_TRACE(name);
    const Result<Duration> seen = replay(counterexample);
    ASSERT_TRUE(seen);
    EXPECT_EQ(*seen, counterexample.observed) << to_string(*seen);
    EXPECT_GT(*seen, counterexample.bound);
    EXPECT_FALSE(counterexample.why.empty());
  }
}

// gcaps, busy, as printed, of a task that does not use the GPU on a core without others but `waiter`: C + (C + Gm + 2
// eta epsilon) of that, once.
Duration bound_as_printed(const Taskset& taskset) {
  Duration sum;
  for (const Task& task : taskset.tasks) {
    for (const Segment& segment : task.segments) {
      if (const auto* cpu = std::get_if<CpuSegment>(&segment)) sum += cpu->time.max;
    }
  }
  return sum;
}

TEST(ShippedCounterexamples, ExceedTheBoundThatIsPublished) {
  for (const auto& [name, counterexample] : all_shipped()) {
    SCOPED_TRACE(name);
    if (name == "gcaps-busy-cpu-only") {
      EXPECT_EQ(counterexample.bound, bound_as_printed(counterexample.taskset));
      continue;
    }
    const auto published =
        analyze(counterexample.taskset, {.policy = counterexample.policy, .variant = Variant::published});
    ASSERT_TRUE(published);
    EXPECT_TRUE(published->schedulable);
    EXPECT_EQ(published->tasks[counterexample.task].bound, counterexample.bound);
  }
}

TEST(ShippedCounterexamples, DoNotExceedASafeBound) {
  for (const auto& [name, counterexample] : all_shipped()) {
    SCOPED_TRACE(name);
    const auto safe = analyze(counterexample.taskset, {.policy = counterexample.policy});
    ASSERT_TRUE(safe);
    const TaskResult& task = safe->tasks[counterexample.task];
    ASSERT_TRUE(task.bound) << task.reason;
    EXPECT_GE(*task.bound, counterexample.observed);
  }
}

}  // namespace
}  // namespace rtgpu
