// A Linux machine: pinned real-time threads, futexes, the monotonic clock.
#pragma once

#include "runtime/machine/machine.h"
#include "runtime/machine/realtime.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace rtgpu {

class RealMachine final : public Machine {
 public:
  explicit RealMachine(RealtimeOptions options = {});
  ~RealMachine() override;

  // What the last run() asked for and was granted.
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
    std::atomic<pid_t> tid = 0;
    int cpu = -1;
    int priority = 0;  // 0: the default scheduler
    std::atomic<bool> raised = false;
    std::vector<RealtimeItem> granted;
  };

  Errors place_threads();
  void assign_priorities();
  void enter_thread(Thread& thread);
  void let_go(std::uint32_t order);
  Thread* thread_of(std::size_t task) const;
  void raise(Thread& thread);
  void lower(Thread& thread);
  void give_way();
  bool sleep(Signal& signal, Duration until);
  bool spin(Signal& signal, Duration until);

  RealtimeOptions options_;
  RealtimeReport report_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Thread*> thread_of_task_;
  // Boosted, but only in name: it runs, and is raised by whoever would preempt it. By CPU.
  std::vector<std::atomic<Thread*>> boosted_in_name_;
  std::atomic<Thread*> boosted_ = nullptr;
  std::int64_t start_ns_ = 0;
  std::atomic<std::uint32_t> ready_ = 0;  // threads that are prepared
  std::atomic<std::uint32_t> gate_ = 0;   // 0: closed, 1: run, 2: end
};

}  // namespace rtgpu
