#include "analysis/search/cores.h"
#include "analysis/search/gpu_priorities.h"
#include "analysis/search/slices.h"
#include "tests/support/build.h"
#include "tests/support/random_taskset.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::chance;
using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using testing::load_case;
using testing::make_taskset;
using testing::ms;
using testing::task;
using testing::uniform;

constexpr std::uint64_t kSearchSeed = 20'260'101;

AnalysisOptions under(Policy policy) {
  AnalysisOptions options;
  options.policy = policy;
  return options;
}

bool passes_as_written(const Taskset& taskset, const AnalysisOptions& options) {
  const Result<AnalysisResult> result = analyze(taskset, options);
  return result && result->schedulable;
}

SearchWork enough() {
  return SearchWork(1'000'000);
}

std::vector<int> gpu_priorities_of(const Taskset& taskset) {
  std::vector<int> priorities;
  for (const Task& each : taskset.tasks) priorities.push_back(each.gpu_priority);
  return priorities;
}

std::vector<int> cores_of(const Taskset& taskset) {
  std::vector<int> cores;
  for (const Task& each : taskset.tasks) cores.push_back(each.cpu);
  return cores;
}

TEST(GpuPrioritySearch, FindsTheOrderOfThePaperAndChangesTwoTasks) {
  SearchWork work = enough();
  const SearchedTaskset found = find_gpu_priorities(load_case("gcaps-example2.json"), under(Policy::gcaps_wc), work);
  EXPECT_EQ(found.outcome, SearchOutcome::found);
  EXPECT_THAT(gpu_priorities_of(found.taskset), ElementsAre(4, 3, 1, 2));
  EXPECT_TRUE(passes_as_written(found.taskset, under(Policy::gcaps_wc)));
}

TEST(GpuPrioritySearch, ChangesNothingWhereNothingIsNeededOrNothingHelps) {
  const Taskset passes = make_taskset({task("a", ms(10), {cpu(ms(2))})});
  SearchWork work = enough();
  EXPECT_EQ(find_gpu_priorities(passes, under(Policy::mpcp), work).outcome, SearchOutcome::not_needed);
  const Taskset late = make_taskset({task("a", ms(10), {gpu(ms(1), ms(10))})});
  const SearchedTaskset none = find_gpu_priorities(late, under(Policy::mpcp), work);
  EXPECT_EQ(none.outcome, SearchOutcome::none);
  EXPECT_EQ(none.taskset, late);
}

TEST(GpuPrioritySearch, SaysWhenItWasNotLetToTheEnd) {
  SearchWork work(1);
  const SearchedTaskset ended = find_gpu_priorities(load_case("gcaps-example2.json"), under(Policy::gcaps_wc), work);
  EXPECT_EQ(ended.outcome, SearchOutcome::limit_reached);
  int asked = 0;
  SearchWork stopped(100, [&] { return ++asked < 2; });
  EXPECT_FALSE(find_gpu_priorities(load_case("gcaps-example2.json"), under(Policy::gcaps_wc), stopped).passes());
  EXPECT_TRUE(stopped.stopped());
}

TEST(GpuPrioritySearch, EqualPrioritiesGetNewOnes) {
  Taskset taskset = make_taskset({task("a", ms(10), {gpu(ms(0), ms(1))}), task("b", ms(10), {gpu(ms(0), ms(1))})});
  taskset.ties = Ties::by_order;
  taskset.tasks[0].gpu_priority = taskset.tasks[1].gpu_priority = 7;
  const std::vector<TaskIndex> order = {1, 0};
  EXPECT_THAT(gpu_priorities_of(with_gpu_order(taskset, order)), ElementsAre(1, 2));
}

// Tasks of a core each, so that every order is allowed.
Taskset small_gpu_set(std::mt19937_64& engine, int tasks) {
  std::vector<Task> all;
  for (int index = 0; index < tasks; ++index) {
    std::vector<Segment> segments = {cpu(ms(1)), gpu(ms(1), ms(uniform(engine, 1, 6)))};
    all.push_back(task("t" + std::to_string(index), ms(uniform(engine, 8, 40)), std::move(segments), index));
    all.back().deadline =
        ms(uniform(engine, all.back().period.count() / 2'000'000, all.back().period.count() / 1'000'000));
  }
  Taskset taskset = make_taskset(std::move(all));
  taskset.platform.gpus[0].stream_priorities = tasks;
  return taskset;
}

// By trying all orders, with deadlines in the jitters as the search has them.
bool any_order_passes(const Taskset& taskset, AnalysisOptions options) {
  options.jitter = JitterSource::deadline;
  std::vector<TaskIndex> order(taskset.tasks.size());
  std::iota(order.begin(), order.end(), TaskIndex{0});
  do {
    if (passes_as_written(with_gpu_order(taskset, order), options)) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

TEST(GpuPrioritySearch, FindsAnOrderWhereThereIsOne) {
  std::mt19937_64 engine(kSearchSeed);
  int found = 0;
  for (int round = 0; round < 150; ++round) {
    const Taskset taskset = small_gpu_set(engine, 3);
    for (const Policy policy : {Policy::gcaps_wc, Policy::mpcp, Policy::stream_priority}) {
      SearchWork work = enough();
      const SearchedTaskset searched = find_gpu_priorities(taskset, under(policy), work);
      ASSERT_EQ(searched.passes(), passes_as_written(searched.taskset, under(policy)));
      ASSERT_TRUE(searched.passes() || !any_order_passes(taskset, under(policy)))
          << "seed " << kSearchSeed << ", round " << round << ", " << to_string(policy);
      if (searched.outcome == SearchOutcome::found) ++found;
    }
  }
  EXPECT_GT(found, 20);
}

// More tasks than levels: what is found passes, and the levels are those of the new order.
TEST(GpuPrioritySearch, StreamsThatShareLevels) {
  std::mt19937_64 engine(kSearchSeed);
  int found = 0;
  for (int round = 0; round < 150; ++round) {
    Taskset taskset = small_gpu_set(engine, 4);
    taskset.platform.gpus[0].stream_priorities = 2;
    AnalysisOptions options = under(Policy::stream_priority);
    options.gpu_priorities = GpuPriorities::search;
    const Result<AnalysisResult> searched = analyze(taskset, options);
    ASSERT_TRUE(searched);
    if (searched->gpu_priority_search != SearchOutcome::found) continue;
    ++found;
    const Result<AnalysisResult> written =
        analyze(with_gpu_order(taskset, searched->gpu_priority_order), under(Policy::stream_priority));
    ASSERT_TRUE(written && written->schedulable);
    ASSERT_EQ(written->stream_levels, searched->stream_levels);
  }
  EXPECT_GT(found, 5);
}

// A section of 8 ms below, and room for 5 of it: two slices of 4 ms.
TEST(SliceSearch, CutsTheSectionThatIsTooLong) {
  Taskset taskset =
      make_taskset({task("high", ms(10), {gpu(ms(0), ms(5))}, 0), task("low", ms(100), {gpu(ms(0), ms(8))}, 1)});
  SearchWork work = enough();
  const SearchedTaskset found = find_slices(taskset, under(Policy::mpcp), work);
  EXPECT_EQ(found.outcome, SearchOutcome::found);
  EXPECT_TRUE(found.exact);
  EXPECT_EQ(total_slices(found.taskset), 3);
  EXPECT_EQ(std::get<GpuSegment>(found.taskset.tasks[1].segments[0]).slices, 2);

  // A launch of 1 ms: a slice of 4 + 1 still fits; one of 2 ms does not, and more slices only make it shorter.
  taskset.platform.gpus[0].overheads.launch = ms(1);
  EXPECT_EQ(total_slices(find_slices(taskset, under(Policy::mpcp), work).taskset), 3);
  taskset.platform.gpus[0].overheads.launch = ms(2);
  const SearchedTaskset costly = find_slices(taskset, under(Policy::mpcp), work);
  EXPECT_EQ(costly.outcome, SearchOutcome::found);
  EXPECT_EQ(total_slices(costly.taskset), 4);

  // Blocks of 8 ms cannot be cut.
  std::get<GpuSegment>(taskset.tasks[1].segments[0]).block = ms(8);
  EXPECT_EQ(find_slices(taskset, under(Policy::mpcp), work).outcome, SearchOutcome::none);
}

GpuSegment& section_of(Taskset& taskset, TaskIndex index) {
  return std::get<GpuSegment>(taskset.tasks[index].segments[1]);
}

// The fewest added slices of three sections, up to `limit`, by trying all.
int fewest_slices(Taskset taskset, int limit) {
  for (int total = 0; total <= limit; ++total) {
    for (int first = 0; first <= total; ++first) {
      for (int second = 0; first + second <= total; ++second) {
        section_of(taskset, 0).slices = 1 + first;
        section_of(taskset, 1).slices = 1 + second;
        section_of(taskset, 2).slices = 1 + total - first - second;
        if (passes_as_written(taskset, under(Policy::mpcp))) return total;
      }
    }
  }
  return std::numeric_limits<int>::max();
}

TEST(SliceSearch, AddsTheFewestOnSmallSets) {
  std::mt19937_64 engine(kSearchSeed);
  int found = 0;
  for (int round = 0; round < 150; ++round) {
    Taskset taskset = small_gpu_set(engine, 3);
    taskset.platform.gpus[0].overheads.launch = Duration::microseconds(uniform(engine, 0, 200));
    SearchWork work = enough();
    const SearchedTaskset searched = find_slices(taskset, under(Policy::mpcp), work);
    if (searched.outcome != SearchOutcome::found) continue;
    ++found;
    const int added = static_cast<int>(total_slices(searched.taskset)) - 3;
    ASSERT_TRUE(passes_as_written(searched.taskset, under(Policy::mpcp)));
    ASSERT_TRUE(!searched.exact || fewest_slices(taskset, std::min(added, 12)) >= std::min(added, 12))
        << "seed " << kSearchSeed << ", round " << round;
  }
  EXPECT_GT(found, 5);
}

TEST(CoreSearch, MovesTheFewestTasks) {
  std::mt19937_64 engine(kSearchSeed);
  int found = 0;
  for (int round = 0; round < 200; ++round) {
    Taskset taskset = testing::random_taskset(
        engine, {.tasks = 5, .cpus = 2, .utilisation_percent = 60, .order = testing::RandomOptions::Order::random});
    for (Task& each : taskset.tasks) each.cpu = chance(engine, 50) ? 1 : 0;
    const AnalysisOptions options = under(Policy::gcaps_wc);
    SearchWork work = enough();
    const SearchedTaskset searched = find_cores(taskset, options, work);
    ASSERT_TRUE(searched.exact);
    int fewest = std::numeric_limits<int>::max();
    for (unsigned moved = 0; moved < 32; ++moved) {
      Taskset mapped = taskset;
      for (TaskIndex index = 0; index < 5; ++index) {
        if ((moved >> index & 1U) != 0) mapped.tasks[index].cpu = 1 - mapped.tasks[index].cpu;
      }
      if (passes_as_written(mapped, options)) fewest = std::min(fewest, static_cast<int>(std::popcount(moved)));
    }
    ASSERT_EQ(searched.passes(), fewest <= 5) << "seed " << kSearchSeed << ", round " << round;
    if (!searched.passes()) continue;
    int changed = 0;
    for (TaskIndex index = 0; index < 5; ++index) {
      if (searched.taskset.tasks[index].cpu != taskset.tasks[index].cpu) ++changed;
    }
    ASSERT_EQ(changed, fewest) << "seed " << kSearchSeed << ", round " << round;
    if (changed > 0) ++found;
  }
  EXPECT_GT(found, 20);
}

// Twelve tasks of half a core each, all on the first of six: too many ways to try all, and only one that passes.
TEST(CoreSearch, SpreadsALoadThatOneCoreCannotBear) {
  std::vector<Task> tasks;
  for (int index = 0; index < 12; ++index) tasks.push_back(task("t" + std::to_string(index), ms(10), {cpu(ms(5))}));
  Taskset taskset = make_taskset(std::move(tasks));
  taskset.platform.cpus = 6;
  SearchWork work(search_limit(taskset));
  const SearchedTaskset found = find_cores(taskset, under(Policy::mpcp), work);
  EXPECT_EQ(found.outcome, SearchOutcome::found);
  for (int core = 0; core < 6; ++core) EXPECT_EQ(std::ranges::count(cores_of(found.taskset), core), 2);
  EXPECT_TRUE(passes_as_written(found.taskset, under(Policy::mpcp)));

  taskset.platform.cpus = 5;
  SearchWork more(search_limit(taskset));
  EXPECT_FALSE(find_cores(taskset, under(Policy::mpcp), more).passes());
}

// Of 0.6, 0.5, 0.4 and 0.3 of a core.
TEST(Fits, FirstBestAndWorst) {
  Taskset taskset = make_taskset({task("a", ms(10), {cpu(ms(3))}), task("b", ms(10), {cpu(ms(6))}),
                                  task("c", ms(10), {cpu(ms(4))}), task("d", ms(10), {cpu(ms(5))})});
  taskset.platform.cpus = 3;
  // b | d c -> by first fit c goes to b, the first with room; a then to d.
  EXPECT_THAT(fit_decreasing(taskset, WaitChoice::file, Fit::first), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(fit_decreasing(taskset, WaitChoice::file, Fit::best), ElementsAre(1, 0, 0, 1));
  // c goes to the third, empty; a to where c is.
  EXPECT_THAT(fit_decreasing(taskset, WaitChoice::file, Fit::worst), ElementsAre(2, 0, 2, 1));
}

}  // namespace
}  // namespace rtgpu
