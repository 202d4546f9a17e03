#include "runtime/machine/real_machine.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::uint32_t kClosed = 0;
constexpr std::uint32_t kRun = 1;
constexpr std::uint32_t kEnd = 2;

// Threads are let go this long before time 0, so that a release at 0 is not late already.
constexpr std::int64_t kLeadNs = 2'000'000;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t clock_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

// Sleeps while `word` has this value, at most until a time of the monotonic clock (negative: for ever).
int futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::int64_t until_ns) {
  const timespec until{until_ns / kNsPerSecond, until_ns % kNsPerSecond};
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, until_ns < 0 ? nullptr : &until,
                              nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 ? 0 : errno;
}

void futex_wake(std::atomic<std::uint32_t>& word, int threads) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

void pause_spinning() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

pid_t own_tid() {
  thread_local const auto tid = static_cast<pid_t>(syscall(SYS_gettid));
  return tid;
}

int kernel_policy(const RealtimeOptions& options, int priority) {
  if (priority == 0) return SCHED_OTHER;
  return options.scheduler == Scheduler::rr ? SCHED_RR : SCHED_FIFO;
}

}  // namespace

RealMachine::RealMachine(RealtimeOptions options) : options_(options) {}

RealMachine::~RealMachine() {
  let_go(kEnd);
  for (const auto& thread : threads_) {
    if (thread->thread.joinable()) thread->thread.join();
  }
}

Duration RealMachine::now() const {
  return Duration::nanoseconds(clock_ns(CLOCK_MONOTONIC) - start_ns_);
}

void RealMachine::start(ThreadSetup setup, std::function<void()> body) {
  auto thread = std::make_unique<Thread>();
  const std::size_t task = setup.task;
  thread->setup = std::move(setup);
  thread->body = std::move(body);
  if (task != kNoTask) {
    if (task >= thread_of_task_.size()) thread_of_task_.resize(task + 1, nullptr);
    thread_of_task_[task] = thread.get();
  }
  threads_.push_back(std::move(thread));
}

Errors RealMachine::run() {
  report_.items = prepare_process(options_);
  Errors errors = place_threads();
  if (!errors.empty()) return errors;
  assign_priorities();
  start_ns_ = clock_ns(CLOCK_MONOTONIC);
  for (const auto& each : threads_) {
    Thread* thread = each.get();
    thread->thread = std::thread([this, thread] { enter_thread(*thread); });
  }
  for (std::uint32_t ready = 0; ready < threads_.size(); ready = ready_.load(std::memory_order_acquire)) {
    futex_wait(ready_, ready, -1);
  }
  for (const auto& thread : threads_) {
    for (RealtimeItem& item : thread->granted) report_.items.push_back(std::move(item));
  }
  const bool refused = !report_.all_granted() && !options_.allow_degraded;
  start_ns_ = clock_ns(CLOCK_MONOTONIC) + kLeadNs;
  let_go(refused ? kEnd : kRun);
  for (const auto& thread : threads_) thread->thread.join();
  return refused ? report_.refusals() : Errors();
}

// Cores are CPUs that this process may use, in their order.
Errors RealMachine::place_threads() {
  const std::vector<int> cpus = usable_cpus();
  int cores = 0;
  for (const auto& thread : threads_) cores = std::max(cores, thread->setup.core + 1);
  if (cores > static_cast<int>(cpus.size()) && !options_.share_cores) {
    return {Error{ErrorCode::limit, Place{{}, "/platform/cpus", 0, 0}, fmt::format("tasks on {} cores", cores),
                  fmt::format("at most {}: as many as this process may use", cpus.size()),
                  "Use fewer cores, or let cores be shared; no bound holds then."}};
  }
  int highest = 0;
  for (const auto& thread : threads_) {
    const int core = thread->setup.core;
    if (core == ThreadSetup::kNoCore) continue;
    thread->cpu = cpus[static_cast<std::size_t>(core) % cpus.size()];
    highest = std::max(highest, thread->cpu);
  }
  boosted_in_name_ = std::vector<std::atomic<Thread*>>(static_cast<std::size_t>(highest) + 1);
  return {};
}

// In the order of the ranks on each CPU, from the highest priority down. Where there are not enough, the lowest tasks
// share the lowest one, which is reported.
void RealMachine::assign_priorities() {
  if (options_.scheduler == Scheduler::normal) return;
  std::vector<Thread*> ranked;
  for (const auto& thread : threads_) {
    if (thread->setup.core == ThreadSetup::kNoCore) {
      if (thread->setup.real_time) thread->priority = options_.highest_priority + 2;
    } else if (!thread->setup.best_effort) {
      ranked.push_back(thread.get());
    }
  }
  std::ranges::stable_sort(ranked, {}, [](const Thread* thread) { return thread->setup.rank; });
  std::vector<int> next(boosted_in_name_.size(), options_.highest_priority);
  for (Thread* thread : ranked) {
    int& priority = next[static_cast<std::size_t>(thread->cpu)];
    thread->priority = std::max(priority, 1);
    if (priority < 1) {
      report_.items.push_back({"priority of " + thread->setup.name, "one of its own", "1, as other tasks of its core",
                               false, "there are not enough priorities for the tasks of this core",
                               "Raise highest_priority, or spread the tasks over more cores."});
    }
    --priority;
  }
}

void RealMachine::enter_thread(Thread& thread) {
  thread.tid.store(own_tid(), std::memory_order_release);
  thread.granted = prepare_thread(options_, {thread.setup.name, thread.cpu, thread.priority});
  ready_.fetch_add(1, std::memory_order_acq_rel);
  futex_wake(ready_, 1);
  while (gate_.load(std::memory_order_acquire) == kClosed) futex_wait(gate_, kClosed, -1);
  if (gate_.load(std::memory_order_acquire) == kRun) thread.body();
}

void RealMachine::let_go(std::uint32_t order) {
  std::uint32_t closed = kClosed;
  gate_.compare_exchange_strong(closed, order, std::memory_order_acq_rel);
  futex_wake(gate_, static_cast<int>(threads_.size()));
}

bool RealMachine::wait(Signal& signal, Waiting how, Duration until) {
  const bool taken = how == Waiting::spinning ? spin(signal, until) : sleep(signal, until);
  give_way();
  return taken;
}

bool RealMachine::sleep(Signal& signal, Duration until) {
  while (!signal.take()) {
    std::uint32_t clear = Signal::kClear;
    if (!signal.word.compare_exchange_strong(clear, Signal::kAwaited, std::memory_order_acq_rel)) continue;
    const std::int64_t until_ns = until.is_infinite() ? -1 : std::max<std::int64_t>(0, start_ns_ + until.count());
    const int error = futex_wait(signal.word, Signal::kAwaited, until_ns);
    std::uint32_t awaited = Signal::kAwaited;
    const bool unset = signal.word.compare_exchange_strong(awaited, Signal::kClear, std::memory_order_acq_rel);
    if (unset && error == ETIMEDOUT) return false;
  }
  return true;
}

bool RealMachine::spin(Signal& signal, Duration until) {
  while (!signal.take()) {
    if (!until.is_infinite() && now() >= until) return false;
    pause_spinning();
  }
  return true;
}

void RealMachine::notify(Signal& signal) {
  if (signal.word.exchange(Signal::kSet, std::memory_order_acq_rel) == Signal::kAwaited) futex_wake(signal.word, 1);
}

// By the thread's own CPU clock, so that time in which it is preempted does not count.
void RealMachine::spend(Duration time) {
  const std::int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + time.count();
  // Reading that clock is a system call: most of the time goes by in pauses between.
  constexpr std::int64_t kPauses = 64;
  while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
    for (std::int64_t count = 0; count < kPauses; ++count) pause_spinning();
  }
}

Duration RealMachine::execution_time() const {
  return Duration::nanoseconds(clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

RealMachine::Thread* RealMachine::thread_of(std::size_t task) const {
  return task < thread_of_task_.size() ? thread_of_task_[task] : nullptr;
}

// A thread that boosts itself runs already: it stays the highest of its CPU until another one wakes up there, and that
// one gives way. So entering without contention needs no system call.
void RealMachine::boost(std::size_t task) {
  if (options_.scheduler == Scheduler::normal || options_.scheduler == Scheduler::deadline) return;
  Thread* before = boosted_.load(std::memory_order_relaxed);
  Thread* next = thread_of(task);
  if (before == next) return;
  if (before != nullptr) {
    boosted_in_name_[static_cast<std::size_t>(before->cpu)].store(nullptr, std::memory_order_seq_cst);
    if (before->raised.exchange(false, std::memory_order_seq_cst)) lower(*before);
  }
  boosted_.store(next, std::memory_order_relaxed);
  if (next == nullptr) return;
  if (next->tid.load(std::memory_order_relaxed) == own_tid()) {
    boosted_in_name_[static_cast<std::size_t>(next->cpu)].store(next, std::memory_order_seq_cst);
  } else {
    next->raised.store(true, std::memory_order_seq_cst);
    raise(*next);
  }
}

// After waking up: if a task of this CPU is boosted in name, it has to go first.
void RealMachine::give_way() {
  const int cpu = sched_getcpu();
  if (cpu < 0 || static_cast<std::size_t>(cpu) >= boosted_in_name_.size()) return;
  Thread* thread = boosted_in_name_[static_cast<std::size_t>(cpu)].load(std::memory_order_seq_cst);
  if (thread == nullptr || thread->tid.load(std::memory_order_relaxed) == own_tid()) return;
  if (thread->raised.exchange(true, std::memory_order_seq_cst)) return;
  raise(*thread);
  // It may have given up its boost meanwhile, on a machine where it could run elsewhere.
  const bool is_over = boosted_in_name_[static_cast<std::size_t>(cpu)].load(std::memory_order_seq_cst) != thread;
  if (is_over && thread->raised.exchange(false, std::memory_order_seq_cst)) lower(*thread);
}

void RealMachine::raise(Thread& thread) {
  sched_param parameters{};
  parameters.sched_priority = options_.highest_priority + 1;
  sched_setscheduler(thread.tid.load(std::memory_order_relaxed), kernel_policy(options_, parameters.sched_priority),
                     &parameters);
}

void RealMachine::lower(Thread& thread) {
  sched_param parameters{};
  parameters.sched_priority = thread.priority;
  sched_setscheduler(thread.tid.load(std::memory_order_relaxed), kernel_policy(options_, thread.priority), &parameters);
}

}  // namespace rtgpu
