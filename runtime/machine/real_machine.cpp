#include "runtime/machine/real_machine.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <linux/futex.h>
#include <mutex>
#include <sched.h>
#include <string>
#include <sys/syscall.h>
#include <system_error>
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

int kernel_policy(const RealtimeOptions& options, int priority) {
  if (priority == 0) return SCHED_OTHER;
  return options.scheduler == Scheduler::rr ? SCHED_RR : SCHED_FIFO;
}

}  // namespace

thread_local RealMachine::Thread* RealMachine::current = nullptr;

RealMachine::RealMachine(RealtimeOptions options) : options_(options), start_ns_(clock_ns(CLOCK_MONOTONIC)) {}

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
  errors = start_threads();
  if (!errors.empty()) return errors;
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
  if (cpus.empty()) {
    return {Error{ErrorCode::environment, Place{}, "no CPU that this process may use", "one at least",
                  "Let the process ask for its CPUs (sched_getaffinity)."}};
  }
  int cores = 0;
  for (const auto& thread : threads_) cores = std::max({cores, thread->setup.core + 1, thread->setup.beside + 1});
  if (cores > static_cast<int>(cpus.size()) && !options_.share_cores) {
    return {Error{ErrorCode::limit, Place{{}, "/platform/cpus", 0, 0}, fmt::format("tasks on {} cores", cores),
                  fmt::format("at most {}: as many as this process may use", cpus.size()),
                  "Use fewer cores, or let cores be shared; no bound holds then."}};
  }
  int highest = 0;
  for (const auto& thread : threads_) {
    const int core = thread->setup.core != ThreadSetup::kNoCore ? thread->setup.core : thread->setup.beside;
    if (core == ThreadSetup::kNoCore) continue;
    thread->cpu = cpus[static_cast<std::size_t>(core) % cpus.size()];
    highest = std::max(highest, thread->cpu);
  }
  on_cpu_.resize(static_cast<std::size_t>(highest) + 1);
  boosted_on_cpu_ = std::vector<std::atomic<Thread*>>(on_cpu_.size());
  for (const auto& thread : threads_) {
    if (thread->cpu >= 0) on_cpu_[static_cast<std::size_t>(thread->cpu)].push_back(thread.get());
  }
  return {};
}

// They wait at the gate. If one cannot be started, the others are ended.
Errors RealMachine::start_threads() {
  try {
    for (const auto& each : threads_) {
      Thread* thread = each.get();
      thread->thread = std::thread([this, thread] { enter_thread(*thread); });
    }
  } catch (const std::system_error& error) {
    let_go(kEnd);
    for (const auto& thread : threads_) {
      if (thread->thread.joinable()) thread->thread.join();
    }
    return {Error{ErrorCode::environment, Place{}, fmt::format("{} as a thread was started", error.code().message()),
                  fmt::format("{} threads", threads_.size()),
                  "Raise the limits of processes and of locked memory (`ulimit -u`, `ulimit -l`)."}};
  }
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
  std::vector<int> next(on_cpu_.size(), options_.highest_priority);
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
  current = &thread;
  thread.tid = static_cast<pid_t>(syscall(SYS_gettid));
  RealtimeOptions options = options_;
  // The runtime's own threads have no deadline.
  const bool is_service = thread.setup.core == ThreadSetup::kNoCore;
  if (options.scheduler == Scheduler::deadline && is_service) options.scheduler = Scheduler::fifo;
  const ThreadSetup& setup = thread.setup;
  thread.granted =
      prepare_thread(options, {setup.name, thread.cpu, thread.priority, setup.execution, setup.deadline, setup.period});
  ready_.fetch_add(1, std::memory_order_acq_rel);
  futex_wake(ready_, 1);
  while (gate_.load(std::memory_order_acquire) == kClosed) futex_wait(gate_, kClosed, -1);
  if (gate_.load(std::memory_order_acquire) != kRun) return;
  set_awake(true);
  give_way();
  thread.body();
  set_awake(false);
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

bool RealMachine::sleep(Signal& signal, Duration until) const {
  while (!signal.take()) {
    std::uint32_t clear = Signal::kClear;
    if (!signal.word.compare_exchange_strong(clear, Signal::kAwaited, std::memory_order_acq_rel)) continue;
    const Duration at = Duration::nanoseconds(start_ns_) + until;
    const std::int64_t until_ns = at.is_infinite() ? -1 : std::max<std::int64_t>(0, at.count());
    set_awake(false);
    const int error = futex_wait(signal.word, Signal::kAwaited, until_ns);
    set_awake(true);
    std::uint32_t awaited = Signal::kAwaited;
    const bool unset = signal.word.compare_exchange_strong(awaited, Signal::kClear, std::memory_order_acq_rel);
    if (unset && error == ETIMEDOUT) return false;
  }
  return true;
}

bool RealMachine::spin(Signal& signal, Duration until) const {
  while (!signal.take()) {
    if (!until.is_infinite() && now() >= until) return false;
    pause_spinning();
  }
  return true;
}

void RealMachine::notify(Signal& signal) {
  if (signal.word.exchange(Signal::kSet, std::memory_order_acq_rel) != Signal::kAwaited) return;
  const int before = errno;  // of what a signal handler interrupts
  futex_wake(signal.word, 1);
  errno = before;
}

// By the thread's own CPU clock, so that time in which it is preempted does not count.
void RealMachine::spend(Duration time) {
  const Duration end = execution_time() + time;
  // Reading that clock is a system call: most of the time goes by in pauses between.
  constexpr std::int64_t kPauses = 64;
  while (execution_time() < end) {
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
  const std::lock_guard guard(boost_lock_);
  Thread* next = thread_of(task);
  Thread* before = std::exchange(boosted_, next);
  if (before == next) return;
  if (before != nullptr) {
    boosted_on_cpu_[static_cast<std::size_t>(before->cpu)].store(nullptr, std::memory_order_seq_cst);
    if (before->raised) lower(*before);
  }
  if (next == nullptr) return;
  boosted_on_cpu_[static_cast<std::size_t>(next->cpu)].store(next, std::memory_order_seq_cst);
  if (has_to_be_raised(*next)) raise(*next);
}

// Not if it runs, and would go on doing so until another one wakes up. It may run above a thread of a higher priority
// only while it holds a lock that somebody waits for: that thread is awake.
bool RealMachine::has_to_be_raised(const Thread& thread) const {
  // The default scheduler lets others run in between.
  if (&thread != current || thread.priority == 0) return true;
  return std::ranges::any_of(on_cpu_[static_cast<std::size_t>(thread.cpu)], [&](const Thread* other) {
    return other != &thread && other->priority >= thread.priority && other->awake.load(std::memory_order_seq_cst);
  });
}

// After waking up: if a lower task of this CPU is boosted, it has to go first.
void RealMachine::give_way() {
  if (current == nullptr || current->cpu < 0) return;
  const std::atomic<Thread*>& boosted = boosted_on_cpu_[static_cast<std::size_t>(current->cpu)];
  const Thread* seen = boosted.load(std::memory_order_seq_cst);
  if (seen == nullptr || seen == current) return;
  const std::lock_guard guard(boost_lock_);
  Thread* thread = boosted.load(std::memory_order_relaxed);
  if (thread == nullptr || thread == current || thread->raised || thread->priority > current->priority) return;
  raise(*thread);
}

void RealMachine::set_awake(bool awake) {
  if (current != nullptr) current->awake.store(awake, std::memory_order_seq_cst);
}

void RealMachine::raise(Thread& thread) {
  thread.raised = true;
  sched_param parameters{};
  parameters.sched_priority = options_.highest_priority + 1;
  sched_setscheduler(thread.tid, kernel_policy(options_, parameters.sched_priority), &parameters);
}

void RealMachine::lower(Thread& thread) {
  thread.raised = false;
  sched_param parameters{};
  parameters.sched_priority = thread.priority;
  sched_setscheduler(thread.tid, kernel_policy(options_, thread.priority), &parameters);
}

}  // namespace rtgpu
