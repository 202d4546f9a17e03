// A deterministic machine: partitioned preemptive fixed-priority cores on which time passes only where threads spend it
// or wait for it. One thread runs at a time, handed on by the machine; the same program gives the same run everywhere.
#pragma once

#include "runtime/machine/machine.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace rtgpu {

// Thrown out of wait() and spend() when the machine ends its threads because nothing can happen any more. Code between
// must let it pass.
struct MachineStopped {};

class VirtualMachine final : public Machine {
 public:
  explicit VirtualMachine(int cores);
  ~VirtualMachine() override;

  // Called when another task, or none (kNoTask), has a core from now on.
  void on_dispatch(std::function<void(int core, std::size_t task)> told) { told_ = std::move(told); }

  Duration now() const override { return now_; }
  bool is_virtual() const override { return true; }
  std::uint64_t order() override { return ++order_; }
  void start(ThreadSetup setup, std::function<void()> body) override;
  // An error if every thread that is left waits for a signal that nobody can set; they are ended then. Throws what a
  // thread threw.
  Errors run() override;
  bool wait(Signal& signal, Waiting how, Duration until) override;
  // Timers of this moment fall due after the work that ends now; earlier ones have.
  bool is_due(Duration until) const override { return until < now_ || until <= released_up_to_; }
  void spend(Duration time) override;
  void step() override;
  Duration execution_time() const override;
  void boost(std::size_t task) override;
  void notify(Signal& signal) override;

 private:
  enum class State : std::uint8_t {
    ready,      // goes on when it is dispatched
    spending,   // needs its core for `left`
    suspended,  // waits off its core
    spinning,   // waits on its core
    ended,
  };

  struct Thread {
    ThreadSetup setup;
    std::function<void()> body;
    std::thread thread;
    std::binary_semaphore go{0};
    State state = State::ready;
    Duration left;  // while spending
    Duration executed;
    Signal* signal = nullptr;  // while waiting
    Duration until;            // likewise
    bool notified = false;     // likewise
    bool unwinds = false;
    std::exception_ptr error;
  };

  struct Ends;

  bool is_service(const Thread& thread) const { return thread.setup.core == ThreadSetup::kNoCore; }
  bool wants_core(const Thread& thread) const;
  static bool can_go_on(const Thread& thread);
  void resume(Thread& thread);
  void yield();
  void deliver();
  void touch(const Thread& thread);
  void dispatch(std::size_t core);
  void settle();
  void run_services();
  void release_due();
  void finish_spending();
  Duration next_event() const;
  void advance(Duration to);
  void tell_dispatches();
  void unwind();
  void rethrow_failure() const;
  Errors stuck();
  bool all_ended() const;

  std::function<void(int, std::size_t)> told_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<std::vector<Thread*>> on_core_;  // highest first
  std::vector<Thread*> running_;               // by core
  std::vector<Thread*> told_running_;
  std::vector<char> touched_;
  std::atomic<bool> any_notified_ = false;  // since it was last looked at
  Thread* current_ = nullptr;               // whose code runs now; none: the machine's own
  std::size_t boosted_ = kNoTask;
  Duration now_;
  Duration released_up_to_ = Duration::nanoseconds(-1);  // timers up to here have been looked at
  std::uint64_t order_ = 0;
  std::binary_semaphore machine_goes_{0};
};

}  // namespace rtgpu
