#include "runtime/machine/virtual_machine.h"

#include <algorithm>
#include <cxxabi.h>
#include <string>
#include <tuple>

#include <fmt/format.h>

namespace rtgpu {

// Hands on to the machine when the thread ends, whatever ends it.
struct VirtualMachine::Ends {
  VirtualMachine& machine;
  Thread& thread;
  Ends(VirtualMachine& machine_of, Thread& thread_of) : machine(machine_of), thread(thread_of) {}
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    thread.state = State::ended;
    machine.machine_goes_.release();
  }
};

VirtualMachine::VirtualMachine(int cores)
    : on_core_(static_cast<std::size_t>(cores)),
      running_(on_core_.size(), nullptr),
      told_running_(on_core_.size(), nullptr),
      touched_(on_core_.size(), 0) {}

VirtualMachine::~VirtualMachine() {
  unwind();
}

void VirtualMachine::start(ThreadSetup setup, std::function<void()> body) {
  auto thread = std::make_unique<Thread>();
  thread->setup = std::move(setup);
  thread->body = std::move(body);
  if (!is_service(*thread)) {
    auto& core = on_core_.at(static_cast<std::size_t>(thread->setup.core));
    core.push_back(thread.get());
    std::ranges::stable_sort(core, [](const Thread* a, const Thread* b) {
      return std::tuple(a->setup.best_effort, a->setup.rank) < std::tuple(b->setup.best_effort, b->setup.rank);
    });
  }
  threads_.push_back(std::move(thread));
}

Errors VirtualMachine::run() {
  now_ = {};
  released_up_to_ = Duration::nanoseconds(-1);
  for (const auto& each : threads_) {
    Thread* thread = each.get();
    thread->thread = std::thread([this, thread] {
      thread->go.acquire();
      const Ends ends(*this, *thread);
      try {
        if (!thread->unwinds) thread->body();
      } catch (const MachineStopped&) {
        // The machine says why.
      } catch (const abi::__forced_unwind&) {
        throw;  // the thread ends itself
      } catch (...) {
        thread->error = std::current_exception();
      }
    });
  }
  // Each runs to its first wait before time begins, so that all are there at 0.
  for (const auto& thread : threads_) resume(*thread);
  settle();
  while (!all_ended()) {
    deliver();
    const Duration next = next_event();
    if (next.is_infinite()) return stuck();
    advance(next);
    finish_spending();
    run_services();
    settle();
    release_due();
    settle();
  }
  tell_dispatches();
  unwind();
  rethrow_failure();
  return {};
}

// What a thread threw: of several, that of the first one started.
void VirtualMachine::rethrow_failure() const {
  for (const auto& thread : threads_) {
    if (thread->error) std::rethrow_exception(thread->error);
  }
}

Errors VirtualMachine::stuck() {
  std::vector<std::string> names;
  for (const auto& thread : threads_) {
    if (thread->state != State::ended && !is_service(*thread)) names.push_back(thread->setup.name);
  }
  const std::string when = to_string(now_);
  unwind();
  rethrow_failure();  // that is why the others wait
  return {Error{
      ErrorCode::conflict, Place{},
      fmt::format("nothing can happen any more at {}: {} wait for what nobody will do", when, fmt::join(names, ", ")),
      "a run that ends", "GPU work that does not end needs a watchdog."}};
}

// Ends the threads that are left, and joins all.
void VirtualMachine::unwind() {
  for (const auto& thread : threads_) {
    if (!thread->thread.joinable()) continue;
    thread->unwinds = true;
    while (thread->state != State::ended) resume(*thread);
    thread->thread.join();
  }
}

bool VirtualMachine::wait(Signal& signal, Waiting how, Duration until) {
  if (signal.take()) return true;
  Thread& thread = *current_;
  // A thread of the runtime waits for its next turn of the same moment at least.
  if (!is_service(thread) && is_due(until)) return false;
  thread.state = how == Waiting::spinning ? State::spinning : State::suspended;
  thread.signal = &signal;
  thread.until = until;
  thread.notified = false;
  yield();
  thread.signal = nullptr;
  return thread.notified && signal.take();
}

void VirtualMachine::spend(Duration time) {
  Thread& thread = *current_;
  if (is_service(thread)) return;
  thread.state = State::spending;
  thread.left = time;
  yield();
}

void VirtualMachine::step() {
  spend({});
}

Duration VirtualMachine::execution_time() const {
  return current_ == nullptr ? Duration() : current_->executed;
}

void VirtualMachine::boost(std::size_t task) {
  const std::size_t before = boosted_;
  boosted_ = task;
  for (const auto& thread : threads_) {
    const std::size_t of = thread->setup.task;
    if (of != kNoTask && (of == before || of == task)) touch(*thread);
  }
}

// From any thread, also from one that is none of the machine's, and in a signal handler: what it means for threads is
// found out when the machine goes on.
void VirtualMachine::notify(Signal& signal) {
  signal.word.store(Signal::kSet, std::memory_order_release);
  any_notified_.store(true, std::memory_order_release);
}

void VirtualMachine::deliver() {
  if (!any_notified_.load(std::memory_order_relaxed) || !any_notified_.exchange(false, std::memory_order_acq_rel))
    return;
  for (const auto& thread : threads_) {
    if (thread->signal == nullptr || thread->notified) continue;
    if (thread->signal->word.load(std::memory_order_acquire) != Signal::kSet) continue;
    thread->notified = true;
    if (!is_service(*thread)) {
      thread->state = State::ready;
      touch(*thread);
    }
  }
}

bool VirtualMachine::wants_core(const Thread& thread) const {
  return thread.state == State::ready || thread.state == State::spending || thread.state == State::spinning;
}

bool VirtualMachine::can_go_on(const Thread& thread) {
  return thread.state == State::ready || (thread.state == State::spending && thread.left == Duration());
}

// Lets a thread run until it waits, spends time, or ends.
void VirtualMachine::resume(Thread& thread) {
  current_ = &thread;
  thread.state = State::ready;
  thread.go.release();
  machine_goes_.acquire();
  current_ = nullptr;
  deliver();
  if (!is_service(thread)) touch(thread);
}

void VirtualMachine::yield() {
  Thread& thread = *current_;
  if (thread.unwinds) return;
  machine_goes_.release();
  thread.go.acquire();
  if (thread.unwinds) throw MachineStopped();
}

void VirtualMachine::touch(const Thread& thread) {
  if (!is_service(thread)) touched_[static_cast<std::size_t>(thread.setup.core)] = 1;
}

void VirtualMachine::dispatch(std::size_t core) {
  running_[core] = nullptr;
  for (Thread* thread : on_core_[core]) {
    if (!wants_core(*thread)) continue;
    const bool boosted = thread->setup.task != kNoTask && thread->setup.task == boosted_;
    if (running_[core] == nullptr || boosted) running_[core] = thread;
  }
}

// Lets threads go on until nothing more happens at this moment, by turns of one step each.
void VirtualMachine::settle() {
  while (std::ranges::any_of(touched_, [](char touched) { return touched != 0; })) {
    for (std::size_t core = 0; core < running_.size(); ++core) {
      if (touched_[core] == 0) continue;
      touched_[core] = 0;
      dispatch(core);
      if (running_[core] != nullptr && can_go_on(*running_[core])) resume(*running_[core]);
    }
  }
}

// Each once, if it is due: what falls due by that comes in the next round of the same moment.
void VirtualMachine::run_services() {
  for (const auto& thread : threads_) {
    if (!is_service(*thread) || thread->state == State::ended) continue;
    if (thread->notified || thread->until <= now_) resume(*thread);
  }
}

void VirtualMachine::release_due() {
  released_up_to_ = now_;
  for (const auto& thread : threads_) {
    const bool waits = thread->state == State::suspended || thread->state == State::spinning;
    if (is_service(*thread) || !waits || thread->until > now_) continue;
    thread->state = State::ready;
    touch(*thread);
  }
}

void VirtualMachine::finish_spending() {
  for (const Thread* thread : running_) {
    if (thread != nullptr && thread->state == State::spending && thread->left == Duration()) touch(*thread);
  }
}

Duration VirtualMachine::next_event() const {
  Duration next = Duration::infinite();
  for (const Thread* thread : running_) {
    if (thread != nullptr && thread->state == State::spending) next = std::min(next, now_ + thread->left);
  }
  for (const auto& thread : threads_) {
    if (thread->state != State::suspended && thread->state != State::spinning) continue;
    if (is_service(*thread) && thread->notified) return now_;
    next = std::min(next, std::max(now_, thread->until));
  }
  return next;
}

void VirtualMachine::advance(Duration to) {
  const Duration passed = to - now_;
  if (passed == Duration()) return;
  tell_dispatches();
  for (Thread* thread : running_) {
    if (thread == nullptr) continue;
    thread->executed += passed;
    if (thread->state == State::spending) thread->left -= passed;
  }
  now_ = to;
}

void VirtualMachine::tell_dispatches() {
  for (std::size_t core = 0; core < running_.size(); ++core) {
    if (running_[core] == told_running_[core]) continue;
    told_running_[core] = running_[core];
    const Thread* thread = running_[core];
    if (told_) told_(static_cast<int>(core), thread == nullptr ? kNoTask : thread->setup.task);
  }
}

bool VirtualMachine::all_ended() const {
  return std::ranges::all_of(threads_, [](const auto& thread) { return thread->state == State::ended; });
}

}  // namespace rtgpu
