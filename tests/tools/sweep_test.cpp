// `rtgpu sweep`: its CSV, what it refuses, and that a sweep that was stopped is gone on with.
#include "tools/format/sweep.h"

#include "analysis/experiments/paper_sweeps.h"
#include "analysis/experiments/run_chunks.h"
#include "analysis/experiments/sweep_state.h"
#include "tests/tools/process.h"
#include "tools/format/sweep_chart.h"
#include "tools/gnuplot.h"
#include "tools/output_file.h"
#include "tools/vary.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kHeader = "parameter,value,policy,wait,variant,tasksets,schedulable,ratio\n";

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A folder for the files of a sweep, for as long as the object lives.
class SweepFolder : public testing::Test {
 protected:
  SweepFolder() : mark_("", ".sweep"), folder_(mark_.path() + ".d") { std::filesystem::create_directory(folder_); }
  ~SweepFolder() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }

 private:
  TemporaryFile mark_;
  std::string folder_;
};

TEST_F(SweepFolder, TheCsvHasARowForEachValueAndApproach) {
  const ProcessResult run = run_rtgpu({"sweep", "--preset", "gcaps-table3", "--vary", "utilisation_per_cpu=0.2:0.4:0.1",
                                       "--set", "cpus=1", "--policy", "gcaps,mpcp", "--wait", "both", "--variant",
                                       "published", "--tasksets", "20", "--seed", "3", "--csv", file("out.csv")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const std::string csv = content_of(file("out.csv"));
  EXPECT_THAT(csv, StartsWith(std::string(kHeader) + "utilisation_per_cpu,0.2,gcaps,suspend,published,20,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 4);
  EXPECT_THAT(csv, HasSubstr("\nutilisation_per_cpu,0.4,mpcp,busy,published,20,"));
  EXPECT_FALSE(std::filesystem::exists(file("out.csv.partial")));

  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["command"], "sweep");
  EXPECT_EQ(answer["complete"], true);
  ASSERT_EQ(answer["results"].size(), 12U);
  EXPECT_EQ(answer["results"][4]["value"], 0.3);
  EXPECT_EQ(answer["results"][4]["tasksets"], 20);
}

// The tasksets of a point are those of `generate`, and what is counted is what `analyze` says of them.
TEST_F(SweepFolder, AgreesWithGenerateAndAnalyze) {
  const ProcessResult sets = run_rtgpu({"generate", "--preset=gcaps-table3", "--set", "cpus=2", "--set",
                                        "utilisation_per_cpu=0.6", "--count=30", "--seed=5"});
  const ProcessResult bounds =
      run_rtgpu({"analyze", "-", "--policy=tsg-rr", "--variant=published"}, {.input = sets.out});
  int schedulable = 0;
  for (std::size_t at = 0; (at = bounds.out.find("\"schedulable\":true", at)) != std::string::npos; ++at) ++schedulable;
  ASSERT_GT(schedulable, 0);
  ASSERT_LT(schedulable, 30);
  const ProcessResult run =
      run_rtgpu({"sweep", "--preset=gcaps-table3", "--vary", "utilisation_per_cpu=0.6,0.5", "--set", "cpus=2",
                 "--policy=tsg-rr", "--variant=published", "--tasksets=30", "--seed=5", "--format=csv"});
  EXPECT_THAT(run.out, HasSubstr("0.6,tsg-rr,suspend,published,30," + std::to_string(schedulable) + ","));
}

TEST(SweepOptions, ThePresetsOfThePaperHaveTheirApproaches) {
  const ProcessResult eight = run_rtgpu({"sweep", "--preset=gcaps-fig8f", "--tasksets=1", "--format=csv"});
  EXPECT_EQ(eight.status, 0) << eight.err;
  EXPECT_EQ(std::count(eight.out.begin(), eight.out.end(), '\n'), 1 + 9 * 8);
  EXPECT_THAT(eight.out, HasSubstr("\nbest_effort_share,0.9,fmlp+,busy,published,1,"));
  const ProcessResult nine =
      run_rtgpu({"sweep", "--preset=gcaps-fig9c", "--tasksets=1", "--format=table", "--variant=both", "--wait=busy"});
  EXPECT_EQ(nine.status, 0) << nine.err;
  EXPECT_THAT(nine.out, HasSubstr("gcaps-fig9c: gcaps-table3, drawn_as=program, 1 taskset a point from seed 0"));
  EXPECT_THAT(nine.out, HasSubstr("  cpus  gcaps      gcaps  gcaps+search  gcaps+search\n"));
  EXPECT_THAT(nine.out, HasSubstr("         safe  published          safe     published\n"));
}

TEST(SweepOptions, WhatAnAnalysisDoesNotCoverIsSaidAndLeftOut) {
  const ProcessResult run = run_rtgpu({"sweep", "--preset=uunifast", "--vary=stream_priorities=0,4", "--tasksets=3",
                                       "--policy=stream-priority", "--format=csv"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("stream_priorities,0,stream-priority,suspend,safe,0,0,\n"));
  EXPECT_THAT(run.out, HasSubstr("stream_priorities,4,stream-priority,suspend,safe,3,"));
  EXPECT_THAT(run.err, HasSubstr("3 of 6 tasksets are not covered by the analysis of stream-priority suspend safe"));
}

struct RefusedSweep {
  std::vector<std::string> arguments;
  std::string told;
};

void PrintTo(const RefusedSweep& refused, std::ostream* out) {
  *out << refused.told;
}

class RefusedSweepOptions : public testing::TestWithParam<RefusedSweep> {};

TEST_P(RefusedSweepOptions, EndWithStatus2AndNoOutput) {
  std::vector<std::string> arguments = {"sweep"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const ProcessResult run = run_rtgpu(arguments);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(GetParam().told));
}

const std::vector<RefusedSweep> kRefusedSweeps = {
    {{}, "--preset"},
    {{"--preset=gcaps-fig8h"}, "--preset: found 'gcaps-fig8h'; expected one of gcaps-fig8a"},
    {{"--preset=gcaps-table3"}, "--vary: found nothing to vary"},
    {{"--preset=gcaps-fig8b", "--vary=cpus=1:2:1"}, "--vary: found 'cpus=1:2:1' with gcaps-fig8b"},
    {{"--preset=gcaps-fig8b", "--set=utilisation_per_cpu=1"}, "--set: found 'utilisation_per_cpu', the key that is"},
    {{"--preset=gcaps-fig8a", "--set=tasks_per_cpu=2"}, "--set: found tasks_per_cpu and tasks"},
    {{"--preset=gcaps-table3", "--vary=cpu=1:2:1"}, "--vary: found the unknown key 'cpu'"},
    {{"--preset=gcaps-table3", "--vary=cpus=1:2:0"}, "--vary: found 'cpus=1:2:0'; expected key=a:b:step"},
    {{"--preset=gcaps-table3", "--vary=cpus=1:2:0.5"}, "--vary: found cpus=1.5; expected a whole number"},
    {{"--preset=gcaps-fig8b", "--policy=mcpc", "--tasksets=0", "--jobs=0"}, "--jobs: found '0'"},
    {{"--preset=gcaps-fig8b", "--policy=gcaps-wc"}, "--policy: found policy gcaps-wc, variant published"},
    {{"--preset=gcaps-fig8b", "--policy=tsg-rr", "--gpu-priorities=search"}, "--gpu-priorities: found 'search'"},
    {{"--preset=gcaps-fig8b", "--variant=safest"}, "--variant: found 'safest'"},
    {{"--preset=gcaps-fig8b", "--plot=fig8b.png"}, "--plot: found 'fig8b.png'"},
    {{"--preset=uunifast", "--vary=periods=uniform,log-uniform", "--plot=a.svg"}, "--plot: found values of periods"},
    {{"--preset=gcaps-fig8b", "--resume"}, "--resume: found no --csv FILE"},
    {{"--preset=uunifast", "--vary=cpus=1", "--policy=stream-priority"}, "found no number of stream priorities"},
    {{"--preset=uunifast-discard", "--vary=utilisation_per_cpu=0.99", "--set=tasks=4"}, "no split among 10000"},
};

INSTANTIATE_TEST_SUITE_P(Sweep, RefusedSweepOptions, testing::ValuesIn(kRefusedSweeps));

TEST(Vary, ValuesAreExact) {
  const auto values_of = [](const char* text) {
    Errors errors;
    const auto variation = parse_variation("--vary", text, errors);
    return variation ? variation->values : std::vector<std::string>{errors.front().expected};
  };
  EXPECT_THAT(values_of("u=0.1:0.35:0.1"), ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(values_of("u=2:2:1"), ElementsAre("2"));
  EXPECT_THAT(values_of("lock=0us:1ms:500us"), ElementsAre("0ns", "500us", "1ms"));
  EXPECT_THAT(values_of("periods=uniform,log-uniform"), ElementsAre("uniform", "log-uniform"));
  EXPECT_EQ(values_of("u=0:1:0.000001"), values_of("u=0:2:0.000001"));  // too many both
  for (const char* text : {"u", "u=", "=1:2:1", "u=1:2", "u=2:1:1", "u=1:2:-1", "u=0us:1:1", "u=0:1:0.0000001"}) {
    EXPECT_THAT(values_of(text), ElementsAre(StartsWith("key=a:b:step")));
  }
}

TEST(SweepFormat, RatiosAreRoundedOnce) {
  PointCounts point;
  point.tasksets = 3;
  EXPECT_EQ(ratio_text(point, {2, 0}), "0.666667");
  EXPECT_EQ(ratio_text(point, {1, 1}), "0.5");
  EXPECT_EQ(ratio_text(point, {3, 0}), "1");
  EXPECT_EQ(ratio_text(point, {0, 0}), "0");
  EXPECT_EQ(ratio_text(point, {0, 3}), "");
  point.tasksets = 1'000'000'000;
  EXPECT_EQ(ratio_text(point, {999'999'999, 0}), "1");
}

TEST(SweepChart, HasALineForEachApproachAndLeavesOutWhatHasNoRatio) {
  SweepResult result;
  result.experiment.parameter = "lock";
  result.experiment.values = {"0us", "100us", "1ms"};
  result.experiment.tasksets = 4;
  for (const WaitChoice wait : {WaitChoice::suspend, WaitChoice::busy}) {
    result.experiment.approaches.push_back({Policy::mpcp, wait});
  }
  result.experiment.approaches.push_back({Policy::fmlp_plus, WaitChoice::busy});
  result.points = {{4, {{4, 0}, {3, 0}, {0, 4}}}, {4, {{2, 0}, {1, 0}, {0, 3}}}, {0, {{}, {}, {}}}};
  ASSERT_TRUE(can_be_drawn(result.experiment));
  const LineChart chart = chart_of(result, "uunifast");
  EXPECT_EQ(chart.title, "uunifast, 4 tasksets a point (not complete), safe analyses");
  EXPECT_EQ(chart.x_label, "lock (ms)");
  ASSERT_EQ(chart.lines.size(), 3U);
  EXPECT_EQ(chart.lines[1].name, "mpcp, busy");
  EXPECT_EQ(chart.lines[0].colour, chart.lines[1].colour);
  EXPECT_TRUE(chart.lines[1].is_dashed);
  ASSERT_EQ(chart.lines[0].points.size(), 2U);
  EXPECT_EQ(chart.lines[0].points[1].x, "0.1");
  EXPECT_EQ(chart.lines[0].points[1].y, "0.5");
  ASSERT_EQ(chart.lines[2].points.size(), 1U);
  EXPECT_NE(chart.lines[2].colour, chart.lines[0].colour);

  result.experiment.approaches[2].variant = Variant::published;
  EXPECT_EQ(chart_of(result, "uunifast").lines[2].name, "fmlp+, busy, published");
  result.experiment.values[0] = "uniform";
  EXPECT_FALSE(can_be_drawn(result.experiment));
}

TEST_F(SweepFolder, DrawsTheResult) {
  if (missing_gnuplot()) GTEST_SKIP() << "there is no gnuplot";
  const ProcessResult run = run_rtgpu({"sweep", "--preset=gcaps-fig9f", "--tasksets=2", "--plot=" + file("out.html")});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(content_of(file("out.html")), HasSubstr("gcaps+search, busy"));
  EXPECT_THAT(content_of(file("out.html")), HasSubstr("<svg"));
}

// What the command leaves behind when it is stopped, made by hand: the state after some of the chunks.
TEST_F(SweepFolder, GoesOnFromAStateAndGivesTheSameBytes) {
  SweepExperiment experiment = *paper_sweep("gcaps-fig9d");
  experiment.tasksets = 60;
  const Sweep sweep = *Sweep::of(experiment);
  SweepCounts counts = sweep.no_counts();
  ASSERT_TRUE(run_chunks(sweep, ChunkSet(0, 9), {.jobs = 1}, counts).empty());
  std::ofstream(file("b.csv.partial")) << write_sweep_state(sweep, counts);

  std::vector<std::string> arguments = {"sweep", "--preset=gcaps-fig9d", "--tasksets=60", "--csv=" + file("a.csv")};
  EXPECT_EQ(run_rtgpu(arguments).status, 0);
  arguments.back() = "--csv=" + file("b.csv");
  const ProcessResult refused = run_rtgpu(arguments);  // it would be lost
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("expected --resume"));
  arguments.emplace_back("--resume");
  arguments[2] = "--tasksets=61";
  const ProcessResult other = run_rtgpu(arguments);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("b.csv.partial: found tasksets 60; expected 61"));
  arguments[2] = "--tasksets=60";
  arguments.emplace_back("--jobs=3");
  EXPECT_EQ(run_rtgpu(arguments).status, 0);
  EXPECT_EQ(content_of(file("b.csv")), content_of(file("a.csv")));
  EXPECT_FALSE(std::filesystem::exists(file("b.csv.partial")));
}

TEST_F(SweepFolder, AFileIsReplacedAllAtOnceAndALinkStays) {
  std::ofstream(file("old")) << "old";
  std::filesystem::create_symlink(file("old"), file("link"));
  replace_file(file("link"), "new");
  EXPECT_EQ(content_of(file("old")), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(file("link")));
  replace_file(file("fresh"), "content");
  EXPECT_EQ(content_of(file("fresh")), "content");
  replace_file("/dev/null", "content");
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
  EXPECT_THROW(replace_file(file("none") + "/file", ""), std::system_error);
}

TEST_F(SweepFolder, ACsvThatCannotBeWrittenIsToldBeforehand) {
  const ProcessResult run = run_rtgpu({"sweep", "--preset=gcaps-fig8b", "--csv=" + file("none") + "/out.csv"});
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, StartsWith("rtgpu: error: cannot write "));
}

TEST_F(SweepFolder, AnInterruptLeavesWhatIsDone) {
  // The note that the process is interrupted after is written once signals are handled.
  const ProcessResult run = run_rtgpu({"sweep", "--preset=uunifast", "--vary=tasks=4:8:2", "--tasksets=1000000000",
                                       "--policy=all", "--csv=" + file("out.csv"), "--format=csv"},
                                      {.interrupt_after = "without stream-priority"});
  EXPECT_EQ(run.status, -1);  // by the signal
  EXPECT_THAT(run.err, HasSubstr("rtgpu: note: stopped: "));
  EXPECT_THAT(run.err, EndsWith("of 3000000000 tasksets of all points are done. Go on with the same options and "
                                "--resume.\n"));
  EXPECT_EQ(content_of(file("out.csv")), run.out);
  EXPECT_THAT(run.out, StartsWith(kHeader));
  EXPECT_THAT(content_of(file("out.csv.partial")), HasSubstr("\"tasksets\":1000000000"));
}

}  // namespace
}  // namespace rtgpu
