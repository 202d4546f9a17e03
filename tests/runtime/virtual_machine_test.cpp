#include "runtime/machine/virtual_machine.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rtgpu {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr Duration kForever = Duration::infinite();

// A machine, and what its threads noted: "name@time", in the order in which it happened.
class VirtualMachineTest : public testing::Test {
 protected:
  explicit VirtualMachineTest(int cores = 1) : machine_(cores) {}

  // The highest rank is 0; tasks are numbered in the order of their start.
  void task(std::string name, int core, int rank, std::function<void()> body) {
    machine_.start({.name = std::move(name), .task = tasks_++, .core = core, .rank = rank}, std::move(body));
  }
  void service(std::string name, std::function<void()> body) {
    machine_.start({.name = std::move(name)}, std::move(body));
  }
  void note(const std::string& what) { notes_.push_back(what + "@" + to_string(machine_.now())); }
  void sleep_until(Duration until) {
    Signal nobody;
    EXPECT_FALSE(machine_.wait(nobody, Waiting::suspended, until));
  }

  VirtualMachine machine_;
  std::vector<std::string> notes_;
  std::size_t tasks_ = 0;
};

class VirtualMachineOf3 : public VirtualMachineTest {
 protected:
  VirtualMachineOf3() : VirtualMachineTest(3) {}
};

TEST_F(VirtualMachineTest, RunsTheHighestFirst) {
  task("low", 0, 1, [&] {
    machine_.spend(5ms);
    note("low");
  });
  task("high", 0, 0, [&] {
    machine_.spend(3ms);
    note("high");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("high@3ms", "low@8ms"));
}

TEST_F(VirtualMachineTest, RunsBestEffortBelowAllOthers) {
  machine_.start({.name = "idle", .core = 0, .rank = 0, .best_effort = true}, [&] {
    machine_.spend(1ms);
    note("idle");
  });
  task("low", 0, 9, [&] {
    machine_.spend(2ms);
    note("low");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("low@2ms", "idle@3ms"));
}

// A wait for a time that is over is none, whether or not anything else happened at that time: nobody else gets the
// core.
TEST_F(VirtualMachineTest, WaitsForNoTimeThatIsOver) {
  task("high", 0, 0, [&] {
    machine_.spend(3ms);
    EXPECT_TRUE(machine_.is_due(Duration(2ms)));
    sleep_until(Duration(2ms));
    note("high");
  });
  task("low", 0, 1, [&] {
    machine_.step();
    note("low");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("high@3ms", "low@3ms"));
}

TEST_F(VirtualMachineTest, PreemptsWhenAHigherOneIsReleased) {
  std::vector<std::string> dispatches;
  machine_.on_dispatch([&](int core, std::size_t of) {
    dispatches.push_back((of == Machine::kNoTask ? "none" : std::to_string(of)) + " on " + std::to_string(core) + "@" +
                         to_string(machine_.now()));
  });
  Duration executed;
  task("low", 0, 1, [&] {
    machine_.spend(5ms);
    executed = machine_.execution_time();
    note("low");
  });
  task("high", 0, 0, [&] {
    sleep_until(2ms);
    note("released");
    machine_.spend(3ms);
    note("high");
    sleep_until(9ms);
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("released@2ms", "high@5ms", "low@8ms"));
  EXPECT_EQ(executed, Duration(5ms));
  EXPECT_THAT(dispatches, ElementsAre("0 on 0@0ns", "1 on 0@2ms", "0 on 0@5ms", "none on 0@8ms"));
}

TEST_F(VirtualMachineTest, FreesTheCoreOfWhoIsSuspended) {
  Signal signal;
  task("high", 0, 0, [&] {
    EXPECT_TRUE(machine_.wait(signal, Waiting::suspended, 4ms));
    note("high");
    EXPECT_EQ(machine_.execution_time(), Duration());
  });
  task("low", 0, 1, [&] {
    machine_.spend(1ms);
    machine_.notify(signal);
    machine_.spend(1ms);
    note("low");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("high@1ms", "low@2ms"));
}

TEST_F(VirtualMachineTest, KeepsTheCoreOfWhoSpins) {
  Signal signal;
  task("high", 0, 0, [&] {
    EXPECT_FALSE(machine_.wait(signal, Waiting::spinning, 4ms));
    note("high");
    EXPECT_EQ(machine_.execution_time(), Duration(4ms));
  });
  task("low", 0, 1, [&] {
    machine_.spend(1ms);
    machine_.notify(signal);
    note("low");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("high@4ms", "low@5ms"));
}

TEST_F(VirtualMachineOf3, PreemptsASpinnerByAHigherOne) {
  Signal signal;
  task("high", 0, 0, [&] {
    sleep_until(1ms);
    machine_.spend(3ms);
    note("high");
  });
  task("spinner", 0, 1, [&] {
    EXPECT_TRUE(machine_.wait(signal, Waiting::spinning, kForever));
    note("spinner");
    EXPECT_EQ(machine_.execution_time(), Duration(1ms));
  });
  task("other", 1, 2, [&] {
    machine_.spend(2ms);
    machine_.notify(signal);  // it has no core to see that
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("high@4ms", "spinner@4ms"));
}

TEST_F(VirtualMachineTest, TakesASignalThatIsSetAlready) {
  Signal signal;
  task("only", 0, 0, [&] {
    machine_.notify(signal);
    machine_.notify(signal);
    EXPECT_FALSE(machine_.is_due(0ms)) << "the timers of 0 are still to come";
    sleep_until(1ms);
    EXPECT_TRUE(machine_.is_due(1ms));
    EXPECT_FALSE(machine_.is_due(2ms));
    EXPECT_TRUE(machine_.wait(signal, Waiting::suspended, 1ms)) << "set counts more than due";
    EXPECT_FALSE(machine_.wait(signal, Waiting::suspended, 1ms)) << "set twice is set once";
    EXPECT_FALSE(machine_.wait(signal, Waiting::spinning, 0ms));
    note("past");
    EXPECT_FALSE(machine_.wait(signal, Waiting::suspended, 2ms));
    note("late");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("past@1ms", "late@2ms"));
}

// As of a thread that has nothing to do with the machine, and of a signal handler.
TEST_F(VirtualMachineTest, TakesANotificationFromOutside) {
  Signal signal;
  bool done = false;
  std::thread outside;
  task("waiter", 0, 0, [&] {
    EXPECT_TRUE(machine_.wait(signal, Waiting::suspended, kNever));
    done = true;
  });
  task("busy", 0, 1, [&] {
    outside = std::thread([&] { machine_.notify(signal); });
    while (!done) machine_.spend(1ms);
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  outside.join();
  EXPECT_TRUE(done);
}

TEST_F(VirtualMachineTest, BoostsAboveHigherOnes) {
  task("high", 0, 0, [&] {
    sleep_until(2ms);
    note("high");
  });
  task("low", 0, 1, [&] {
    machine_.boost(1);
    machine_.spend(5ms);
    note("inside");
    machine_.boost(Machine::kNoTask);
    machine_.step();
    note("outside");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("inside@5ms", "high@5ms", "outside@5ms"));
}

TEST_F(VirtualMachineOf3, BoostsFromAnotherCore) {
  task("high", 0, 0, [&] {
    machine_.spend(10ms);
    note("high");
  });
  task("low", 0, 1, [&] {
    machine_.spend(3ms);
    note("low");
    machine_.spend(3ms);
    note("low");
  });
  task("other", 1, 0, [&] {
    machine_.spend(1ms);
    machine_.boost(1);
    machine_.spend(4ms);
    machine_.boost(2);  // only one at a time
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  // low has the core from 1 to 5, high before and after.
  EXPECT_THAT(notes_, ElementsAre("low@4ms", "high@14ms", "low@16ms"));
}

TEST_F(VirtualMachineTest, WakesServicesInTime) {
  Signal signal;
  service("device", [&] {
    EXPECT_FALSE(machine_.wait(signal, Waiting::suspended, 3ms));
    note("due");
    EXPECT_TRUE(machine_.wait(signal, Waiting::suspended, 9ms));
    note("told");
    machine_.spend(7ms);  // takes no time
    note("served");
  });
  task("busy", 0, 0, [&] {
    machine_.spend(5ms);
    machine_.notify(signal);
    note("notified");
    machine_.spend(1ms);
    note("busy");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("due@3ms", "notified@5ms", "told@5ms", "served@5ms", "busy@6ms"));
}

TEST_F(VirtualMachineTest, LetsServicesWaitForTheNextTurnOfTheSameMoment) {
  service("device", [&] {
    sleep_until(1ms);
    note("first");
    sleep_until(1ms);
    note("second");
  });
  task("timer", 0, 0, [&] {
    sleep_until(1ms);
    note("timer");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("first@1ms", "timer@1ms", "second@1ms"));
}

// Services see what ends before the threads go on; timers come last. Among threads it goes by cores.
TEST_F(VirtualMachineOf3, OrdersWhatHappensAtOneTime) {
  Signal signal;
  task("timer of 2", 2, 0, [&] {
    sleep_until(5ms);
    note("timer of 2");
  });
  task("high timer of 0", 0, 0, [&] {
    sleep_until(5ms);
    note("high timer of 0");
  });
  task("end of 0", 0, 1, [&] {
    machine_.spend(5ms);
    note("end of 0");
    machine_.spend(1ms);
    note("end of 0");
  });
  task("timer of 1", 1, 0, [&] {
    sleep_until(5ms);
    note("timer of 1");
  });
  task("woken on 2", 2, 1, [&] {
    EXPECT_TRUE(machine_.wait(signal, Waiting::suspended, kForever));
    note("woken on 2");
  });
  task("end of 1", 1, 1, [&] {
    machine_.spend(5ms);
    note("end of 1");
  });
  service("device", [&] {
    sleep_until(5ms);
    note("service");
    machine_.notify(signal);
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("service@5ms", "end of 0@5ms", "end of 1@5ms", "woken on 2@5ms",
                                  "high timer of 0@5ms", "timer of 1@5ms", "timer of 2@5ms", "end of 0@6ms"));
}

TEST_F(VirtualMachineOf3, TakesTurnsByStepsOfTheSameMoment) {
  const auto body = [&](const std::string& name) {
    return [this, name] {
      note(name + "1");
      machine_.step();
      note(name + "2");
      machine_.spend({});
      note(name + "3");
    };
  };
  task("a", 0, 0, body("a"));
  task("b", 1, 1, body("b"));
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("a1@0ns", "b1@0ns", "a2@0ns", "b2@0ns", "a3@0ns", "b3@0ns"));
}

TEST_F(VirtualMachineTest, GivesTheCoreAwayAtAStep) {
  Signal signal;
  task("high", 0, 0, [&] {
    EXPECT_TRUE(machine_.wait(signal, Waiting::suspended, kForever));
    note("high");
  });
  task("low", 0, 1, [&] {
    machine_.notify(signal);
    note("low");
    machine_.step();
    note("low");
  });
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre("low@0ns", "high@0ns", "low@0ns"));
}

TEST_F(VirtualMachineTest, CountsTheCallsOfOneTime) {
  std::vector<std::uint64_t> orders;
  for (int count = 0; count < 2; ++count) {
    task("task", 0, count, [&] {
      for (int call = 0; call < 3; ++call) {
        orders.push_back(machine_.order());
        machine_.step();
      }
    });
  }
  EXPECT_THAT(machine_.run(), IsEmpty());
  ASSERT_EQ(orders.size(), 6U);
  for (std::size_t call = 1; call < orders.size(); ++call) EXPECT_GT(orders[call], orders[call - 1]);
}

TEST_F(VirtualMachineTest, SaysWhoWaitsForEver) {
  bool unwound = false;
  struct AtEnd {
    bool& done;
    explicit AtEnd(bool& of) : done(of) {}
    AtEnd(const AtEnd&) = delete;
    AtEnd& operator=(const AtEnd&) = delete;
    ~AtEnd() { done = true; }
  };
  Signal signal;
  service("device", [&] { machine_.wait(signal, Waiting::suspended, kForever); });
  task("camera", 0, 0, [&] {
    const AtEnd at_end(unwound);
    machine_.spend(3ms);
    machine_.wait(signal, Waiting::suspended, kForever);
    note("never");
  });
  task("done", 0, 1, [] {});
  const Errors errors = machine_.run();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, ErrorCode::conflict);
  EXPECT_THAT(errors[0].found, HasSubstr("at 3ms: camera wait"));
  EXPECT_THAT(errors[0].found, Not(HasSubstr("device")));
  EXPECT_TRUE(unwound);
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(VirtualMachineTest, EndsASpinnerThatSpinsForEver) {
  Signal signal;
  task("spinner", 0, 0, [&] { machine_.wait(signal, Waiting::spinning, kForever); });
  task("starved", 0, 1, [&] {
    machine_.spend(1ms);
    machine_.notify(signal);
  });
  const Errors errors = machine_.run();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_THAT(errors[0].found, HasSubstr("spinner, starved"));
}

TEST_F(VirtualMachineTest, DoesNotStartBeforeItRuns) {
  {
    VirtualMachine unused(1);
    unused.start({.name = "never", .core = 0}, [&] { note("never"); });
  }
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(VirtualMachineTest, PassesOnWhatAThreadThrows) {
  task("faulty", 0, 0, [&] {
    machine_.spend(1ms);
    throw std::runtime_error("lost the camera");
  });
  task("other", 0, 1, [&] {
    machine_.spend(2ms);
    note("other");
  });
  try {
    machine_.run();
    ADD_FAILURE() << "nothing thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "lost the camera");
  }
  EXPECT_THAT(notes_, ElementsAre("other@3ms"));
}

// That it failed says more than that others wait for it.
TEST_F(VirtualMachineTest, PassesOnWhyTheOthersWait) {
  Signal signal;
  task("faulty", 0, 0, [&] { throw std::runtime_error("lost the camera"); });
  task("waits", 0, 1, [&] { machine_.wait(signal, Waiting::suspended, kForever); });
  EXPECT_THROW(machine_.run(), std::runtime_error);
}

TEST_F(VirtualMachineTest, RunsWithoutThreads) {
  EXPECT_THAT(machine_.run(), IsEmpty());
  EXPECT_EQ(machine_.now(), Duration());
}

}  // namespace
}  // namespace rtgpu
