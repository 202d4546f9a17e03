// The published analysis of federated: worked out by hand, and against a naive form of its equations.
#include "analysis/analysis.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::chance;
using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::HasSubstr;
using testing::make_taskset;
using testing::ms;
using testing::ns;
using testing::task;
using testing::uniform;
using testing::with_own_sms;

using PublishedBounds = std::vector<std::optional<Duration>>;

AnalysisResult published_of(const Taskset& taskset, WaitChoice wait = WaitChoice::file) {
  AnalysisOptions options{.policy = Policy::federated, .variant = Variant::published};
  options.wait = wait;
  options.explain = true;
  const Result<AnalysisResult> result = analyze(taskset, options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.errors().front()));
  return result ? *result : AnalysisResult{};
}

PublishedBounds published_bounds(const Taskset& taskset, WaitChoice wait = WaitChoice::file) {
  PublishedBounds bounds;
  for (const TaskResult& each : published_of(taskset, wait).tasks) bounds.push_back(each.bound);
  return bounds;
}

Segment copy_of(Duration longest) {
  return CopySegment{{longest, longest}};
}

// high: 4 of each 10, done by 5. low: CL 1, ML 6, GR 6, CL 1. Per segment 5 + 6 + 6 + 5, as a whole 14 + 12.
TEST(FederatedPublished, TheSmallerOfSegmentsAndWhole) {
  Taskset taskset = make_taskset({task("high", ms(10), {cpu(ms(4))}),
                                  task("low", ms(100), {cpu(ms(1)), copy_of(ms(6)), gpu(ms(0), ms(6)), cpu(ms(1))})});
  taskset.tasks[0].deadline = ms(5);
  taskset = with_own_sms(taskset);
  EXPECT_THAT(published_bounds(taskset), ElementsAre(ms(4), ms(22)));
  // With T - D = 0 jobs of high may follow each other: 9 + 6 + 6 + 9 in segments; as a whole 0-8, 14-18, 24-28.
  taskset.tasks[0].deadline = ms(10);
  EXPECT_THAT(published_bounds(taskset), ElementsAre(ms(4), ms(30)));
}

// The shortest time of exec keeps the two parts of h apart, where best cases are known.
TEST(FederatedPublished, ShortestTimesSeparateSegments) {
  Taskset taskset =
      make_taskset({task("h", ms(100), {cpu(ms(2)), gpu(ms(0), ms(5)), cpu(ms(2))}), task("l", ms(100), {cpu(ms(3))})});
  taskset.tasks[0].deadline = ms(50);
  EXPECT_THAT(published_bounds(with_own_sms(taskset)), ElementsAre(ms(9), ms(7)));
  std::get<CpuSegment>(taskset.tasks[1].segments[0]).time.min = ms(0);  // now they are
  EXPECT_THAT(published_bounds(with_own_sms(taskset)), ElementsAre(ms(9), ms(5)));
  // A task that waits busily is one segment, of 9.
  EXPECT_THAT(published_bounds(with_own_sms(taskset), WaitChoice::busy), ElementsAre(ms(9), ms(12)));
}

TEST(FederatedPublished, CopiesMeetOneFromBelowAndAllFromAbove) {
  const Taskset taskset = with_own_sms(make_taskset({task("a", ms(100), {copy_of(ms(2)), cpu(ms(1))}, 0),
                                                     task("b", ms(100), {copy_of(ms(3)), cpu(ms(1))}, 1),
                                                     task("c", ms(100), {copy_of(ms(5)), cpu(ms(1))}, 2)}));
  // T - D = 0, and what is around the copies of a job may take no time: they may follow each other once.
  EXPECT_THAT(published_bounds(taskset), ElementsAre(ms(8), ms(13), ms(16)));
}

TEST(FederatedPublished, WithoutTheDeadlineOfATaskAboveThereIsNoBound) {
  Taskset taskset = with_own_sms(make_taskset({task("h", ms(10), {cpu(ms(4))}), task("l", ms(100), {cpu(ms(1))})}));
  taskset.tasks[0].deadline = ms(3);
  const AnalysisResult result = published_of(taskset);
  EXPECT_EQ(result.tasks[0].outcome, Outcome::not_schedulable);
  EXPECT_EQ(result.tasks[1].outcome, Outcome::unknown);
  EXPECT_THAT(result.tasks[1].reason, HasSubstr("depends on the response time of h"));
  EXPECT_FALSE(result.schedulable);
}

// --- the equations once more, step by step

struct NaiveSegment {
  std::int64_t cost;
  std::int64_t separation;  // after it
};

// From segment h on, in a window of t: one segment after another.
std::int64_t naive_work(const std::vector<NaiveSegment>& segments, std::size_t h, std::int64_t period,
                        std::int64_t wrap, std::int64_t t) {
  std::int64_t job = 0;
  for (std::size_t j = 0; j < segments.size(); ++j) {
    job += segments[j].cost + (j + 1 < segments.size() ? segments[j].separation : 0);
  }
  std::int64_t work = 0;
  bool first_wrap = true;
  for (std::size_t j = h; t > 0;) {
    work += std::min(segments[j].cost, t);
    t -= segments[j].cost;
    if (j + 1 < segments.size()) {
      t -= segments[j++].separation;
      continue;
    }
    t -= first_wrap ? wrap : std::max<std::int64_t>(period - job, 0);
    first_wrap = false;
    j = 0;
  }
  return work;
}

struct NaiveTask {
  std::vector<NaiveSegment> on_core;
  std::vector<NaiveSegment> copies;
  std::int64_t copy_wrap = 0;
};

class NaiveFederated {
 public:
  NaiveFederated(const Taskset& taskset, bool busy) : taskset_(taskset), busy_(busy) {
    for (const Task& each : taskset.tasks) add(each);
  }

  // Priorities are those of the CPU everywhere, larger is higher. nullopt: above the deadline.
  std::optional<std::int64_t> bound(std::size_t i) {
    std::int64_t devices = gpu_of(i);
    for (const NaiveSegment& each : tasks_[i].copies) devices += copy_response(i, each.cost);
    std::int64_t by_segment = devices;
    std::int64_t core = 0;
    for (const NaiveSegment& each : tasks_[i].on_core) {
      core += each.cost;
      by_segment += on_core(i, each.cost);
    }
    const std::int64_t response = std::min(by_segment, on_core(i, devices + core)) + taskset_.tasks[i].jitter.count();
    if (response > taskset_.tasks[i].deadline.count()) return std::nullopt;
    return response;
  }

 private:
  static constexpr std::int64_t kCap = 200'000'000;

  void add(const Task& task) {
    NaiveTask made;
    made.on_core.push_back({0, 0});
    std::int64_t between = 0;  // since the last copy
    std::int64_t head = 0;
    for (const Segment& segment : task.segments) {
      if (const auto* cpu = std::get_if<CpuSegment>(&segment)) {
        made.on_core.back().cost += cpu->time.max.count();
        between += cpu->time.min.count();
      } else if (const auto* copy = std::get_if<CopySegment>(&segment)) {
        (made.copies.empty() ? head : made.copies.back().separation) = between;
        between = 0;
        made.copies.push_back({copy->time.max.count(), 0});
        made.on_core.back().separation = copy->time.min.count();
        made.on_core.push_back({0, 0});
      } else {
        const auto& work = std::get<GpuSegment>(segment);
        made.on_core.back().cost += work.misc.max.count();
        made.on_core.back().separation = work.exec_by_sms[0].time.min.count();
        between += work.misc.min.count() + work.exec_by_sms[0].time.min.count();
        made.on_core.push_back({0, 0});
      }
    }
    made.copy_wrap = (task.period - task.deadline).count() + head + between;
    tasks_.push_back(made);
  }

  bool is_above(std::size_t h, std::size_t i) const {
    const Task& a = taskset_.tasks[h];
    const Task& b = taskset_.tasks[i];
    return !a.best_effort && (b.best_effort || a.priority > b.priority);
  }

  std::int64_t gpu_of(std::size_t i) const {
    std::int64_t sum = 0;
    for (const Segment& segment : taskset_.tasks[i].segments) {
      if (const auto* work = std::get_if<GpuSegment>(&segment)) sum += work->exec_by_sms[0].time.max.count();
    }
    return sum;
  }

  std::int64_t most(const std::vector<NaiveSegment>& segments, std::size_t h, std::int64_t wrap, std::int64_t t) const {
    std::int64_t most = 0;
    for (std::size_t first = 0; first < segments.size(); ++first) {
      most = std::max(most, naive_work(segments, first, taskset_.tasks[h].period.count(), wrap, t));
    }
    return most;
  }

  std::int64_t copy_response(std::size_t i, std::int64_t cost) const {
    std::int64_t below = 0;
    for (std::size_t l = 0; l < tasks_.size(); ++l) {
      if (l == i || is_above(l, i)) continue;
      for (const NaiveSegment& each : tasks_[l].copies) below = std::max(below, each.cost);
    }
    std::int64_t response = cost + below;
    while (response < kCap) {
      std::int64_t next = cost + below;
      for (std::size_t h = 0; h < tasks_.size(); ++h) {
        if (h != i && is_above(h, i)) next += most(tasks_[h].copies, h, tasks_[h].copy_wrap, response);
      }
      if (next == response) break;
      response = next;
    }
    return response;
  }

  std::int64_t on_core(std::size_t i, std::int64_t own) const {
    std::int64_t response = own;
    while (response < kCap) {
      std::int64_t next = own;
      for (std::size_t h = 0; h < tasks_.size(); ++h) {
        const Task& above = taskset_.tasks[h];
        if (h == i || above.cpu != taskset_.tasks[i].cpu || !is_above(h, i)) continue;
        std::vector<NaiveSegment> segments = tasks_[h].on_core;
        if (busy_) {
          NaiveSegment all{gpu_of(h), 0};
          for (const NaiveSegment& each : segments) all.cost += each.cost;
          for (const NaiveSegment& each : tasks_[h].copies) all.cost += copy_response(h, each.cost);
          segments.assign(1, all);
        }
        next += most(segments, h, (above.period - above.deadline).count(), response);
      }
      if (next == response) break;
      response = next;
    }
    return response;
  }

  const Taskset& taskset_;
  bool busy_;
  std::vector<NaiveTask> tasks_;
};

Taskset system_with_copies(std::mt19937_64& engine) {
  testing::RandomOptions options;
  options.tasks = static_cast<int>(uniform(engine, 2, 7));
  options.cpus = static_cast<int>(uniform(engine, 1, 2));
  options.utilisation_percent = static_cast<int>(uniform(engine, 10, 60));
  options.best_effort_percent = 10;
  options.jitter = chance(engine, 30);
  options.constrained_deadlines = chance(engine, 50);
  options.best_case_below_worst = true;
  options.min_period_ms = 10;
  options.max_period_ms = 60;
  options.grain = Duration::microseconds(10);
  Taskset taskset = testing::random_taskset(engine, options);
  for (Task& each : taskset.tasks) {
    while (chance(engine, 30)) {
      const CopySegment segment{{Duration(), Duration::microseconds(10 * uniform(engine, 1, 150))}};
      each.segments.insert(each.segments.begin() + uniform(engine, 0, std::ssize(each.segments)), segment);
    }
  }
  return with_own_sms(taskset);
}

// Of tasks that all others are taken to meet their deadlines for; what that costs the others is tested above.
TEST(FederatedPublished, AgreesWithTheNaiveEquations) {
  const auto seed = std::random_device{}();
  int compared = 0;
  for (unsigned trial = 0; trial < 150; ++trial) {
    std::mt19937_64 engine(seed + trial);
    const Taskset taskset = system_with_copies(engine);
    if (!gives_best_cases(taskset)) continue;
    for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial << ", wait "
                                        << static_cast<int>(wait));
      NaiveFederated naive(taskset, wait == WaitChoice::busy);
      for (const TaskResult& each : published_of(taskset, wait).tasks) {
        if (each.outcome == Outcome::unknown) continue;
        const auto expected = naive.bound(each.task);
        ASSERT_EQ(each.bound ? std::optional(each.bound->count()) : std::nullopt, expected)
            << taskset.tasks[each.task].name;
        Duration sum;
        for (const Contribution& part : each.contributions) sum += part.amount;
        ASSERT_EQ(sum, each.bound.value_or(Duration()));
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace rtgpu
