// The published recurrences beyond the known answers: pitfalls, refusals, mixed wait modes, failures.
#include "analysis/analysis.h"
#include "tests/support/build.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::cpu;
using testing::gpu;
using ::testing::HasSubstr;
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using testing::task;

AnalysisResult published_result(const Taskset& taskset, AnalysisOptions options = {.variant = Variant::published}) {
  EXPECT_TRUE(validate(taskset).empty());
  Result<AnalysisResult> result = analyze(taskset, options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.errors().front()));
  return result ? *result : AnalysisResult{};
}

Error refusal(const Taskset& taskset, AnalysisOptions options = {.variant = Variant::published}) {
  const Result<AnalysisResult> result = analyze(taskset, options);
  EXPECT_FALSE(result);
  return result ? Error{} : result.errors().front();
}

TEST(Published, PlainFixedPriorityVectors) {
  const AnalysisResult result =
      published_result(make_taskset({task("a", ms(4), {cpu(ms(1))}), task("b", ms(5), {cpu(ms(1))}),
                                     task("c", ms(9), {cpu(ms(3))}), task("d", ms(18), {cpu(ms(3))})}));
  EXPECT_EQ(result.tasks[0].bound, ms(1));
  EXPECT_EQ(result.tasks[1].bound, ms(2));
  EXPECT_EQ(result.tasks[2].bound, ms(7));
  EXPECT_EQ(result.tasks[3].bound, ms(18));
}

TEST(Published, SuspensionOfAHigherTaskIsJitterOfItsResponseLessItsDemand) {
  // (C 1, T 2), (C 5, suspends 5, T 20), (C 1): 22, where the suspension itself as jitter would give 12.
  const AnalysisResult result =
      published_result(make_taskset({task("a", ms(2), {cpu(ms(1))}), task("b", ms(20), {cpu(ms(5)), gpu(ms(0), ms(5))}),
                                     task("c", ms(100), {cpu(ms(1))})}));
  EXPECT_EQ(result.tasks[1].bound, ms(20));
  EXPECT_EQ(result.tasks[2].bound, ms(22));
}

// GPU priorities against CPU priorities, in a circle: h is bounded while the deadline of k stands for its response. k
// fails, so that h has no bound after all; nor has i, which knows nothing of k but used the bound of h.
TEST(Published, ABoundThatIsWithdrawnTakesThoseWithItThatUsedIt) {
  Taskset circle =
      make_taskset({task("h", ms(100), {cpu(ms(2)), gpu(ms(1), ms(2))}, 0), task("i", ms(100), {cpu(ms(1))}, 0),
                    task("m", ms(100), {cpu(ms(12)), gpu(ms(1), ms(1))}, 1),
                    task("k", ms(20), {cpu(ms(10)), gpu(ms(1), ms(8))}, 1)});
  const std::vector<int> cpu_priorities = {7, 1, 6, 2};
  const std::vector<int> gpu_priorities = {5, 1, 4, 9};
  for (std::size_t index = 0; index < circle.tasks.size(); ++index) {
    circle.tasks[index].priority = cpu_priorities[index];
    circle.tasks[index].gpu_priority = gpu_priorities[index];
  }
  const AnalysisResult result = published_result(circle);
  for (const TaskResult& each : result.tasks) EXPECT_FALSE(each.bound) << each.task;
  EXPECT_EQ(result.tasks[3].outcome, Outcome::not_schedulable);
  EXPECT_EQ(result.tasks[0].reason, "depends on the response time of k, which has no bound");
  EXPECT_EQ(result.tasks[1].reason, "depends on the response time of h, which has no bound");
}

TEST(Published, ReleaseJitterCountsAgainstTheDeadline) {
  Taskset late = make_taskset({task("a", ms(10), {cpu(ms(5))})});
  late.tasks[0].jitter = ms(8);
  EXPECT_EQ(published_result(late).tasks[0].outcome, Outcome::not_schedulable);
  late.tasks[0].jitter = ms(5);
  EXPECT_EQ(published_result(late).tasks[0].bound, ms(10));
}

TEST(Published, ReleaseJitterOfAHigherTaskBringsItsJobsCloser) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(3))}), task("b", ms(50), {cpu(ms(6))})});
  EXPECT_EQ(published_result(taskset).tasks[1].bound, ms(9));
  taskset.tasks[0].jitter = ms(2);  // a window of 9 ms and 2 ms of jitter hold two releases
  EXPECT_EQ(published_result(taskset).tasks[1].bound, ms(12));
}

TEST(Published, RoundRobinCountsCpuOnlyHigherTasks) {
  // A published script accepts this; its core is overloaded.
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(9))}), task("b", ms(100), {cpu(ms(40))}),
                                  task("c", ms(200), {cpu(ms(80)), gpu(ms(1), ms(2))})});
  taskset.platform.gpus[0].overheads.time_slice = ms(1);
  for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
    AnalysisOptions options{.variant = Variant::published};
    options.policy = Policy::tsg_rr;
    options.wait = wait;
    EXPECT_FALSE(published_result(taskset, options).schedulable);
  }
}

TEST(Published, BusyWaitingHigherTaskChargesItsExecToACpuOnlyTask) {
  // The paper's printed equation charges a CPU-only task nothing for it.
  const Taskset taskset =
      make_taskset({task("a", ms(50), {cpu(ms(1)), gpu(ms(1), ms(8))}), task("b", ms(50), {cpu(ms(5))})});
  AnalysisOptions options{.variant = Variant::published};
  EXPECT_EQ(published_result(taskset, options).tasks[1].bound, ms(7));
  options.wait = WaitChoice::busy;
  EXPECT_EQ(published_result(taskset, options).tasks[1].bound, ms(15));
}

TEST(Published, MixedWaitModesChargeEachTaskByItsOwn) {
  Taskset taskset = make_taskset({task("busy", ms(100), {cpu(ms(1)), gpu(ms(1), ms(8))}),
                                  task("suspending", ms(100), {cpu(ms(2)), gpu(ms(1), ms(4))}),
                                  task("remote", ms(100), {gpu(ms(0), ms(3))}, 1), task("cpu", ms(100), {cpu(ms(5))})});
  taskset.tasks[2].priority = taskset.tasks[2].gpu_priority = 9;  // the highest on the GPU
  taskset.tasks[0].wait = WaitMode::busy;
  const AnalysisResult result = published_result(taskset);
  EXPECT_EQ(result.wait, WaitLabel::mixed);
  // remote: 3. busy: 10 + 3. suspending: 7 + busy 10 on the core + remote 3.
  EXPECT_EQ(result.tasks[2].bound, ms(3));
  EXPECT_EQ(result.tasks[0].bound, ms(13));
  EXPECT_EQ(result.tasks[1].bound, ms(20));
  // cpu: 5, busy 10, suspending 3 on the core and, since busy may wait behind it, 4 and 3 on the GPU.
  EXPECT_EQ(result.tasks[3].bound, ms(25));
  // The label of a set that agrees is that of its GPU-using tasks, and its bounds those of that mode for all.
  taskset.tasks[1].wait = taskset.tasks[2].wait = WaitMode::busy;
  const AnalysisResult by_file = published_result(taskset);
  AnalysisOptions options{.variant = Variant::published};
  options.wait = WaitChoice::busy;
  const AnalysisResult by_choice = published_result(taskset, options);
  EXPECT_EQ(by_file.wait, WaitLabel::busy);
  for (std::size_t i = 0; i < taskset.tasks.size(); ++i) EXPECT_EQ(by_file.tasks[i].bound, by_choice.tasks[i].bound);
}

TEST(Published, GpuPrioritiesAgainstCpuPrioritiesInACircleStandOnDeadlines) {
  // On one core a is above b, on the GPU below: each one's recurrence asks for the other's response.
  Taskset taskset = make_taskset(
      {task("a", ms(100), {cpu(ms(1)), gpu(ms(0), ms(10))}), task("b", ms(100), {cpu(ms(1)), gpu(ms(0), ms(10))})});
  std::swap(taskset.tasks[0].gpu_priority, taskset.tasks[1].gpu_priority);
  const AnalysisResult good = published_result(taskset);
  // a: 11, and of b 10 twice, with jitter D - Ge = 90.
  EXPECT_EQ(good.tasks[0].bound, ms(31));
  EXPECT_TRUE(good.schedulable);

  taskset.tasks[1].deadline = ms(20);  // now b fails, and a's bound with it
  const AnalysisResult bad = published_result(taskset);
  EXPECT_EQ(bad.tasks[1].outcome, Outcome::not_schedulable);
  EXPECT_EQ(bad.tasks[0].outcome, Outcome::unknown);
  EXPECT_THAT(bad.tasks[0].reason, HasSubstr("b"));
}

TEST(Published, BestEffortTasksHaveNoBoundAndTakeTurnsOnlyUnderRoundRobin) {
  Taskset taskset =
      make_taskset({task("a", ms(100), {gpu(ms(0), ms(10))}), task("b", ms(100), {cpu(ms(1)), gpu(ms(1), ms(10))}, 1)});
  taskset.tasks[1].best_effort = true;
  taskset.platform.gpus[0].overheads.time_slice = ms(2);
  AnalysisOptions options{.variant = Variant::published};
  ASSERT_EQ(published_result(taskset, options).tasks.size(), 1U);
  EXPECT_EQ(published_result(taskset, options).tasks[0].bound, ms(10));
  options.policy = Policy::tsg_rr;
  EXPECT_EQ(published_result(taskset, options).tasks[0].bound, ms(20));
}

TEST(Published, LaunchesOfSlicesAreOverhead) {
  Taskset taskset = make_taskset({task("a", ms(100), {gpu(ms(1), ms(10))})});
  std::get<GpuSegment>(taskset.tasks[0].segments[0]).slices = 4;
  taskset.platform.gpus[0].overheads.launch = ms(1);
  const AnalysisResult result = published_result(taskset);
  EXPECT_EQ(result.tasks[0].bound, ms(14));
  EXPECT_EQ(result.tasks[0].terms[static_cast<std::size_t>(Term::own)], ms(11));
  EXPECT_EQ(result.tasks[0].terms[static_cast<std::size_t>(Term::overhead)], ms(3));
}

TEST(Published, ContributionsNameWhoIsCharged) {
  AnalysisOptions options{.variant = Variant::published};
  options.wait = WaitChoice::suspend;
  options.explain = true;
  const AnalysisResult result = published_result(load_case("gcaps-case-study.json"), options);
  const TaskResult& dxtc = result.tasks[4];
  std::array<Duration, kTermCount> sums{};
  Duration from_histogram;
  for (const Contribution& part : dxtc.contributions) {
    sums[static_cast<std::size_t>(part.term)] += part.amount;
    if (part.task == 0) from_histogram += part.amount;
  }
  EXPECT_EQ(sums, dxtc.terms);
  EXPECT_EQ(from_histogram, ms(14));  // one job: C 1, Gm* 3, Ge 10
}

TEST(Published, BeyondTheDeadlineABoundWithinThePeriodIsShown) {
  Taskset taskset = make_taskset({task("a", ms(100), {cpu(ms(30))}), task("b", ms(100), {cpu(ms(30))})});
  taskset.tasks[1].deadline = ms(50);
  AnalysisOptions options{.variant = Variant::published};
  EXPECT_EQ(published_result(taskset, options).tasks[1].bound, std::nullopt);
  options.beyond_deadline = true;
  const AnalysisResult result = published_result(taskset, options);
  EXPECT_EQ(result.tasks[1].bound, ms(60));
  EXPECT_EQ(result.tasks[1].outcome, Outcome::not_schedulable);
  EXPECT_FALSE(result.schedulable);

  taskset.tasks[0].segments = {cpu(ms(80))};  // past the period: a number, but no bound
  const AnalysisResult late = published_result(taskset, options);
  EXPECT_EQ(late.tasks[1].bound, std::nullopt);
  EXPECT_THAT(late.tasks[1].reason, HasSubstr("190ms"));
}

TEST(Published, OverloadIsDecidedAndSaid) {
  const AnalysisResult result = published_result(
      make_taskset({task("a", ms(10), {cpu(ms(10))}), task("b", Duration::seconds(1'000'000), {cpu(ms(1))})}));
  EXPECT_EQ(result.tasks[0].bound, ms(10));
  EXPECT_EQ(result.tasks[1].outcome, Outcome::not_schedulable);
  EXPECT_THAT(result.tasks[1].reason, HasSubstr("no time"));
}

TEST(Published, TimesAtTheLimitOfTheFormatDoNotWrap) {
  std::vector<Task> tasks;
  for (int i = 0; i < 5'000; ++i) tasks.push_back(task("t" + std::to_string(i), kMaxTime, {gpu(kMaxTime, kMaxTime)}));
  Taskset taskset = make_taskset(std::move(tasks));
  taskset.platform.gpus[0].overheads.runlist_update = kMaxTime;
  taskset.platform.gpus[0].overheads.time_slice = Duration::nanoseconds(1);
  taskset.platform.gpus[0].overheads.context_switch = kMaxTime;
  const AnalysisResult gcaps = published_result(taskset);
  AnalysisOptions options{.variant = Variant::published};
  options.policy = Policy::tsg_rr;
  const AnalysisResult tsg_rr = published_result(taskset, options);
  for (const AnalysisResult* result : {&gcaps, &tsg_rr}) {
    for (const TaskResult& each : result->tasks) ASSERT_FALSE(each.bound);
  }
  EXPECT_EQ(tsg_rr.tasks[0].outcome, Outcome::overflow);
}

TEST(Limits, SafeAnalysesEndOnThousandsOfHeavyTasks) {
  std::vector<Task> tasks;
  for (int i = 0; i < 2'000; ++i) tasks.push_back(task("t" + std::to_string(i), kMaxTime, {gpu(kMaxTime, kMaxTime)}));
  Taskset heavy = make_taskset(std::move(tasks));
  heavy.platform.gpus[0].overheads.runlist_update = kMaxTime;
  for (const Policy policy : {Policy::gcaps, Policy::gcaps_wc, Policy::mpcp, Policy::fmlp_plus, Policy::server}) {
    for (const TaskResult& each : published_result(heavy, {.policy = policy}).tasks) ASSERT_FALSE(each.bound);
  }
}

TEST(Refusals, SayWhatIsNotCovered) {
  const Taskset taskset = load_case("gcaps-example2.json");
  const Error federated = refusal(taskset, {.policy = Policy::federated});
  EXPECT_EQ(federated.code, ErrorCode::unsupported);
  EXPECT_EQ(federated.place.pointer, "/platform/gpus/0/sms");
  EXPECT_EQ(refusal(taskset, {.policy = Policy::stream_priority}).place.pointer, "/platform/gpus/0/stream_priorities");
  EXPECT_EQ(refusal(taskset, {.policy = Policy::tsg_rr}).place.pointer, "/platform/gpus/0/overheads/time_slice");

  AnalysisOptions gcaps_wc{.variant = Variant::published};
  gcaps_wc.policy = Policy::gcaps_wc;
  EXPECT_THAT(to_string(refusal(taskset, gcaps_wc)), HasSubstr("a safe analysis of gcaps-wc"));

  AnalysisOptions tsg_rr{.variant = Variant::published};
  tsg_rr.policy = Policy::tsg_rr;  // the file gives no time slice
  EXPECT_EQ(refusal(taskset, tsg_rr).place.pointer, "/platform/gpus/0/overheads/time_slice");
  tsg_rr.gpu_priorities = GpuPriorities::search;
  EXPECT_THAT(to_string(refusal(taskset, tsg_rr)), HasSubstr("search"));
}

TEST(Refusals, PointAtTheSegment) {
  Taskset copies = make_taskset({task("a", ms(10), {cpu(ms(1)), CopySegment{{ms(1), ms(1)}}})});
  EXPECT_EQ(refusal(copies).place.pointer, "/tasks/0/segments/1");

  Taskset two_gpus = make_taskset({task("a", ms(10), {cpu(ms(1))})});
  two_gpus.platform.gpus.push_back(Gpu{});
  EXPECT_EQ(refusal(two_gpus).place.pointer, "/platform/gpus");

  Taskset by_work = make_taskset({task("a", ms(100), {gpu(ms(0), ms(0))})});
  auto& segment = std::get<GpuSegment>(by_work.tasks[0].segments[0]);
  segment.exec.reset();
  segment.parallel = ParallelWork{{ms(40), ms(40)}, {ms(4), ms(4)}, 1'500'000};
  EXPECT_EQ(refusal(by_work).place.pointer, "/tasks/0/segments/0/gpu");
  by_work.platform.gpus[0].sms = 4;  // (40 * 1.5 - 4) / 8 + 4
  EXPECT_EQ(published_result(by_work).tasks[0].bound, ms(11));
}

}  // namespace
}  // namespace rtgpu
