// What the runtime has to survive: jobs that fail, die, or call what makes no sense. In virtual time.
//
// That steps of the wall clock move no release is not tested: setting that clock needs privileges.
#include "runtime/runtime.h"
#include "tests/runtime/virtual_runs.h"
#include "tests/support/build.h"

#include <cstddef>
#include <functional>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using testing::cpu;
using ::testing::ElementsAre;
using testing::gpu;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ms;
using ::testing::Not;
using testing::plain_gpu;
using testing::seen_of;
using testing::setup;
using testing::times_of;
using testing::use_gpu_well;
using testing::virtual_options;

const char* const kPolicies[] = {"gcaps", "gcaps-wc", "tsg-rr", "mpcp", "fmlp+", "stream-priority"};

// lidar's work has ended at 3 ms, but `busy` has its core: it leaves at 8, when camera has long taken the GPU.
TEST(PreemptedTask, LeavesAfterItsWorkHasCompleted) {
  for (const char* policy : {"gcaps", "gcaps-wc"}) {
    SCOPED_TRACE(policy);
    Runtime runtime(virtual_options(policy));
    TaskSetup busy = setup("busy", ms(100), 3, {cpu(ms(6))}, 1);
    busy.offset = ms(2);
    runtime.add_task(busy, [](Job&) {});
    runtime.add_task(setup("camera", ms(100), 2, {cpu(ms(4)), gpu(ms(1), ms(10))}, 0), use_gpu_well);
    runtime.add_task(setup("lidar", ms(100), 1, {gpu(Duration(), ms(3))}, 1), use_gpu_well);
    runtime.add_task(setup("late", ms(100), 0, {cpu(ms(9)), gpu(Duration(), ms(1))}, 2), use_gpu_well);
    runtime.run_for(ms(50));
    EXPECT_THAT(times_of(runtime, "lidar", TraceKind::end), ElementsAre("3ms"));
    EXPECT_THAT(times_of(runtime, "lidar", TraceKind::left), ElementsAre("8ms"));
    EXPECT_THAT(times_of(runtime, "camera", TraceKind::begin), ElementsAre("5ms"));
    EXPECT_THAT(times_of(runtime, "camera", TraceKind::end), ElementsAre("15ms"));
    EXPECT_THAT(times_of(runtime, "camera", TraceKind::preempt), IsEmpty());
    EXPECT_THAT(times_of(runtime, "late", TraceKind::end), ElementsAre("16ms"));
  }
}

// How a job may end inside its segment.
struct Ending {
  const char* name;
  std::function<void(Job&)> body;
  bool is_fault = true;
  bool dies = false;
};

std::vector<Ending> endings() {
  return {
      {"throws before it enters",
       [](Job& job) {
         job.spend(ms(3));
         throw std::runtime_error("broken");
       }},
      {"throws in its misc",
       [](Job& job) {
         job.gpu("work", [&](Stream stream) {
           stream.run(ms(50));
           job.spend(ms(3));
           throw std::runtime_error("broken");
         });
       }},
      {"throws between slices",
       [](Job& job) {
         job.gpu("work", sliced(4, 1), [&](Stream stream, Slice slice) {
           stream.run(ms(50));
           if (slice.index < 2) return;
           job.spend(ms(3));
           throw std::runtime_error("broken");
         });
       }},
      {"throws after it has entered",
       [](Job& job) {
         EXPECT_EQ(job.enter("work"), GpuStatus::ok);
         job.stream().run(ms(50));
         job.spend(ms(3));
         throw std::runtime_error("broken");
       }},
      {"throws after it has left",
       [](Job& job) {
         EXPECT_EQ(job.enter("work"), GpuStatus::ok);
         job.stream().run(ms(3));
         EXPECT_EQ(job.leave(), GpuStatus::ok);
         throw std::runtime_error("broken");
       }},
      {"throws what is no std::exception",
       [](Job& job) {
         job.gpu("work", [&](Stream) {
           job.spend(ms(3));
           throw 3;
         });
       }},
      {"returns without leaving",
       [](Job& job) {
         EXPECT_EQ(job.enter("work"), GpuStatus::ok);
         job.spend(ms(3));
       },
       false},
      {"ends its thread in its misc",
       [](Job& job) {
         job.gpu("work", [&](Stream stream) {
           stream.run(ms(50));
           job.spend(ms(3));
           pthread_exit(nullptr);
         });
       },
       false, true},
      {"ends its thread after it has entered",
       [](Job& job) {
         EXPECT_EQ(job.enter("work"), GpuStatus::ok);
         job.spend(ms(3));
         pthread_exit(nullptr);
       },
       false, true},
  };
}

class EndedJob : public ::testing::TestWithParam<const char*> {};

// `broken` fails at 3 ms, and again in its second job if it has a thread; `next` has waited for that.
TEST_P(EndedJob, FreesItsPlace) {
  for (const Ending& ending : endings()) {
    SCOPED_TRACE(ending.name);
    Runtime runtime(virtual_options(GetParam()));
    runtime.add_task(setup("broken", ms(50), 2, {}, 0), ending.body);
    runtime.add_task(setup("next", ms(50), 1, {cpu(ms(1)), gpu(Duration(), ms(4))}, 1), use_gpu_well);
    runtime.run_for(ms(70));
    const RunReport report = runtime.report();
    const TaskStatistics& broken = seen_of(report, "broken");
    EXPECT_EQ(broken.jobs, ending.dies ? 0 : 2);
    EXPECT_EQ(broken.faults, ending.is_fault ? 2 : 0);
    EXPECT_EQ(broken.thread_died, ending.dies);
    EXPECT_EQ(broken.misuses, !ending.is_fault && !ending.dies ? 2 : 0);
    if (!ending.dies) {
      EXPECT_EQ(broken.response.count(), 2);
    }
    EXPECT_EQ(seen_of(report, "next").jobs, 2);
    EXPECT_EQ(seen_of(report, "next").gpu_failures, 0);
    EXPECT_LE(seen_of(report, "next").response.max(), ms(7));
    EXPECT_EQ(report.is_clean(), !ending.is_fault && !ending.dies);
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, EndedJob, ::testing::ValuesIn(kPolicies), [](const auto& parameter) {
  std::string name = parameter.param;
  for (char& letter : name) {
    if (letter == '-' || letter == '+') letter = '_';
  }
  return name;
});

TEST(EndedJob, HandsTheLockOnAtOnce) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("broken", ms(50), 2, {}, 0), [](Job& job) {
    job.gpu("work", [&](Stream) {
      job.spend(ms(3));
      throw std::runtime_error("broken");
    });
  });
  runtime.add_task(setup("dies", ms(50), 1, {cpu(ms(1))}, 1), [](Job& job) {
    job.gpu("work", [&](Stream) {
      job.spend(ms(2));
      pthread_exit(nullptr);
    });
  });
  runtime.add_task(setup("next", ms(50), 0, {cpu(ms(2)), gpu(Duration(), ms(4))}, 2), use_gpu_well);
  runtime.run_for(ms(20));
  EXPECT_THAT(times_of(runtime, "dies", TraceKind::grant), ElementsAre("3ms"));
  EXPECT_THAT(times_of(runtime, "next", TraceKind::grant), ElementsAre("5ms"));
  EXPECT_THAT(times_of(runtime, "next", TraceKind::complete), ElementsAre("9ms"));
  const RunReport report = runtime.report();
  EXPECT_THAT(to_string(report), AllOf(HasSubstr("broken: 1 jobs ended by an exception, the last one: broken"),
                                       HasSubstr("dies: its thread ended in the middle of a job")));
}

TEST(EndedJob, KeepsTheBeginOfALongMessage) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("wordy", ms(50), 1), [](Job&) { throw std::runtime_error(std::string(1000, 'x')); });
  runtime.run_for(ms(20));
  const std::string said = seen_of(runtime.report(), "wordy").last_fault;
  EXPECT_THAT(said.size(), AllOf(Gt(50U), ::testing::Lt(1000U)));
  EXPECT_EQ(said, std::string(said.size(), 'x'));
}

// Calls in the wrong order are refused and change nothing: what is inside stays there, and its work is done.
TEST(Misuse, ChangesNothing) {
  Runtime runtime(virtual_options("mpcp"));
  runtime.add_task(setup("confused", ms(50), 2, {}, 0), [](Job& job) {
    EXPECT_EQ(job.leave(), GpuStatus::not_inside);
    const GpuStatus outer = job.gpu("outer", [&](Stream stream) {
      stream.run(ms(2));
      EXPECT_EQ(job.enter("again"), GpuStatus::already_inside);
      EXPECT_EQ(job.copy("in", {}), GpuStatus::already_inside);
      EXPECT_EQ(job.gpu("inner", [](Stream) { ADD_FAILURE(); }), GpuStatus::already_inside);
      stream.run(ms(3));
    });
    EXPECT_EQ(outer, GpuStatus::ok);
    EXPECT_EQ(job.now(), ms(5));
    EXPECT_EQ(job.leave(), GpuStatus::not_inside);
    EXPECT_EQ(job.gpu("last", [](Stream stream) { stream.run(ms(2)); }), GpuStatus::ok);
  });
  runtime.add_task(setup("next", ms(50), 1, {cpu(ms(1)), gpu(Duration(), ms(1))}, 1), use_gpu_well);
  runtime.run_for(ms(20));
  EXPECT_THAT(times_of(runtime, "next", TraceKind::grant), ElementsAre("5ms"));
  EXPECT_THAT(times_of(runtime, "confused", TraceKind::complete), ElementsAre("8ms"));
  EXPECT_THAT(times_of(runtime, "confused", TraceKind::error).size(), 5U);
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "confused").misuses, 5);
  EXPECT_EQ(seen_of(report, "next").misuses, 0);
  EXPECT_THAT(to_string(report), HasSubstr("confused: 5 calls refused"));
}

// The earlier one ranks higher, on its core and for the GPU.
TEST(EqualPriorities, RankByOrder) {
  Runtime runtime(virtual_options("mpcp"));
  for (const char* name : {"first", "second", "third"}) {
    runtime.add_task(setup(name, ms(50), 7, {cpu(ms(1)), gpu(Duration(), ms(5))}), use_gpu_well);
  }
  runtime.run_for(ms(20));
  EXPECT_THAT(times_of(runtime, "first", TraceKind::complete), ElementsAre("6ms"));
  EXPECT_THAT(times_of(runtime, "second", TraceKind::complete), ElementsAre("11ms"));
  EXPECT_THAT(times_of(runtime, "third", TraceKind::complete), ElementsAre("16ms"));
  const RunReport report = runtime.report();
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("second: has the priority of an earlier task, 7"),
                                        HasSubstr("third: has the priority of an earlier task, 7")));
  EXPECT_THAT(to_string(report), HasSubstr("third: has the priority"));
}

TEST(EqualPriorities, OfTheGpuAreReportedToo) {
  Runtime runtime(virtual_options("mpcp"));
  int priority = 3;
  for (const char* name : {"first", "second"}) {
    TaskSetup task = setup(name, ms(50), priority--, {gpu(Duration(), ms(5))});
    task.gpu_priority = 9;
    runtime.add_task(task, use_gpu_well);
  }
  runtime.run_for(ms(20));
  EXPECT_THAT(runtime.report().notes,
              ElementsAre(AllOf(HasSubstr("second"), HasSubstr("GPU priority"), HasSubstr("9"))));
}

TEST(ManyTasks, AreAllServedInOrder) {
  constexpr int kTasks = 66;
  Gpu platform = plain_gpu();
  for (const char* policy : {"gcaps", "mpcp", "stream-priority"}) {
    SCOPED_TRACE(policy);
    Runtime runtime(virtual_options(policy, platform));
    for (int number = 0; number < kTasks; ++number) {
      runtime.add_task(
          setup("task" + std::to_string(number), ms(1000), kTasks - number, {gpu(Duration(), ms(1))}, number % 3),
          use_gpu_well);
    }
    runtime.run_for(ms(10));
    const RunReport report = runtime.report();
    for (const TaskReport& task : report.tasks) EXPECT_EQ(task.seen.jobs, 1) << task.name;
    const std::string policy_name = policy;
    if (policy_name != "stream-priority") {
      EXPECT_THAT(times_of(runtime, "task0", TraceKind::complete), ElementsAre("1ms"));
      EXPECT_THAT(times_of(runtime, "task65", TraceKind::complete), ElementsAre("66ms"));
    }
    if (policy_name == "stream-priority") {
      EXPECT_THAT(report.notes, ElementsAre(HasSubstr("66 tasks share 2 stream levels")));
      EXPECT_EQ(report.tasks[0].stream_level, 0);
      EXPECT_EQ(report.tasks[65].stream_level, 1);
    } else {
      EXPECT_THAT(report.notes, IsEmpty());
    }
  }
}

// Tasks that do not say what they do may use the GPU: each has its level, a best-effort one the lowest.
TEST(StreamLevels, AreGivenToUndeclaredTasksToo) {
  Gpu platform = plain_gpu();
  platform.stream_priorities = 3;
  Runtime runtime(virtual_options("stream-priority", platform));
  TaskSetup log = setup("log", ms(50), 9);
  log.best_effort = true;
  runtime.add_task(log, [](Job&) {});
  runtime.add_task(setup("low", ms(50), 1), [](Job&) {});
  runtime.add_task(setup("high", ms(50), 2), [](Job&) {});
  runtime.run_for(ms(10));
  const RunReport report = runtime.report();
  EXPECT_EQ(report.tasks[0].stream_level, 2);
  EXPECT_EQ(report.tasks[1].stream_level, 1);
  EXPECT_EQ(report.tasks[2].stream_level, 0);
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST(StreamLevels, AreNotNeededByTasksWithoutGpu) {
  Runtime runtime(virtual_options("stream-priority"));
  runtime.add_task(setup("control", ms(50), 3, {cpu(ms(1))}), [](Job&) {});
  runtime.add_task(setup("camera", ms(50), 2, {gpu(ms(1), ms(1))}), use_gpu_well);
  runtime.add_task(setup("lidar", ms(50), 1, {gpu(ms(1), ms(1))}), use_gpu_well);
  runtime.run_for(ms(10));
  const RunReport report = runtime.report();
  EXPECT_EQ(report.tasks[1].stream_level, 0);
  EXPECT_EQ(report.tasks[2].stream_level, 1);
  EXPECT_THAT(report.notes, IsEmpty());
}

struct TracedRun {
  std::vector<Duration> responses;
  std::uint64_t dropped = 0;
  std::size_t kept = 0;
};

TracedRun run_with(bool keep_trace, std::size_t events) {
  RuntimeOptions options = virtual_options("mpcp");
  options.keep_trace = keep_trace;
  options.trace_events = events;
  Runtime runtime(options);
  TracedRun run;
  int number = 0;
  for (const char* name : {"high", "mid", "low"}) {
    runtime.add_task(setup(name, ms(20), 3 - number, {cpu(ms(1)), gpu(ms(1), ms(4))}, number % 2), use_gpu_well);
    ++number;
  }
  runtime.run_for(ms(400));
  const RunReport report = runtime.report();
  for (const TaskReport& task : report.tasks) {
    run.responses.push_back(task.seen.response.max());
    run.responses.push_back(*task.seen.response.mean());
    EXPECT_EQ(task.seen.jobs, 21);
  }
  run.dropped = report.trace_events_dropped;
  run.kept = runtime.trace().events.size();
  EXPECT_EQ(runtime.trace().dropped, run.dropped);
  if (run.dropped > 0) {
    EXPECT_THAT(to_string(report), HasSubstr("events dropped"));
  }
  return run;
}

TEST(FullTrace, DropsEventsAndChangesNothingElse) {
  const TracedRun none = run_with(false, 1U << 16U);
  const TracedRun all = run_with(true, 1U << 16U);
  const TracedRun few = run_with(true, 8);
  EXPECT_EQ(none.kept, 0U);
  EXPECT_EQ(all.dropped, 0U);
  EXPECT_THAT(few.dropped, Gt(0U));
  EXPECT_EQ(few.kept + few.dropped, all.kept);
  EXPECT_EQ(all.responses, none.responses);
  EXPECT_EQ(few.responses, none.responses);
}

// An hour of nothing.
TEST(FirstJob, AfterALongTimeIsInTheStatistics) {
  Runtime runtime(virtual_options("mpcp"));
  TaskSetup late = setup("late", ms(10), 1, {cpu(ms(2)), gpu(ms(1), ms(4))});
  late.offset = Duration::seconds(3600);
  runtime.add_task(late, use_gpu_well);
  runtime.run_for(Duration::seconds(3600));
  const RunReport report = runtime.report();
  EXPECT_EQ(seen_of(report, "late").jobs, 1);
  EXPECT_EQ(seen_of(report, "late").response.count(), 1);
  EXPECT_EQ(seen_of(report, "late").response.max(), ms(7));
  EXPECT_EQ(seen_of(report, "late").release_latency.count(), 1);
  EXPECT_EQ(report.length, Duration::seconds(3600) + ms(7));
}

}  // namespace
}  // namespace rtgpu
