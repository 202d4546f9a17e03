// Traces of runs: written, read back, and held to the rules that simulated schedules are held to.
#include "analysis/simulation/schedule_check.h"
#include "runtime/runtime.h"
#include "runtime/trace/schedule_of_trace.h"
#include "taskset/json.h"
#include "tests/runtime/read_chrome_trace.h"
#include "tests/runtime/schedule_text.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace rtgpu {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Taskset example(const std::string& name) {
  auto loaded = read_taskset(content_of(std::filesystem::path(RTGPU_EXAMPLES) / name));
  EXPECT_TRUE(loaded);
  return loaded->taskset;
}

class TracedRun : public ::testing::TestWithParam<Policy> {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  RuntimeOptions options(const Taskset& taskset) const {
    RuntimeOptions options;
    options.policy = to_string(GetParam());
    options.gpu = taskset.platform.gpus.front();
    options.trace = path_;
    options.keep_trace = true;
    return options;
  }

  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      ("rtgpu-trace-" + std::to_string(getpid()) + std::string(to_string(GetParam())) + ".json");
};

TEST_P(TracedRun, InVirtualTimeIsLegal) {
  const Taskset taskset = example("two-cores-six-tasks.json");
  RuntimeOptions options = TracedRun::options(taskset);
  options.virtual_time = true;
  Runtime runtime(options);
  runtime.add_taskset(taskset);
  runtime.run_for(Duration::milliseconds(400));
  const Schedule read = testing::read_chrome_trace(content_of(path_));
  EXPECT_GT(read.gpu.size(), 30U);
  EXPECT_EQ(testing::first_difference(schedule_of(runtime.trace(), taskset), read), "");
  for (const ScheduleViolation& violation : check_schedule(taskset, GetParam(), WaitChoice::file, read)) {
    ADD_FAILURE() << to_string(violation, taskset);
  }
}

// On a real machine nothing takes its declared time exactly, who has a core is not recorded, and the ends of slices,
// blocks and switches are noticed late, perhaps only when the work is done as well. What the policy decides has to hold
// to the nanosecond.
TEST_P(TracedRun, InRealTimeFollowsThePolicy) {
  const Taskset taskset = example("two-cores-six-tasks.json");
  RuntimeOptions options = TracedRun::options(taskset);
  options.realtime.scheduler = Scheduler::normal;
  options.realtime.share_cores = true;
  options.realtime.lock_memory = false;
  Runtime runtime(options);
  runtime.add_taskset(taskset);
  runtime.run_for(Duration::milliseconds(100));
  EXPECT_EQ(runtime.trace().dropped, 0U);
  const Schedule read = testing::read_chrome_trace(content_of(path_));
  EXPECT_GE(read.gpu.size(), 6U);
  const std::set<ScheduleRule> of_machine = {
      ScheduleRule::execution_time, ScheduleRule::core,     ScheduleRule::release,         ScheduleRule::context_switch,
      ScheduleRule::gpu_work,       ScheduleRule::gpu_turn, ScheduleRule::gpu_interruption};
  for (const ScheduleViolation& violation : check_schedule(taskset, GetParam(), WaitChoice::file, read)) {
    if (!of_machine.contains(violation.rule)) ADD_FAILURE() << to_string(violation, taskset);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, TracedRun,
                         ::testing::Values(Policy::gcaps, Policy::gcaps_wc, Policy::tsg_rr, Policy::mpcp,
                                           Policy::fmlp_plus, Policy::stream_priority),
                         [](const auto& tested) {
                           std::string name(to_string(tested.param));
                           std::ranges::replace(name, '-', '_');
                           std::ranges::replace(name, '+', 'p');
                           return name;
                         });

}  // namespace
}  // namespace rtgpu
