// Values that are published or were worked out by hand, to the nanosecond.
#include "analysis/analysis.h"
#include "tests/support/build.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::ElementsAre;
using testing::load_case;

constexpr std::int64_t kNone = -1;

// Bounds in microseconds, kNone where there is none.
std::vector<std::int64_t> bounds_us(const AnalysisResult& result) {
  std::vector<std::int64_t> bounds;
  for (const TaskResult& task : result.tasks) {
    if (task.bound) {
      EXPECT_EQ(task.bound->count() % 1000, 0);
    }
    bounds.push_back(task.bound ? task.bound->count() / 1000 : kNone);
  }
  return bounds;
}

AnalysisOptions published(Policy policy, WaitChoice wait, JitterSource jitter = JitterSource::response) {
  AnalysisOptions options{.variant = Variant::published};
  options.policy = policy;
  options.wait = wait;
  options.jitter = jitter;
  return options;
}

AnalysisResult analysed(const Taskset& taskset, const AnalysisOptions& options) {
  Result<AnalysisResult> result = analyze(taskset, options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.errors().front()));
  return result ? *result : AnalysisResult{};
}

// Table 5 of the GCAPS paper; the tsg-rr busy row by the paper's equation.
struct CaseStudyRow {
  std::string name;
  AnalysisOptions options{.variant = Variant::published};
  std::vector<std::int64_t> bounds_us;
};

class CaseStudy : public ::testing::TestWithParam<CaseStudyRow> {};

TEST_P(CaseStudy, BoundsAreThePublishedOnes) {
  const AnalysisResult result = analysed(load_case("gcaps-case-study.json"), GetParam().options);
  EXPECT_EQ(bounds_us(result), GetParam().bounds_us);
  EXPECT_EQ(result.schedulable, !::testing::Value(GetParam().bounds_us, ::testing::Contains(kNone)));
}

INSTANTIATE_TEST_SUITE_P(
    Table5, CaseStudy,
    ::testing::Values(
        CaseStudyRow{
            "gcaps_suspend", published(Policy::gcaps, WaitChoice::suspend), {16'000, 32'000, 75'000, 59'000, 79'000}},
        CaseStudyRow{
            "gcaps_busy", published(Policy::gcaps, WaitChoice::busy), {16'000, 32'000, 111'000, 59'000, 79'000}},
        CaseStudyRow{"tsg_rr_suspend_deadline",
                     published(Policy::tsg_rr, WaitChoice::suspend, JitterSource::deadline),
                     {60'000, 73'600, 76'000, 98'200, 127'800}},
        CaseStudyRow{"tsg_rr_suspend",
                     published(Policy::tsg_rr, WaitChoice::suspend),
                     {60'000, 73'600, 72'000, 98'200, 112'300}},
        CaseStudyRow{
            "tsg_rr_busy", published(Policy::tsg_rr, WaitChoice::busy), {60'000, 73'600, 144'000, 280'200, kNone}}),
    [](const auto& row) { return row.param.name; });

TEST(CaseStudy, FileModeIsSuspendHere) {
  const AnalysisResult result =
      analysed(load_case("gcaps-case-study.json"), published(Policy::gcaps, WaitChoice::file));
  EXPECT_EQ(result.wait, WaitLabel::suspend);
  EXPECT_THAT(bounds_us(result), ElementsAre(16'000, 32'000, 75'000, 59'000, 79'000));
}

TEST(CaseStudy, TermsOfHistogramUnderGcaps) {
  const AnalysisResult result =
      analysed(load_case("gcaps-case-study.json"), published(Policy::gcaps, WaitChoice::suspend));
  const auto& terms = result.tasks.front().terms;
  EXPECT_EQ(terms[static_cast<std::size_t>(Term::own)], Duration::milliseconds(12));
  EXPECT_EQ(terms[static_cast<std::size_t>(Term::overhead)], Duration::milliseconds(2));
  EXPECT_EQ(terms[static_cast<std::size_t>(Term::cpu_blocking)], Duration::milliseconds(2));
  EXPECT_EQ(terms[static_cast<std::size_t>(Term::gpu_preemption)], Duration());
}

TEST(CaseStudy, TasksBelowAFailedOneThatDoNotDependOnItKeepTheirBound) {
  // dxtc fails under tsg-rr busy, and is the lowest; under a shorter deadline projection fails and dxtc is charged by
  // projection's demand alone, not by its response.
  Taskset taskset = load_case("gcaps-case-study.json");
  taskset.tasks[3].deadline = Duration::milliseconds(50);  // projection: 98.2 ms under tsg-rr suspend
  const AnalysisResult suspend = analysed(taskset, published(Policy::tsg_rr, WaitChoice::suspend));
  EXPECT_EQ(suspend.tasks[3].outcome, Outcome::not_schedulable);
  EXPECT_EQ(suspend.tasks[4].outcome, Outcome::unknown);
  EXPECT_THAT(suspend.tasks[4].reason, ::testing::HasSubstr("projection"));
  EXPECT_EQ(suspend.tasks[2].outcome, Outcome::bound);
}

TEST(Example2, EqualOrdersLeaveTask4WithoutABound) {
  for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
    const AnalysisResult result = analysed(load_case("gcaps-example2.json"), published(Policy::gcaps, wait));
    EXPECT_FALSE(result.schedulable);
    EXPECT_EQ(result.tasks[3].bound, std::nullopt);
    EXPECT_TRUE(result.tasks[0].bound && result.tasks[1].bound && result.tasks[2].bound);
  }
}

TEST(Example2, TheSearchFindsThePublishedOrderAndBounds) {
  AnalysisOptions options = published(Policy::gcaps, WaitChoice::suspend);
  options.gpu_priorities = GpuPriorities::search;
  const AnalysisResult suspend = analysed(load_case("gcaps-example2.json"), options);
  EXPECT_THAT(bounds_us(suspend), ElementsAre(19'000, 66'000, 157'000, 127'000));
  EXPECT_THAT(suspend.gpu_priority_order, ElementsAre(0, 1, 3, 2));
  EXPECT_EQ(suspend.gpu_priority_search, SearchOutcome::found);
  EXPECT_EQ(suspend.jitter, JitterSource::deadline);
  EXPECT_TRUE(suspend.schedulable);

  options.wait = WaitChoice::busy;
  const AnalysisResult busy = analysed(load_case("gcaps-example2.json"), options);
  EXPECT_THAT(bounds_us(busy), ElementsAre(19'000, 59'000, 157'000, 108'000));
  EXPECT_THAT(busy.gpu_priority_order, ElementsAre(0, 1, 3, 2));
  EXPECT_TRUE(busy.schedulable);
}

TEST(Search, IsNotUsedWhereTheGivenPrioritiesPass) {
  AnalysisOptions options = published(Policy::gcaps, WaitChoice::suspend);
  options.gpu_priorities = GpuPriorities::search;
  const AnalysisResult result = analysed(load_case("gcaps-case-study.json"), options);
  EXPECT_EQ(result.gpu_priority_search, SearchOutcome::not_needed);
  EXPECT_EQ(result.jitter, JitterSource::response);
  EXPECT_THAT(bounds_us(result), ElementsAre(16'000, 32'000, 75'000, 59'000, 79'000));
}

TEST(Search, SaysWhenNoOrderPasses) {
  AnalysisOptions options = published(Policy::gcaps, WaitChoice::suspend);
  options.gpu_priorities = GpuPriorities::search;
  Taskset taskset = load_case("gcaps-example2.json");
  taskset.tasks[2].deadline = Duration::milliseconds(110);  // below its own demand
  const AnalysisResult result = analysed(taskset, options);
  EXPECT_EQ(result.gpu_priority_search, SearchOutcome::none);
  EXPECT_FALSE(result.schedulable);
  EXPECT_THAT(result.gpu_priority_order, ElementsAre(0, 1, 2, 3));
}

// Published bounds that schedules exceed: the values as the recurrences give them.
TEST(HeldMisc, PublishedBoundOfLowIs15) {
  const AnalysisResult result =
      analysed(load_case("gcaps-held-misc.json"), published(Policy::gcaps, WaitChoice::suspend));
  EXPECT_THAT(bounds_us(result), ElementsAre(11'000, 15'000));
}

TEST(Switch, PublishedBoundIs22) {
  const AnalysisResult result =
      analysed(load_case("tsg-rr-switch.json"), published(Policy::tsg_rr, WaitChoice::suspend));
  EXPECT_THAT(bounds_us(result), ElementsAre(22'000, 22'000));
}

}  // namespace
}  // namespace rtgpu
