// Generators by name: parameters, origins, and output that is the same everywhere.
#include "taskset/generators/preset.h"

#include "taskset/generators/random.h"
#include "taskset/json.h"
#include "taskset/taskset.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Preset preset_of(const std::string& name, const std::vector<std::pair<std::string, std::string>>& settings = {}) {
  Preset preset = *Preset::named(name);
  for (const auto& [key, value] : settings) {
    const auto error = preset.set(key, value);
    if (error) ADD_FAILURE() << to_string(*error);
  }
  return preset;
}

// FNV-1a.
std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  return hash;
}

// Of the first 50 tasksets from seed 1, as they are written.
std::uint64_t digest_of(const std::string& name) {
  const Preset preset = preset_of(name);
  std::string text;
  for (std::int64_t index = 0; index < 50; ++index) {
    text += write_taskset(*preset.generate(1, index), JsonStyle::compact) + '\n';
  }
  return digest(text);
}

// These change only if what the same seed gives is changed on purpose: then say so in CHANGELOG.md.
TEST(Presets, GiveTheSameBytesEverywhere) {
  EXPECT_EQ(digest_of("gcaps-table3"), 17222797105650201184U);
  EXPECT_EQ(digest_of("uunifast"), 14051766449696665800U);
  EXPECT_EQ(digest_of("uunifast-discard"), 15084830263530557766U);
  EXPECT_EQ(digest_of("randfixedsum"), 4533684389220761191U);
}

class EachPreset : public testing::TestWithParam<std::string_view> {};

TEST_P(EachPreset, GivesValidTasksetsThatAreReadBack) {
  const Preset preset = preset_of(std::string(GetParam()));
  TasksetReader reader;
  for (std::int64_t index = 0; index < 100; ++index) {
    SCOPED_TRACE(index);
    const Result<Taskset> taskset = preset.generate(7, index);
    ASSERT_TRUE(taskset);
    ASSERT_TRUE(validate(*taskset).empty());
    const auto loaded = reader.read(write_taskset(*taskset, JsonStyle::compact));
    ASSERT_TRUE(loaded) << to_string(loaded.errors().front());
    ASSERT_EQ(loaded->taskset, *taskset);
    ASSERT_EQ(taskset->origin->generator, GetParam());
    ASSERT_EQ(taskset->origin->seed, 7U);
    ASSERT_EQ(taskset->origin->index, index);
  }
}

// What is lost is what each part is rounded down by: less than a nanosecond each.
TEST_P(EachPreset, AchievesTheRequestedUtilisation) {
  const Preset preset = preset_of(std::string(GetParam()));
  for (std::int64_t index = 0; index < 50; ++index) {
    SCOPED_TRACE(index);
    const Result<Taskset> taskset = preset.generate(3, index);
    ASSERT_TRUE(taskset);
    const Origin& origin = *taskset->origin;
    ASSERT_EQ(origin.requested.size(), 4U);
    ASSERT_EQ(origin.achieved, utilisation_per_cpu(*taskset));
    const auto requested = std::accumulate(origin.requested.begin(), origin.requested.end(), std::int64_t{0});
    const auto achieved = std::accumulate(origin.achieved.begin(), origin.achieved.end(), std::int64_t{0});
    ASSERT_NEAR(static_cast<double>(achieved), static_cast<double>(requested), 4);
  }
}

TEST_P(EachPreset, TakesEveryParameterItShows) {
  Preset preset = preset_of(std::string(GetParam()));
  const std::vector<ParameterText> shown = preset.parameters();
  for (const ParameterText& each : shown) {
    const auto error = preset.set(each.key, each.value);
    EXPECT_FALSE(error) << to_string(*error);
  }
  const std::vector<ParameterText> again = preset.parameters();
  for (std::size_t i = 0; i < shown.size(); ++i) EXPECT_EQ(shown[i].value, again[i].value);
  EXPECT_THAT(preset.check(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Presets, EachPreset, testing::ValuesIn(Preset::names().begin(), Preset::names().end()),
                         [](const auto& name) {
                           std::string text(name.param);
                           std::erase(text, '-');
                           return text;
                         });

TEST(Presets, TheTasksetOfAnIndexDoesNotDependOnTheOthers) {
  const Preset preset = preset_of("gcaps-table3");
  EXPECT_EQ(*preset.generate(5, 17), *preset.generate(5, 17));
  Taskset direct = generate(GcapsTable3{}, seed_of(5, 17));
  direct.origin->seed = 5;
  direct.origin->index = 17;
  EXPECT_EQ(*preset.generate(5, 17), direct);
  EXPECT_NE(preset.generate(5, 17)->tasks, preset.generate(5, 18)->tasks);
}

TEST(Presets, ParametersAreObeyed) {
  const Preset preset = preset_of("gcaps-table3", {{"cpus", "2"},
                                                   {"tasks_per_cpu", "5"},
                                                   {"utilisation_per_cpu", "0.25"},
                                                   {"period_ms", "10:20"},
                                                   {"gpu_share", "1"},
                                                   {"gpu_segments", "2"},
                                                   {"misc_share", "0"},
                                                   {"time_slice", "2ms"},
                                                   {"stream_priorities", "6"}});
  const Taskset taskset = *preset.generate(1, 0);
  EXPECT_EQ(taskset.platform.cpus, 2);
  EXPECT_EQ(taskset.platform.gpus[0].overheads.time_slice, Duration::milliseconds(2));
  EXPECT_EQ(taskset.platform.gpus[0].stream_priorities, 6);
  EXPECT_THAT(taskset.origin->requested, ElementsAre(250'000, 250'000));
  EXPECT_EQ(taskset.origin->parameters.size(), 9U);
  EXPECT_EQ(taskset.origin->parameters[2], "utilisation_per_cpu=0.25");
  ASSERT_EQ(taskset.tasks.size(), 10U);
  for (const Task& task : taskset.tasks) {
    EXPECT_GE(task.period, Duration::milliseconds(10));
    EXPECT_LE(task.period, Duration::milliseconds(20));
    ASSERT_EQ(task.segments.size(), 5U);
    EXPECT_EQ(std::get<GpuSegment>(task.segments[1]).misc.max, Duration());
  }
}

TEST(Presets, WithSmsGpuSegmentsHaveWorkAndAreOtherwiseTheSame) {
  for (const std::string name : {"gcaps-table3", "uunifast", "uunifast-discard", "randfixedsum"}) {
    Taskset without = *preset_of(name).generate(1, 0);
    const Taskset with = *preset_of(name, {{"sms", "8"}}).generate(1, 0);
    EXPECT_EQ(with.platform.gpus[0].sms, 8);
    ASSERT_TRUE(validate(with).empty());
    bool any = false;
    ASSERT_EQ(with.tasks.size(), without.tasks.size());
    for (std::size_t task = 0; task < with.tasks.size(); ++task) {
      for (std::size_t place = 0; place < with.tasks[task].segments.size(); ++place) {
        const auto* work = std::get_if<GpuSegment>(&with.tasks[task].segments[place]);
        if (work == nullptr) continue;
        any = true;
        // On all SMs as long as exec, but for what was rounded down.
        const Duration exec = gpu_exec_on(*work, 8, 8)->max;
        EXPECT_LE(exec, work->exec->max);
        EXPECT_GE(exec + Duration::nanoseconds(3), work->exec->max);
        std::get<GpuSegment>(without.tasks[task].segments[place]).parallel = work->parallel;
      }
    }
    EXPECT_TRUE(any);
    EXPECT_EQ(with.tasks, without.tasks);
  }
}

struct Refused {
  std::string key;
  std::string value;
  std::string expected;
};

class RefusedParameter : public testing::TestWithParam<Refused> {};

TEST_P(RefusedParameter, SaysWhatIsExpected) {
  Preset preset = preset_of("uunifast-discard");
  const auto error = preset.set(GetParam().key, GetParam().value);
  ASSERT_TRUE(error);
  EXPECT_THAT(to_string(*error), HasSubstr(GetParam().expected));
  EXPECT_TRUE(preset.generate(1, 0)->origin->parameters.empty());
}

INSTANTIATE_TEST_SUITE_P(Presets, RefusedParameter,
                         testing::Values(Refused{"cpu", "2", "one of cpus, tasks, utilisation_per_cpu, periods"},
                                         Refused{"cpu", "2", "Did you mean 'cpus'?"},
                                         Refused{"cpus", "0", "a whole number from 1 to 1000"},
                                         Refused{"cpus", "1:2", "a whole number from 1 to 1000"},
                                         Refused{"cpus", "", "a whole number"},
                                         Refused{"tasks", "99999999999999999999", "a whole number from 1 to 100000"},
                                         Refused{"utilisation_per_cpu", "1.000001", "from 0 to 1, or a range low:high"},
                                         Refused{"utilisation_per_cpu", "0.1234567", "at most 6 decimals"},
                                         Refused{"utilisation_per_cpu", "0.5:0.4", "range low:high"},
                                         Refused{"utilisation_per_cpu", "0.5:", "range low:high"},
                                         Refused{"utilisation_per_cpu", "-0.5", "range low:high"},
                                         Refused{"period_ms", "10ms", "a whole number from 1 to 1000000, or a range"},
                                         Refused{"periods", "harmonic", "log-uniform or uniform"},
                                         Refused{"lock", "3", "a time with its unit, such as 200us"},
                                         Refused{"task_utilisation", "0", "from 0.000001 to 1"}));

TEST(Presets, ContradictionsAreFoundBeforehand) {
  EXPECT_EQ(preset_of("uunifast-discard", {{"tasks", "1"}}).check().size(), 1U);
  EXPECT_EQ(preset_of("uunifast", {{"tasks", "1"}}).check().size(), 0U);
  EXPECT_EQ(preset_of("gcaps-table3", {{"cpus", "1000"}, {"tasks_per_cpu", "1:101"}}).check().size(), 1U);
  EXPECT_EQ(preset_of("randfixedsum", {{"task_utilisation", "0:0.1"}}).check().size(), 1U);
  EXPECT_EQ(preset_of("randfixedsum", {{"task_utilisation", "0.2:1"}}).check().size(), 1U);
  EXPECT_EQ(preset_of("randfixedsum", {{"task_utilisation", "0.125"}}).check().size(), 0U);
}

TEST(Presets, WhatWouldNotBeUsedIsAContradiction) {
  EXPECT_EQ(preset_of("gcaps-table3", {{"tasks", "8"}}).check().size(), 0U);
  EXPECT_EQ(preset_of("gcaps-table3", {{"tasks", "8"}, {"task_utilisation", "0.2"}}).check().size(), 0U);
  EXPECT_EQ(preset_of("gcaps-table3", {{"task_utilisation", "0.2"}}).check().size(), 1U);
  EXPECT_EQ(
      preset_of("gcaps-table3", {{"tasks", "8"}, {"tasks_per_cpu", "2"}, {"utilisation_per_cpu", "1"}}).check().size(),
      2U);
}

TEST_P(EachPreset, HasBestEffortTasksIfAsked) {
  const Preset preset = preset_of(std::string(GetParam()), {{"best_effort_share", "0.5"}});
  const Taskset taskset = *preset.generate(1, 0);
  EXPECT_EQ(std::ranges::count(taskset.tasks, true, &Task::best_effort),
            static_cast<std::ptrdiff_t>(taskset.tasks.size() / 2));
}

TEST(UUniFast, DiscardKeepsTasksBelowTheLimit) {
  const Preset preset = preset_of("uunifast-discard", {{"task_utilisation", "0.3"}, {"tasks", "10"}});
  for (std::int64_t index = 0; index < 100; ++index) {
    const Result<Taskset> taskset = preset.generate(1, index);
    ASSERT_TRUE(taskset);
    ASSERT_EQ(taskset->tasks.size(), 10U);
    for (const Task& task : taskset->tasks) {
      Taskset alone = *taskset;
      alone.tasks = {task};
      const auto utilisations = utilisation_per_cpu(alone);
      ASSERT_LE(*std::ranges::max_element(utilisations), 300'000);
    }
  }
}

TEST(RandFixedSum, KeepsTasksWithinBoundsWhereDiscardingWouldGiveUp) {
  const Preset preset =
      preset_of("randfixedsum", {{"tasks", "5"}, {"task_utilisation", "0.5:0.81"}, {"utilisation_per_cpu", "1"}});
  ASSERT_TRUE(preset.check().empty());
  for (std::int64_t index = 0; index < 100; ++index) {
    const Result<Taskset> taskset = preset.generate(1, index);
    ASSERT_TRUE(taskset);
    ASSERT_EQ(taskset->tasks.size(), 5U);
    for (const Task& task : taskset->tasks) {
      Taskset alone = *taskset;
      alone.tasks = {task};
      const auto utilisations = utilisation_per_cpu(alone);
      ASSERT_LE(*std::ranges::max_element(utilisations), 810'000);
      ASSERT_GE(*std::ranges::max_element(utilisations), 499'999);
    }
  }
}

TEST(RandFixedSum, IsAnErrorWhereTheBoundsDoNotAllowTheSum) {
  RandFixedSum parameters;
  parameters.tasks = 3;
  parameters.task_utilisation = {100'000, 200'000};
  const Result<Taskset> taskset = generate(parameters, 1);
  ASSERT_FALSE(taskset);
  EXPECT_THAT(to_string(taskset.errors().front()),
              HasSubstr("found a utilisation of 2 for 3 tasks; expected one from 0.3 to 0.6"));
}

TEST(UUniFast, GivesUpWhereNearlyEverySplitIsDiscarded) {
  const Preset preset = preset_of("uunifast-discard", {{"tasks", "4"}, {"utilisation_per_cpu", "0.99"}});
  ASSERT_TRUE(preset.check().empty());
  const Result<Taskset> taskset = preset.generate(1, 0);
  ASSERT_FALSE(taskset);
  EXPECT_THAT(to_string(taskset.errors().front()), HasSubstr("a utilisation of 3.96 among 4 tasks"));
}

// Of 10 ... 999, a third of the values are below 10 * 100^(1/3) = 46.4, another third below 215.4.
TEST(LogUniform, HasTheSameShareInEachThirdOfTheLogarithm) {
  constexpr int kTrials = 60'000;
  Random random(11);
  std::vector<int> thirds(3);
  std::vector<int> first(3);
  for (int trial = 0; trial < kTrials; ++trial) {
    const std::int64_t value = log_uniform(random, 10, 999);
    ASSERT_GE(value, 10);
    ASSERT_LE(value, 999);
    ++thirds[value <= 46 ? 0 : value <= 215 ? 1 : 2];
    if (value < 13) ++first[static_cast<std::size_t>(value - 10)];
  }
  // The sum of 1/v over 10 ... 999 is 4.6554; over 10 ... 46, 1.5882; over 47 ... 215, 1.5333.
  EXPECT_NEAR(thirds[0], kTrials * 0.3411, 500);
  EXPECT_NEAR(thirds[1], kTrials * 0.3293, 500);
  EXPECT_NEAR(first[0], kTrials * 0.1 / 4.6554, 150);
  EXPECT_NEAR(first[2], kTrials / 12.0 / 4.6554, 150);
}

TEST(LogUniform, OfOneValueAndOfAWideRange) {
  Random random(1);
  EXPECT_EQ(log_uniform(random, 5, 5), 5);
  const std::int64_t value = log_uniform(random, 1, (std::int64_t{1} << 62U) - 1);
  EXPECT_GE(value, 1);
}

TEST(UtilisationPerCpu, IsRoundedOnce) {
  Taskset taskset;
  taskset.platform.cpus = 2;
  Task task;
  task.period = Duration::nanoseconds(3'000'000);
  task.segments = {CpuSegment{{Duration(), Duration::nanoseconds(1)}}};
  taskset.tasks.assign(6, task);  // 2 ppm on core 0, though each is a third
  taskset.tasks.push_back(task);
  taskset.tasks.back().cpu = 1;
  EXPECT_THAT(utilisation_per_cpu(taskset), ElementsAre(2, 0));
}

}  // namespace
}  // namespace rtgpu
