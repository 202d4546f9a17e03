// What a set-up may not say, and what a run may not be: errors that say what is wrong.
#include "runtime/runtime.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::AllOf;
using testing::cpu;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ms;
using testing::refusal_of;
using testing::seen_of;
using testing::setup;
using testing::virtual_options;

TEST(RuntimePolicy, FederatedIsRefusedWithWhatToDoInstead) {
  const std::string said = refusal_of([] { const Runtime runtime(virtual_options("federated")); });
  EXPECT_THAT(said, AllOf(HasSubstr("found policy federated; expected one of gcaps, gcaps-wc, tsg-rr, mpcp, fmlp+"),
                          HasSubstr("TaskSetup::sms")));
}

class Setup : public ::testing::Test {
 protected:
  // What is said of a task that `change` has spoilt.
  std::string refusal(const std::function<void(TaskSetup&)>& change) {
    TaskSetup task = setup("camera", ms(10), 1, {cpu(ms(1))});
    change(task);
    return refusal_of([&] { runtime_.add_task(task, [](Job&) {}); });
  }

  Runtime runtime_{virtual_options("mpcp")};
};

TEST_F(Setup, RefusesWhatIsNoTask) {
  EXPECT_THAT(refusal([](TaskSetup& task) { task.name.clear(); }), HasSubstr("name"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.period = {}; }), HasSubstr("period"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.period = ms(-3); }), HasSubstr("period"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.deadline = ms(11); }), AllOf(HasSubstr("deadline"), HasSubstr("11")));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.deadline = ms(-1); }), HasSubstr("deadline"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.offset = ms(-1); }), AllOf(HasSubstr("offset"), HasSubstr("camera")));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.cpu_budget = {}; }), HasSubstr("budget"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.watchdog = {}; }), HasSubstr("watchdog"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.cpu = -1; }), HasSubstr("cpu"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.memory = -1; }), HasSubstr("memory"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.jitter = ms(-1); }), HasSubstr("jitter"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.segments = {cpu(ms(-1))}; }), HasSubstr("segments/0"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.released_by = ReleasedBy::file; }), HasSubstr("file"));
  EXPECT_THAT(refusal_of([&] { runtime_.add_task(setup("camera", ms(10), 1), nullptr); }), HasSubstr("'camera'"));
  EXPECT_THAT(runtime_.taskset().tasks, IsEmpty());  // nothing of them is left
  EXPECT_THAT(refusal([](TaskSetup&) {}), IsEmpty());
}

TEST_F(Setup, RefusesAServer) {
  EXPECT_THAT(refusal_of([] { const Runtime runtime(virtual_options("server")); }),
              AllOf(HasSubstr("policy server"), HasSubstr("mpcp"), HasSubstr("no server that would run misc")));
}

// The core of a server that it does not have is of no consequence.
TEST_F(Setup, TakesAPlatformWithAServerElsewhere) {
  Gpu platform = testing::plain_gpu();
  platform.server_cpu = 3;
  Runtime runtime(virtual_options("mpcp", platform));
  EXPECT_THAT(refusal_of([&] { runtime.add_task(setup("camera", ms(10), 1), [](Job&) {}); }), IsEmpty());
}

TEST_F(Setup, RefusesANameTwice) {
  EXPECT_THAT(refusal([](TaskSetup&) {}), IsEmpty());
  EXPECT_THAT(refusal([](TaskSetup& task) { task.priority = 2; }), AllOf(HasSubstr("camera"), HasSubstr("name")));
  runtime_.run_for(ms(5));
  EXPECT_EQ(runtime_.report().tasks.size(), 1U);
}

TEST_F(Setup, RefusesTasksAfterwards) {
  std::string meanwhile;
  std::string run;
  runtime_.add_task(setup("camera", ms(10), 1), [&](Job&) {
    meanwhile = refusal([](TaskSetup& task) { task.name = "other"; });
    run = refusal_of([&] { runtime_.run_for(ms(1)); });
  });
  runtime_.run_for(ms(5));
  EXPECT_THAT(meanwhile, HasSubstr("while running"));
  EXPECT_THAT(run, HasSubstr("second run"));
  EXPECT_THAT(refusal([](TaskSetup& task) { task.name = "other"; }), HasSubstr("after a run"));
  EXPECT_EQ(seen_of(runtime_.report(), "camera").faults, 0);
}

// What a job does not catch is its fault, and ends nothing else.
TEST_F(Setup, SurvivesAJobThatSetsUp) {
  runtime_.add_task(setup("camera", ms(10), 1),
                    [&](Job&) { runtime_.add_task(setup("other", ms(10), 2), [](Job&) {}); });
  runtime_.run_for(ms(15));
  EXPECT_EQ(seen_of(runtime_.report(), "camera").faults, 2);
  EXPECT_THAT(seen_of(runtime_.report(), "camera").last_fault, HasSubstr("while running"));
}

TEST_F(Setup, RefusesRunsOfNothing) {
  EXPECT_THAT(refusal_of([&] { runtime_.run_for(ms(5)); }), HasSubstr("no task"));
}

TEST_F(Setup, RefusesAnEndlessRunInVirtualTime) {
  EXPECT_THAT(refusal([](TaskSetup&) {}), IsEmpty());
  EXPECT_THAT(refusal_of([&] { runtime_.run_for(Duration::infinite()); }), HasSubstr("endless"));
  runtime_.run_for(ms(5));
  EXPECT_EQ(seen_of(runtime_.report(), "camera").jobs, 1);
}

TEST_F(Setup, RefusesAScenarioOfSomeTasks) {
  EXPECT_THAT(refusal([](TaskSetup&) {}), IsEmpty());
  const Taskset more = testing::make_taskset({testing::task("lidar", ms(10), {cpu(ms(1))})});
  EXPECT_THAT(refusal_of([&] { runtime_.add_taskset(more, synchronous_scenario(1)); }), HasSubstr("scenario"));
  runtime_.add_taskset(more);  // without one it may
  runtime_.run_for(ms(5));
  EXPECT_EQ(seen_of(runtime_.report(), "lidar").jobs, 1);
}

TEST_F(Setup, RefusesMoreSmsThanThereAre) {
  TaskSetup wide = setup("wide", ms(10), 1);
  wide.sms = 5;
  Gpu platform = testing::plain_gpu();
  platform.sms = 4;
  Runtime runtime(virtual_options("mpcp", platform));
  runtime.add_task(wide, [](Job&) {});
  EXPECT_THAT(refusal_of([&] { runtime.run_for(ms(5)); }), AllOf(HasSubstr("5 SMs"), HasSubstr("4 SMs")));

  TaskSetup first = setup("first", ms(10), 2);
  TaskSetup second = setup("second", ms(10), 1);
  first.sms = 2;
  second.sms = 3;
  Runtime together(virtual_options("mpcp", platform));
  together.add_task(first, [](Job&) {});
  together.add_task(setup("between", ms(10), 3), [](Job&) {});
  together.add_task(second, [](Job&) {});
  EXPECT_THAT(refusal_of([&] { together.run_for(ms(5)); }), AllOf(HasSubstr("2 + 3 SMs"), HasSubstr("4 SMs")));
}

}  // namespace
}  // namespace rtgpu
