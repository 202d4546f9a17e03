#include "runtime/machine/real_machine.h"

#include "runtime/machine/priority_lock.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// There in programs that are built with ThreadSanitizer.
extern "C" [[gnu::weak]] void __tsan_init();  // NOLINT(readability-identifier-naming)

namespace rtgpu {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Duration kNever = Duration::infinite();

RealtimeOptions options_of(Scheduler scheduler) {
  RealtimeOptions options;
  options.scheduler = scheduler;
  options.lock_memory = false;
  return options;
}

// A thread that is on no core, and need not run in time.
ThreadSetup anywhere(std::string name) {
  return {.name = std::move(name), .real_time = false};
}

pid_t own_tid() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

int priority_of(pid_t tid) {
  sched_param parameters{};
  sched_getparam(tid, &parameters);
  return parameters.sched_priority;
}

// Empty if this process may use SCHED_FIFO, else why not.
std::string why_no_fifo() {
  if (&__tsan_init != nullptr) return "locks of ThreadSanitizer spin, for ever if a lower priority holds them";
  const auto items = prepare_process(options_of(Scheduler::fifo));
  for (const RealtimeItem& item : items) {
    if (!item.ok) return item.what + ": " + item.reason;
  }
  return {};
}

class RealMachineWaiting : public testing::TestWithParam<Waiting> {
 protected:
  RealMachine machine_{options_of(Scheduler::normal)};
};

TEST_P(RealMachineWaiting, TakesASignalThatIsSetAlready) {
  machine_.start(anywhere("only"), [&] {
    Signal signal;
    machine_.notify(signal);
    machine_.notify(signal);
    EXPECT_TRUE(machine_.wait(signal, GetParam(), kNever));
    EXPECT_FALSE(machine_.wait(signal, GetParam(), machine_.now())) << "set twice is set once";
    machine_.notify(signal);
    EXPECT_TRUE(machine_.wait(signal, GetParam(), 0ms)) << "set counts more than due";
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
}

TEST_P(RealMachineWaiting, ReturnsAtOnceFromTimesThatArePast) {
  machine_.start(anywhere("only"), [&] {
    Signal signal;
    while (machine_.now() < Duration()) machine_.spend(Duration::microseconds(100));
    for (const Duration past : {Duration(), Duration::nanoseconds(-5), Duration::seconds(-1'000'000'000),
                                Duration::nanoseconds(std::numeric_limits<std::int64_t>::min())}) {
      EXPECT_TRUE(machine_.is_due(past));
      EXPECT_FALSE(machine_.wait(signal, GetParam(), past));
      EXPECT_EQ(signal.word.load(), Signal::kClear);
    }
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
}

TEST_P(RealMachineWaiting, EndsWhenTheTimeComes) {
  machine_.start(anywhere("only"), [&] {
    Signal signal;
    EXPECT_FALSE(machine_.wait(signal, GetParam(), Duration())) << "threads start before 0";
    EXPECT_GE(machine_.now(), Duration());
    const Duration until = machine_.now() + Duration::milliseconds(3);
    EXPECT_FALSE(machine_.wait(signal, GetParam(), until));
    EXPECT_GE(machine_.now(), until);
    EXPECT_TRUE(machine_.is_due(until));
    EXPECT_FALSE(machine_.is_due(kNever));
    EXPECT_EQ(signal.word.load(), Signal::kClear);
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
}

// Waits that are longer than any clock are waits for ever.
TEST_P(RealMachineWaiting, EndsWithASignal) {
  for (const Duration until : {kNever, Duration::nanoseconds(std::numeric_limits<std::int64_t>::max() - 1)}) {
    RealMachine machine(options_of(Scheduler::normal));
    Signal signal;
    std::atomic<bool> is_there = false;
    machine.start(anywhere("waits"), [&] {
      is_there = true;
      EXPECT_TRUE(machine.wait(signal, GetParam(), until));
    });
    std::thread notifier([&] {
      while (!is_there) std::this_thread::yield();
      machine.notify(signal);
    });
    EXPECT_THAT(machine.run(), IsEmpty());
    notifier.join();
  }
}

TEST_P(RealMachineWaiting, HandsOverManyTimes) {
  // A spinner on the only CPU keeps it until its time slice ends.
  const int rounds = GetParam() == Waiting::suspended ? 5'000 : 50;
  Signal ping;
  Signal pong;
  int balls = 0;  // guarded by whose turn it is
  machine_.start(anywhere("ping"), [&] {
    for (int round = 0; round < rounds; ++round) {
      EXPECT_EQ(balls, 2 * round);
      ++balls;
      machine_.notify(ping);
      EXPECT_TRUE(machine_.wait(pong, GetParam(), kNever));
    }
  });
  machine_.start(anywhere("pong"), [&] {
    for (int round = 0; round < rounds; ++round) {
      EXPECT_TRUE(machine_.wait(ping, GetParam(), kNever));
      ++balls;
      machine_.notify(pong);
    }
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_EQ(balls, 2 * rounds);
}

// Some waits end by time and some by the signal, and some by both at once; none is lost: the last one is for ever.
TEST_P(RealMachineWaiting, LosesNoSignalAmongTimeouts) {
  const int count = GetParam() == Waiting::suspended ? 20'000 : 2'000;
  Signal signal;
  std::atomic<int> sent = 0;
  for (int notifier = 0; notifier < 2; ++notifier) {
    machine_.start(anywhere("notifies"), [&] {
      for (int each = 0; each < count; ++each) {
        ++sent;
        machine_.notify(signal);
      }
    });
  }
  machine_.start(anywhere("waits"), [&] {
    Duration ahead;
    while (sent < 2 * count) {
      const bool soon = ahead < Duration::microseconds(20);
      machine_.wait(signal, GetParam(), soon ? machine_.now() + ahead : kNever);
      ahead = soon ? ahead + Duration::microseconds(1) : Duration();
    }
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_EQ(sent, 2 * count);
}

INSTANTIATE_TEST_SUITE_P(Both, RealMachineWaiting, testing::Values(Waiting::suspended, Waiting::spinning),
                         [](const auto& which) {
                           return which.param == Waiting::suspended ? "Suspended" : "Spinning";
                         });

TEST(RealMachine, ReturnsWhenAllThreadsHaveEnded) {
  RealMachine machine(options_of(Scheduler::normal));
  std::atomic<int> ended = 0;
  for (std::size_t task = 0; task < 5; ++task) {
    machine.start({.name = "task", .task = task, .core = 0, .rank = static_cast<int>(task)}, [&] {
      Signal nobody;
      machine.wait(nobody, Waiting::suspended, 1ms);
      ++ended;
    });
  }
  EXPECT_THAT(machine.run(), IsEmpty());
  EXPECT_EQ(ended, 5);
  EXPECT_TRUE(machine.realtime().all_granted());
  EXPECT_FALSE(machine.is_virtual());
  EXPECT_EQ(machine.order(), 0U);
}

TEST(RealMachine, SpendsTheThreadsOwnTime) {
  RealMachine machine(options_of(Scheduler::normal));
  machine.start(anywhere("busy"), [&] {
    const Duration before = machine.execution_time();
    machine.spend(2ms);
    EXPECT_GE(machine.execution_time(), before + Duration::milliseconds(2));
    machine.spend(Duration());
    machine.spend(Duration::nanoseconds(-1));
  });
  EXPECT_THAT(machine.run(), IsEmpty());
}

TEST(RealMachine, PinsTasksToTheCpusThatAreThere) {
  const std::vector<int> cpus = usable_cpus();
  RealMachine machine(options_of(Scheduler::normal));
  std::vector<std::vector<int>> used(cpus.size());
  for (std::size_t core = 0; core < cpus.size(); ++core) {
    machine.start({.name = "task", .task = core, .core = static_cast<int>(core)},
                  [&, core] { used[core] = usable_cpus(); });
  }
  std::vector<int> free;
  machine.start(anywhere("free"), [&] { free = usable_cpus(); });
  EXPECT_THAT(machine.run(), IsEmpty());
  for (std::size_t core = 0; core < cpus.size(); ++core) EXPECT_THAT(used[core], ElementsAre(cpus[core]));
  EXPECT_EQ(free, cpus);
}

TEST(RealMachine, RefusesMoreCoresThanThereAre) {
  const std::vector<int> cpus = usable_cpus();
  for (const bool share : {false, true}) {
    RealtimeOptions options = options_of(Scheduler::normal);
    options.share_cores = share;
    RealMachine machine(options);
    std::vector<int> used;
    machine.start({.name = "task", .task = 0, .core = static_cast<int>(cpus.size())}, [&] { used = usable_cpus(); });
    const Errors errors = machine.run();
    if (share) {
      EXPECT_THAT(errors, IsEmpty());
      EXPECT_THAT(used, ElementsAre(cpus.front()));
      continue;
    }
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].code, ErrorCode::limit);
    EXPECT_EQ(errors[0].found, "tasks on " + std::to_string(cpus.size() + 1) + " cores");
    EXPECT_THAT(used, IsEmpty()) << "it ran";
  }
}

TEST(RealMachine, StartsDegradedOnlyIfThatIsAllowed) {
  for (const bool allowed : {false, true}) {
    RealtimeOptions options = options_of(Scheduler::fifo);
    options.highest_priority = 98;
    options.allow_degraded = allowed;
    RealMachine machine(options);
    std::atomic<int> ran = 0;
    machine.start({.name = "task", .task = 0, .core = 0}, [&] { ++ran; });
    machine.start(anywhere("other"), [&] { ++ran; });
    const Errors errors = machine.run();
    EXPECT_FALSE(machine.realtime().all_granted());
    EXPECT_EQ(ran, allowed ? 2 : 0);
    if (allowed) {
      EXPECT_THAT(errors, IsEmpty());
      continue;
    }
    ASSERT_FALSE(errors.empty());
    EXPECT_EQ(errors[0].code, ErrorCode::environment);
    EXPECT_EQ(errors.size(), machine.realtime().refusals().size());
  }
}

TEST(RealMachine, DoesNotStartBeforeItRuns) {
  bool ran = false;
  {
    RealMachine machine(options_of(Scheduler::normal));
    machine.start(anywhere("never"), [&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(RealMachine, LeavesNoThreadBehind) {
  constexpr int kRuns = 1000;
  std::thread([] {}).join();  // a sanitizer may keep one of its own from the first one on
  const std::ptrdiff_t before = threads_of_this_process();
  std::atomic<int> ran = 0;
  for (int run = 0; run < kRuns; ++run) {
    // Every other one is refused.
    RealtimeOptions options = options_of(run % 2 == 0 ? Scheduler::normal : Scheduler::fifo);
    options.highest_priority = 98;
    RealMachine machine(options);
    Signal signal;
    machine.start({.name = "task", .task = 0, .core = 0}, [&] {
      machine.wait(signal, Waiting::suspended, kNever);
      ++ran;
    });
    machine.start(anywhere("other"), [&] { machine.notify(signal); });
    EXPECT_EQ(machine.run().empty(), run % 2 == 0);
  }
  EXPECT_EQ(ran, kRuns / 2);
  // A thread that has been joined may still be about to leave the kernel.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (threads_of_this_process() > before && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  EXPECT_LE(threads_of_this_process(), before);
}

// Where real-time scheduling is allowed.
class RealMachineFifo : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = why_no_fifo();
    if (!why.empty()) GTEST_SKIP() << why;
  }

  void task(std::size_t number, int rank, std::function<void()> body) {
    machine_.start({.name = "task " + std::to_string(number), .task = number, .core = 0, .rank = rank},
                   std::move(body));
  }
  void note(std::string what) {
    const std::lock_guard guard(notes_lock_);
    notes_.push_back(std::move(what));
  }

  RealMachine machine_{options_of(Scheduler::fifo)};
  PriorityLock notes_lock_;
  std::vector<std::string> notes_;
};

TEST_F(RealMachineFifo, GivesPrioritiesInTheOrderOfTheRanks) {
  std::vector<int> priorities(5);
  const auto look = [&](std::size_t at) { return [&priorities, at] { priorities[at] = priority_of(0); }; };
  task(0, 7, look(0));
  task(1, 2, look(1));
  machine_.start({.name = "idle", .task = 2, .core = 0, .rank = 0, .best_effort = true}, look(2));
  machine_.start({.name = "device"}, look(3));
  machine_.start(anywhere("logger"), look(4));
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(priorities, ElementsAre(79, 80, 0, 82, 0));
}

TEST_F(RealMachineFifo, GivesTheLastPriorityToAllThatAreTooMany) {
  RealtimeOptions options = options_of(Scheduler::fifo);
  options.highest_priority = 2;
  options.allow_degraded = true;
  RealMachine machine(options);
  std::vector<int> priorities(4);
  for (std::size_t each = 0; each < priorities.size(); ++each) {
    machine.start({.name = "task", .task = each, .core = 0, .rank = static_cast<int>(each)},
                  [&, each] { priorities[each] = priority_of(0); });
  }
  EXPECT_THAT(machine.run(), IsEmpty());
  EXPECT_THAT(priorities, ElementsAre(2, 1, 1, 1));
  EXPECT_EQ(machine.realtime().refusals().size(), 2U);
}

TEST_F(RealMachineFifo, BoostsOthers) {
  std::vector<pid_t> tids(2);
  std::vector<int> priorities;
  std::vector<Signal> ready(2);
  std::vector<Signal> ends(2);
  for (std::size_t each = 0; each < 2; ++each) {
    task(each, static_cast<int>(each), [&, each] {
      tids[each] = own_tid();
      machine_.notify(ready[each]);
      machine_.wait(ends[each], Waiting::suspended, kNever);
    });
  }
  machine_.start({.name = "device"}, [&] {
    for (Signal& each : ready) machine_.wait(each, Waiting::suspended, kNever);
    for (const std::size_t boosted : {std::size_t{1}, std::size_t{0}, std::size_t{0}, Machine::kNoTask}) {
      machine_.boost(boosted);
      priorities.insert(priorities.end(), {priority_of(tids[0]), priority_of(tids[1])});
    }
    for (Signal& end : ends) machine_.notify(end);
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(priorities, ElementsAre(80, 81, 81, 79, 81, 79, 80, 79));
}

TEST_F(RealMachineFifo, RaisesABestEffortTaskAtOnce) {
  std::vector<int> priorities;
  machine_.start({.name = "idle", .task = 0, .core = 0, .best_effort = true}, [&] {
    machine_.boost(0);
    priorities.push_back(priority_of(0));
    machine_.boost(Machine::kNoTask);
    priorities.push_back(priority_of(0));
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(priorities, ElementsAre(81, 0));
}

// Boosting oneself changes nothing in the kernel until another one would run instead.
TEST_F(RealMachineFifo, LetsOneThatWakesUpGiveWay) {
  Signal sleeps;
  Signal wake;
  std::vector<int> priorities;
  task(0, 0, [&] {
    machine_.notify(sleeps);  // it will, before the lower one sees that
    machine_.wait(wake, Waiting::suspended, kNever);
    note("high");
  });
  task(1, 1, [&] {
    machine_.wait(sleeps, Waiting::suspended, kNever);
    for (int round = 0; round < 2; ++round) {
      machine_.boost(1);
      priorities.push_back(priority_of(0));
      if (round == 0) machine_.notify(wake);  // it preempts
      note("inside");
      priorities.push_back(priority_of(0));
      machine_.boost(Machine::kNoTask);
      note("outside");
      priorities.push_back(priority_of(0));
    }
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("inside", "high", "outside", "inside", "outside"));
  EXPECT_THAT(priorities, ElementsAre(79, 81, 79, 79, 79, 79));
}

// A lower one has no need to, whether it wakes up or was preempted.
TEST_F(RealMachineFifo, DoesNotRaiseForLowerOnes) {
  Signal sleeps;
  Signal wake;
  Signal inside;
  std::vector<int> priorities;
  task(0, 0, [&] {
    machine_.notify(sleeps);
    machine_.wait(wake, Waiting::suspended, kNever);
    machine_.boost(0);
    priorities.push_back(priority_of(0));
    machine_.wait(inside, Waiting::suspended, machine_.now() + Duration::microseconds(100));
    priorities.push_back(priority_of(0));
    machine_.boost(Machine::kNoTask);
  });
  task(1, 1, [&] {
    machine_.wait(sleeps, Waiting::suspended, kNever);
    machine_.notify(wake);  // it preempts
    machine_.wait(sleeps, Waiting::suspended, machine_.now());
    machine_.notify(inside);
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(priorities, ElementsAre(80, 80));
}

// The lower one runs, as it boosts itself, only because the higher one waits for a lock of its.
TEST_F(RealMachineFifo, RaisesOneThatRunsForALockOnly) {
  Signal sleeps;
  Signal wake;
  PriorityLock lock;
  std::vector<int> priorities;
  task(0, 0, [&] {
    machine_.notify(sleeps);
    machine_.wait(wake, Waiting::suspended, kNever);
    note("wants");
    const std::lock_guard guard(lock);
    note("high");
  });
  task(1, 1, [&] {
    machine_.wait(sleeps, Waiting::suspended, kNever);
    {
      const std::lock_guard guard(lock);
      machine_.notify(wake);  // it preempts, until it wants the lock
      note("has");
      machine_.boost(1);
    }
    note("inside");
    priorities.push_back(priority_of(0));
    machine_.boost(Machine::kNoTask);
    note("outside");
    priorities.push_back(priority_of(0));
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("wants", "has", "inside", "high", "outside"));
  EXPECT_THAT(priorities, ElementsAre(81, 79));
}

// Whatever boosts overlap with whatever waking up, at the end every thread has the priority that it had.
TEST_F(RealMachineFifo, LeavesNoThreadRaised) {
  constexpr int kRounds = 2'000;
  constexpr std::size_t kTasks = 3;
  PriorityLock arbiter;
  std::vector<Signal> signals(kTasks);
  std::vector<int> priorities(kTasks);
  std::atomic<bool> over = false;
  for (std::size_t each = 0; each < kTasks; ++each) {
    task(each, static_cast<int>(each), [&, each] {
      while (!over) {
        machine_.wait(signals[each], Waiting::suspended, machine_.now() + Duration::microseconds(50));
        const std::lock_guard guard(arbiter);
        machine_.boost(each);
      }
      const std::lock_guard guard(arbiter);
      machine_.boost(Machine::kNoTask);
      priorities[each] = priority_of(0);
    });
  }
  machine_.start({.name = "device"}, [&] {
    for (int round = 0; round < kRounds; ++round) {
      const std::size_t each = static_cast<std::size_t>(round) % (kTasks + 1);
      {
        const std::lock_guard guard(arbiter);
        machine_.boost(each < kTasks ? each : Machine::kNoTask);
      }
      if (each < kTasks) machine_.notify(signals[each]);
    }
    over = true;
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(priorities, ElementsAre(80, 79, 78));
}

}  // namespace
}  // namespace rtgpu
