// Experiments: what is counted, and that it does not depend on who counts it.
#include "analysis/experiments/sweep.h"

#include "analysis/experiments/paper_sweeps.h"
#include "analysis/experiments/run_chunks.h"
#include "analysis/experiments/sweep_state.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Approach published(Policy policy, WaitChoice wait) {
  return {policy, wait, Variant::published, GpuPriorities::file, JitterSource::response};
}

// Small enough to be judged many times.
SweepExperiment small_experiment() {
  SweepExperiment experiment;
  experiment.settings = {"cpus=2", "tasks_per_cpu=3"};
  experiment.parameter = "utilisation_per_cpu";
  experiment.values = {"0.2", "0.4", "0.6"};
  experiment.tasksets = 25;
  experiment.seed = 11;
  experiment.approaches = {published(Policy::gcaps, WaitChoice::suspend), published(Policy::tsg_rr, WaitChoice::busy)};
  experiment.chunk_size = 4;
  return experiment;
}

Sweep sweep_of(const SweepExperiment& experiment) {
  Result<Sweep> sweep = Sweep::of(experiment);
  if (!sweep) throw std::runtime_error(to_string(sweep.errors().front()));
  return *std::move(sweep);
}

ChunkSet all_chunks(const Sweep& sweep) {
  return {0, sweep.chunks()};
}

SweepCounts counted(const SweepExperiment& experiment, int jobs) {
  const Sweep sweep = sweep_of(experiment);
  SweepCounts counts = sweep.no_counts();
  EXPECT_THAT(run_chunks(sweep, all_chunks(sweep), {.jobs = jobs}, counts), IsEmpty());
  return counts;
}

TEST(ChunkSet, KeepsRangesApartAndJoinsThoseThatTouch) {
  ChunkSet set(4, 6);
  set.add(9);
  set.add(2);
  EXPECT_THAT(set.ranges(), ElementsAre(ChunkRange{2, 3}, ChunkRange{4, 6}, ChunkRange{9, 10}));
  EXPECT_EQ(set.size(), 4);
  set.add(3);
  EXPECT_THAT(set.ranges(), ElementsAre(ChunkRange{2, 6}, ChunkRange{9, 10}));
  for (const std::int64_t chunk : {2, 5, 9}) EXPECT_TRUE(set.contains(chunk));
  for (const std::int64_t chunk : {0, 1, 6, 8, 10}) EXPECT_FALSE(set.contains(chunk));
  EXPECT_FALSE(set.intersects(ChunkSet(6, 9)));
  EXPECT_TRUE(set.intersects(ChunkSet(6, 10)));
  EXPECT_EQ(set.within({5, 20}).size(), 2);
  set.add(ChunkSet(0, 20));
  EXPECT_THAT(set.ranges(), ElementsAre(ChunkRange{0, 20}));
}

// The definition: the tasksets of the generator, one after another, under analyze().
TEST(Sweep, CountsWhatAnalyzeSaysOfTheTasksetsOfGenerate) {
  const SweepExperiment experiment = small_experiment();
  SweepCounts expected = sweep_of(experiment).no_counts();
  for (std::size_t point = 0; point < experiment.values.size(); ++point) {
    Preset preset = *Preset::named("gcaps-table3");
    for (const auto& [key, value] : {std::pair("cpus", "2"), std::pair("tasks_per_cpu", "3")}) preset.set(key, value);
    preset.set("utilisation_per_cpu", experiment.values[point]);
    for (std::int64_t index = 0; index < 25; ++index) {
      const Taskset taskset = *preset.generate(11, index);
      ASSERT_EQ(*sweep_of(experiment).taskset(point, index), taskset);
      for (std::size_t i = 0; i < 2; ++i) {
        const auto result = analyze(taskset, analysis_options(experiment.approaches[i]));
        if (result->schedulable) ++expected.points[point].approaches[i].schedulable;
      }
      ++expected.points[point].tasksets;
    }
  }
  const SweepCounts counts = counted(experiment, 1);
  EXPECT_EQ(counts.points, expected.points);
  EXPECT_EQ(counts.tasksets(), 75);
  // Not all the same, or this would say little.
  EXPECT_GT(counts.points[0].approaches[0].schedulable, counts.points[2].approaches[0].schedulable);
}

TEST(Sweep, IsTheSameForEveryNumberOfThreadsAndEverySizeOfChunks) {
  SweepExperiment experiment = small_experiment();
  const SweepCounts one = counted(experiment, 1);
  EXPECT_EQ(counted(experiment, 2), one);
  EXPECT_EQ(counted(experiment, 4), one);
  for (const std::int64_t size : {1, 7, 25, 1'000}) {
    experiment.chunk_size = size;
    EXPECT_EQ(counted(experiment, 2).points, one.points) << size;
  }
}

TEST(Sweep, PartsThatOthersCountAreMerged) {
  const Sweep sweep = sweep_of(small_experiment());
  ASSERT_EQ(sweep.chunks(), 21);
  EXPECT_EQ(sweep.chunk(6).count, 1);  // the last of the first point
  ChunkSet even;
  ChunkSet odd;
  for (std::int64_t chunk = 0; chunk < 21; ++chunk) (chunk % 2 == 0 ? even : odd).add(chunk);
  SweepCounts counts = sweep.no_counts();
  SweepCounts others = sweep.no_counts();
  EXPECT_THAT(run_chunks(sweep, even, {.jobs = 1}, counts), IsEmpty());
  EXPECT_THAT(run_chunks(sweep, odd, {.jobs = 1}, others), IsEmpty());
  EXPECT_EQ(counts.tasksets(), sweep.tasksets_of(even));
  EXPECT_FALSE(sweep.merge(counts, others));
  EXPECT_EQ(counts, counted(sweep.experiment(), 1));

  const SweepCounts before = counts;
  EXPECT_TRUE(sweep.merge(counts, others));  // counted already
  EXPECT_EQ(counts, before);
}

TEST(Sweep, IsStoppedBetweenChunksAndGoneOnWith) {
  const Sweep sweep = sweep_of(small_experiment());
  std::atomic<bool> stop = false;
  SweepCounts counts = sweep.no_counts();
  RunChunksOptions options;
  options.jobs = 1;
  options.stop = &stop;
  options.after_chunk = [&](const SweepCounts& now) {
    if (now.done.size() == 3) stop = true;
  };
  EXPECT_THAT(run_chunks(sweep, all_chunks(sweep), options, counts), IsEmpty());
  EXPECT_GE(counts.done.size(), 3);
  EXPECT_LT(counts.done.size(), 21);
  EXPECT_EQ(counts.tasksets(), sweep.tasksets_of(counts.done));

  Result<SweepCounts> loaded = read_sweep_state(sweep, write_sweep_state(sweep, counts));
  ASSERT_TRUE(loaded);
  EXPECT_EQ(*loaded, counts);
  EXPECT_THAT(run_chunks(sweep, all_chunks(sweep), {.jobs = 2}, *loaded), IsEmpty());
  EXPECT_EQ(*loaded, counted(sweep.experiment(), 1));
}

TEST(Sweep, WhatACallThrowsIsPassedOn) {
  const Sweep sweep = sweep_of(small_experiment());
  SweepCounts counts = sweep.no_counts();
  RunChunksOptions options;
  options.after_chunk = [](const SweepCounts&) { throw std::runtime_error("no space left"); };
  EXPECT_THROW((void)run_chunks(sweep, all_chunks(sweep), options, counts), std::runtime_error);
}

TEST(Sweep, TasksetsThatAreNotCoveredAreCountedApart) {
  SweepExperiment experiment = small_experiment();
  Approach streams;
  streams.policy = Policy::stream_priority;  // needs stream_priorities, which these platforms do not say
  experiment.approaches.push_back(streams);
  for (const PointCounts& point : counted(experiment, 2).points) {
    EXPECT_EQ(point.approaches[2], (ApproachCounts{0, 25}));
    EXPECT_EQ(point.approaches[0].not_covered, 0);
  }
}

TEST(Sweep, ATasksetThatCannotBeMadeEndsIt) {
  SweepExperiment experiment = small_experiment();
  experiment.preset = "uunifast-discard";
  experiment.settings = {"tasks=4"};
  experiment.values = {"0.2", "0.99"};
  const Sweep sweep = sweep_of(experiment);
  for (const int jobs : {1, 2}) {
    SweepCounts counts = sweep.no_counts();
    const Errors errors = run_chunks(sweep, all_chunks(sweep), {.jobs = jobs}, counts);
    ASSERT_THAT(errors, SizeIs(1));
    EXPECT_THAT(to_string(errors.front()), HasSubstr("no split among"));
    EXPECT_EQ(counts.points[0].tasksets, 25);
  }
}

std::string error_of(const SweepExperiment& experiment) {
  const Result<Sweep> sweep = Sweep::of(experiment);
  return sweep ? "none" : to_string(sweep.errors().front());
}

TEST(SweepExperiment, IsCheckedBeforehand) {
  const auto changed = [](auto change) {
    SweepExperiment experiment = small_experiment();
    change(experiment);
    return error_of(experiment);
  };
  EXPECT_EQ(changed([](SweepExperiment&) {}), "none");
  EXPECT_THAT(changed([](SweepExperiment& e) { e.preset = "table3"; }), HasSubstr("preset: found 'table3'"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.parameter = "utilization"; }), HasSubstr("values: found the unknown"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.values.emplace_back("2"); }), HasSubstr("utilisation_per_cpu=2"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.values.clear(); }), HasSubstr("values: found 0"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.settings.emplace_back("tasks=3"); }), HasSubstr("tasks_per_cpu and"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.settings = {"utilisation_per_cpu=1"}; }), HasSubstr("is varied"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.tasksets = 0; }), HasSubstr("tasksets: found 0"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.approaches.clear(); }), HasSubstr("approaches: found none"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.approaches[1] = e.approaches[0]; }), HasSubstr("twice"));
  // There is no published analysis of it.
  EXPECT_THAT(changed([](SweepExperiment& e) { e.approaches[0].policy = Policy::gcaps_wc; }), HasSubstr("approaches:"));
  EXPECT_THAT(changed([](SweepExperiment& e) { e.approaches[1].gpu_priorities = GpuPriorities::search; }),
              HasSubstr("tsg-rr+search"));
}

TEST(SweepState, OfAnotherExperimentIsRefusedWithWhatDiffers) {
  const Sweep sweep = sweep_of(small_experiment());
  SweepExperiment changed = small_experiment();
  changed.seed = 12;
  changed.tasksets = 30;
  const Sweep other = sweep_of(changed);
  const auto loaded = read_sweep_state(other, write_sweep_state(sweep, sweep.no_counts()));
  ASSERT_FALSE(loaded);
  ASSERT_THAT(loaded.errors(), SizeIs(2));
  EXPECT_THAT(to_string(loaded.errors()[0]), HasSubstr("found tasksets 25; expected 30"));
  EXPECT_THAT(to_string(loaded.errors()[1]), HasSubstr("found seed 11; expected 12"));
}

TEST(SweepState, IsNotTrustedBlindly) {
  const Sweep sweep = sweep_of(small_experiment());
  const std::string sound = write_sweep_state(sweep, sweep.no_counts());
  EXPECT_TRUE(read_sweep_state(sweep, sound));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = sound;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text :
       {std::string("{"), std::string("[]"), with("\"done\":[]", "\"done\":[[0,1]]"),
        with("\"done\":[]", "\"done\":[[0,99]]"), with("\"done\":[]", "\"done\":[[5,0]]"), with("\"done\"", "\"gone\""),
        with("\"schedulable\":[0,0]", "\"schedulable\":[0]"), with("\"schedulable\":[0,0]", "\"schedulable\":[1,0]"),
        with("\"not_covered\":[0,0]", "\"not_covered\":[0]")}) {
    const auto loaded = read_sweep_state(sweep, text);
    ASSERT_FALSE(loaded) << text;
    EXPECT_EQ(loaded.errors().front().code, ErrorCode::syntax);
  }
}

TEST(PaperSweeps, AreExperimentsOfEightAndFourApproaches) {
  for (const std::string_view name : paper_sweep_names()) {
    SCOPED_TRACE(name);
    const SweepExperiment experiment = *paper_sweep(name);
    EXPECT_EQ(error_of(experiment), "none");
    EXPECT_THAT(experiment.approaches, SizeIs(name[9] == '8' ? 8 : 4));
    EXPECT_EQ(experiment.tasksets, 1'000);
  }
  EXPECT_EQ(paper_sweep("gcaps-fig8a")->values, paper_sweep("gcaps-fig9a")->values);
  EXPECT_THAT(paper_sweep("gcaps-fig8c")->values, SizeIs(10));
  EXPECT_EQ(paper_sweep("gcaps-fig8e")->values.back(), "2");
  EXPECT_EQ(policy_label(paper_sweep("gcaps-fig9b")->approaches.back()), "gcaps+search");
  EXPECT_FALSE(paper_sweep("gcaps-fig8g"));
}

}  // namespace
}  // namespace rtgpu
