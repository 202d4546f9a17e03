// A Linux machine: pinned real-time threads, futexes, the monotonic clock.
#pragma once

#include "runtime/machine/machine.h"
#include "runtime/machine/priority_lock.h"
#include "runtime/machine/realtime.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace rtgpu {

class RealMachine final : public Machine {
 public:
  explicit RealMachine(RealtimeOptions options = {});
  ~RealMachine() override;

  // What run() asked for and was granted.
  const RealtimeReport& realtime() const { return report_; }

  Duration now() const override;
  void start(ThreadSetup setup, std::function<void()> body) override;
  Errors run() override;
  bool wait(Signal& signal, Waiting how, Duration until) override;
  bool is_due(Duration until) const override { return until <= now(); }
  void spend(Duration time) override;
  Duration execution_time() const override;
  void boost(std::size_t task) override;
  void notify(Signal& signal) override;

 private:
  struct Thread {
    ThreadSetup setup;
    std::function<void()> body;
    std::thread thread;
    pid_t tid = 0;
    int cpu = -1;
    int priority = 0;  // 0: the default scheduler
    std::atomic<bool> awake = false;
    bool raised = false;  // its OS priority is that of a boosted task
    std::vector<RealtimeItem> granted;
  };

  Errors place_threads();
  void assign_priorities();
  Errors start_threads();
  void enter_thread(Thread& thread);
  void let_go(std::uint32_t order);
  Thread* thread_of(std::size_t task) const;
  bool has_to_be_raised(const Thread& thread) const;
  void raise(Thread& thread);
  void lower(Thread& thread);
  void give_way();
  static void set_awake(bool awake);
  bool sleep(Signal& signal, Duration until) const;
  bool spin(Signal& signal, Duration until) const;

  RealtimeOptions options_;
  RealtimeReport report_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> thread_of_task_;
  std::vector<std::vector<Thread*>> on_cpu_;  // by CPU, tasks only
  // By CPU, the thread that is boosted there. It is raised only when another one would run instead. Written with the
  // lock held; so is `raised`.
  std::vector<std::atomic<Thread*>> boosted_on_cpu_;
  Thread* boosted_ = nullptr;
  PriorityLock boost_lock_;
  static thread_local Thread* current;    // none in threads of others
  std::atomic<std::int64_t> start_ns_;    // of the monotonic clock, at time 0
  std::atomic<std::uint32_t> ready_ = 0;  // threads that are prepared
  std::atomic<std::uint32_t> gate_ = 0;   // 0: closed, 1: run, 2: end
};

}  // namespace rtgpu
