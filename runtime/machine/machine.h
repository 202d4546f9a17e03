// What the runtime needs of the machine it runs on: a clock, threads on cores, and ways to wait.
//
// RealMachine is a Linux machine. VirtualMachine is a deterministic one in which time passes only where threads say so;
// the runtime's code is the same on both.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/time.h"
#include "runtime/machine/signal.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace rtgpu {

// Who a thread is for the machine.
struct ThreadSetup {
  // A thread of the runtime itself is on no core of the taskset: it outranks every task where it runs.
  static constexpr int kNoCore = -1;
  static constexpr std::size_t kNoTask = SIZE_MAX;

  std::string name = {};
  std::size_t task = kNoTask;  // the task whose jobs it runs; each task has one thread
  int core = kNoCore;
  int beside = kNoCore;      // of a thread of the runtime: the core that it shares a CPU with; none: any CPU
  int rank = 0;              // among all tasks, 0 the highest; compared on one core
  bool best_effort = false;  // ranks below every task that is not
  // Of a task, for schedulers that need it: the execution of a job, its relative deadline, and the period.
  std::optional<Duration> execution = {};
  std::optional<Duration> deadline = {};
  std::optional<Duration> period = {};
  bool real_time = true;  // of a thread of the runtime: whether it has to run in time
};

// How a thread waits.
enum class Waiting : std::uint8_t {
  suspended,  // its core is free
  spinning,   // it keeps its core, at its own priority
};

class Machine {
 public:
  static constexpr std::size_t kNoTask = ThreadSetup::kNoTask;

  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  // Since the start of the run, on a clock that no step of the wall clock moves. Any thread.
  virtual Duration now() const = 0;
  // Whether time passes only where threads say so.
  virtual bool is_virtual() const { return false; }
  // A number that grows from call to call where times can be equal (virtual time), else 0.
  virtual std::uint64_t order() { return 0; }

  // Starts a thread. Before run(), and from one thread.
  virtual void start(ThreadSetup setup, std::function<void()> body) = 0;
  // Sets the clock to 0, lets the threads go, and returns when all have ended. Once. Errors: why it did not start, or
  // ended early.
  virtual Errors run() = 0;

  // The following are called by the machine's own threads.

  // Waits until the signal is set, and takes it; or until the clock reaches `until`. Whether the signal was taken.
  virtual bool wait(Signal& signal, Waiting how, Duration until) = 0;
  // Whether a wait until then would return at once.
  virtual bool is_due(Duration until) const = 0;
  // Keeps the calling thread's core busy for `time` of its own execution.
  virtual void spend(Duration time) = 0;
  // The state of the calling thread's task has changed: in virtual time, others of the same moment go first.
  virtual void step() {}
  // Execution time of the calling thread so far.
  virtual Duration execution_time() const = 0;
  // From now on this task runs above all others of its core, and no other one does; kNoTask: none. Calls must not
  // overlap.
  virtual void boost(std::size_t task) = 0;

  // Sets the signal, and wakes the thread that waits for it. Any thread; safe in a signal handler on a real machine.
  virtual void notify(Signal& signal) = 0;
};

}  // namespace rtgpu
