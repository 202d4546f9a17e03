// `rtgpu run`: what it refuses, and how it ends then.
#include "tests/tools/documents.h"
#include "tests/tools/process.h"

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using testing::HasSubstr;

const std::string kRunnable = RTGPU_EXAMPLES "/first-taskset.json";

struct RefusedRun {
  std::vector<std::string> arguments;
  std::vector<std::string> told;  // parts of standard error
};

void PrintTo(const RefusedRun& refused, std::ostream* out) {
  for (const std::string& argument : refused.arguments) *out << argument << ' ';
}

class RefusedRunOptions : public testing::TestWithParam<RefusedRun> {};

TEST_P(RefusedRunOptions, EndWithStatus2AndNoOutput) {
  std::vector<std::string> arguments = {"run", kRunnable, "--virtual-time"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const ProcessResult run = run_rtgpu(arguments);
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, testing::StartsWith("rtgpu: error: "));
  for (const std::string& part : GetParam().told) EXPECT_THAT(run.err, HasSubstr(part));
}

const std::vector<RefusedRun> kRefusedRuns = {
    {{"--policy", "gcasp"}, {"--policy: found 'gcasp'", "Did you mean 'gcaps'?"}},
    {{"--policy", "all"}, {"--policy: found 'all'; expected one of gcaps, "}},
    {{"--policy", "server"}, {"--policy: found 'server'", "has no server", "mpcp"}},
    {{"--policy", "federated"}, {"--policy: found 'federated'", "no partition for each task yet"}},
    {{"--policy=gcaps", "--policy=mpcp"}, {"--policy: found gcaps, mpcp; expected one policy"}},
    {{"--policy=gcaps,mpcp"}, {"--policy: found gcaps, mpcp; expected one policy"}},
    {{"--device", "hots"}, {"--device: found 'hots'", "Did you mean 'host'?"}},
    {{"--device", "cuda:"}, {"--device: found 'cuda:'"}},
    {{"--device", "cuda:x"}, {"--device: found 'cuda:x'; expected one of host, host:compute, cuda, cuda:N"}},
    {{"--duration", "0s"}, {"--duration: found '0s'; expected a time above 0 with its unit"}},
    {{"--duration", "-1s"}, {"--duration: found '-1s'"}},
    {{"--duration", "soon"}, {"--duration: found 'soon'", "10s or 500ms"}},
    {{"--duration", "10"}, {"--duration: found '10'"}},
    {{"--wait", "buzy"}, {"Did you mean 'busy'?"}},
    {{"--releases", "random"}, {"--releases: found 'random'; expected one of periodic, sporadic"}},
    {{"--execution", "worts"}, {"Did you mean 'worst'?"}},
    {{"--seed", "x"}, {"--seed: found 'x'"}},
    {{"--trial", "-1"}, {"--trial: found '-1'"}},
    {{"--scheduler", "fofi"}, {"--scheduler: found 'fofi'; expected one of fifo, rr, deadline, normal"}},
    {{"--format", "ndjson"}, {"--format: found 'ndjson'; expected one of table, json, csv"}},
    {{"--check-bounds", "--share-cores"}, {"both --share-cores and --check-bounds; expected one of them"}},
    {{"--report", "page.html"}, {"--report: found 'page.html'", "not there yet"}},
    {{"--trace", "-"}, {"--trace: found -; expected the name of a file"}},
    {{"--trace", kRunnable}, {"the taskset; expected another file"}},
    {{"--seed=x", "--duration=y", "--policy=z"}, {"--seed", "--duration", "--policy", "3 errors"}},
    {{"--durations", "1s"}, {"unknown option '--durations'; did you mean '--duration'?"}},
};

INSTANTIATE_TEST_SUITE_P(Run, RefusedRunOptions, testing::ValuesIn(kRefusedRuns));

TEST(RunOptions, NoBoundHoldsWithoutFixedPriorities) {
  const ProcessResult run = run_rtgpu({"run", kRunnable, "--scheduler=deadline", "--check-bounds"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("--check-bounds: found both --scheduler deadline and --check-bounds"));
}

ProcessResult run_input(const std::string& input, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"run", "-", "--virtual-time", "--duration=10ms"});
  return run_rtgpu(more, {.input = input});
}

void expect_bad_input(const ProcessResult& run, const std::string& told) {
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(told));
}

TEST(RunInput, OneTaskset) {
  expect_bad_input(run_input(schedulable_set() + "\n" + schedulable_set() + "\n"),
                   "-: found several tasksets; expected one taskset");
  EXPECT_EQ(run_input(schedulable_set() + "\n").status, 0);
  expect_bad_input(run_input(R"({"rtgpu": 1})"), "error: -:");
  expect_bad_input(run_input(""), "error: -:");
  expect_bad_input(run_input(taskset_of("")), "/tasks");
}

TEST(RunInput, ThatCannotBeRead) {
  expect_bad_input(run_rtgpu({"run", "/nonexistent/case.json"}), "/nonexistent/case.json");
  expect_bad_input(run_rtgpu({"run"}), "FILE");
}

TEST(RunInput, WorkThatHasNoLength) {
  const std::string input = taskset_of(
      R"({"name": "a", "period": 10, "priority": 1, "segments": [{"gpu": {"misc": 0, "work": 8, "span": 2}}]})");
  expect_bad_input(run_input(input), "/tasks/0/segments/0/gpu: found an execution time that depends on the number of");
}

TEST(RunInput, StreamLevelsAreNeededForStreamPriority) {
  expect_bad_input(run_input(schedulable_set(), {"--policy=stream-priority"}), "stream_priorities");
}

TEST(RunInput, MemoryThatTheDeviceDoesNotHave) {
  const std::string input = R"({"rtgpu": 1, "platform": {"cpus": 1, "gpus": [{"memory": 100}]}, "tasks": [)"
                            R"({"name": "a", "period": 10, "priority": 1, "memory": 200, "segments": [{"cpu": 2}]}]})";
  expect_bad_input(run_input(input), "200 bytes of device memory in all (a 200); expected at most 100: 100 less");
}

TEST(RunEnvironment, MoreCoresThanTheMachineHas) {
  const std::string input =
      R"({"rtgpu": 1, "platform": {"cpus": 90000}, "tasks": [)"
      R"({"name": "a", "period": 10, "priority": 1, "cpu": 89999, "segments": [{"cpu": "1us"}]}]})";
  const ProcessResult run = run_rtgpu({"run", "-", "--scheduler=normal"}, {.input = input});
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("error: -: /platform/cpus: found tasks on 90000 cores; expected at most "));
  EXPECT_THAT(run.err, HasSubstr("--share-cores"));
  const ProcessResult shared = run_rtgpu(
      {"run", "-", "--scheduler=normal", "--share-cores", "--duration=1us", "--format=table"}, {.input = input});
  EXPECT_NE(shared.out, "") << shared.err;
  EXPECT_THAT(shared.out,
              HasSubstr("no bound is claimed: with --share-cores tasks do not run as the analysis assumes\n"));
}

// Whether it is refused depends on who runs the tests, where.
TEST(RunEnvironment, RealTimeSchedulingIsGrantedOrRefused) {
  const ProcessResult run = run_rtgpu({"run", "-", "--duration=1us", "--no-memory-lock", "--format=json"},
                                      {.input = taskset_of(R"({"name": "a", "period": "10s", "priority": 1,
                                                               "segments": [{"cpu": "1us"}]})")});
  if (run.status != 3) {
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("SCHED_FIFO 80"));
    return;
  }
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("rtgpu: error: "));
  EXPECT_THAT(run.err, HasSubstr("--allow-degraded runs without; --scheduler normal and --virtual-time need no"));
}

TEST(RunEnvironment, ATraceThatCannotBeWrittenIsToldBeforeTheRun) {
  const ProcessResult run = run_rtgpu({"run", kRunnable, "--virtual-time", "--trace=/nonexistent/folder/trace.json"});
  EXPECT_EQ(run.status, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("cannot write /nonexistent/folder/trace.json: No such file"));
}

TEST(RunEnvironment, ARefusedRunLeavesNoTrace) {
  const std::string path = (std::filesystem::temp_directory_path() / "rtgpu-run-refused-trace.json").string();
  std::filesystem::remove(path);
  const ProcessResult run = run_rtgpu({"run", "-", "--virtual-time", "--trace", path}, {.input = "{}"});
  EXPECT_EQ(run.status, 2);
  EXPECT_FALSE(std::filesystem::exists(path));
  const TemporaryFile old("old");
  EXPECT_EQ(run_rtgpu({"run", "-", "--virtual-time", "--trace", old.path()}, {.input = "{}"}).status, 2);
  EXPECT_EQ(std::filesystem::file_size(old.path()), 3U);
}

TEST(RunOptions, HelpNamesEveryOptionAndTheRule) {
  const ProcessResult run = run_rtgpu({"run", "--help"});
  EXPECT_EQ(run.status, 0);
  for (const char* part : {"FILE",           "--policy",         "default mpcp",  "--device",         "--duration",
                           "--wait",         "--releases",       "--execution",   "--seed",           "--trial",
                           "--scheduler",    "--allow-degraded", "--share-cores", "--no-memory-lock", "--virtual-time",
                           "--check-bounds", "--trace",          "--format",      "Examples:",        "Exit status:"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  EXPECT_THAT(run.out, testing::Not(HasSubstr("--report")));
}

}  // namespace
}  // namespace rtgpu
