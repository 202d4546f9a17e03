#include "runtime/release_plan.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace rtgpu {
namespace {

constexpr std::int64_t kNoTrigger = -1;

}  // namespace

ReleasePlan::ReleasePlan(TaskId task, const TaskSetup& setup) : task_(task), setup_(setup) {
  if (setup.released_by == ReleasedBy::file) stop_file_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

ReleasePlan::~ReleasePlan() {
  if (stop_file_ >= 0) close(stop_file_);
}

void ReleasePlan::prepare(Machine& machine, Duration horizon, const ScenarioDraws* draws) {
  machine_ = &machine;
  horizon_ = horizon;
  draws_ = draws;
  stopping_.store(false, std::memory_order_relaxed);
  triggers_.store(0, std::memory_order_relaxed);
  triggered_at_ns_.store(kNoTrigger, std::memory_order_relaxed);
  signal_.take();
  number_ = 0;
  last_nominal_.reset();
  next_ = {setup_.offset, setup_.offset};
  if (draws_ != nullptr) next_.actual += draws_->jitter(task_, 0, setup_.jitter);
  open_.store(true);
}

void ReleasePlan::retire() {
  open_.store(false);
  while (calls_.load() > 0) std::this_thread::yield();
}

void ReleasePlan::stop() {
  stopping_.store(true, std::memory_order_release);
  if (machine_ != nullptr) machine_->notify(signal_);
  if (stop_file_ < 0) return;
  const std::uint64_t one = 1;
  // Full is as good: the thread wakes up.
  [[maybe_unused]] const ssize_t written = write(stop_file_, &one, sizeof one);
}

void ReleasePlan::trigger() {
  calls_.fetch_add(1);
  if (open_.load()) {
    std::int64_t none = kNoTrigger;
    triggered_at_ns_.compare_exchange_strong(none, machine_->now().count(), std::memory_order_acq_rel);
    triggers_.fetch_add(1, std::memory_order_acq_rel);
    machine_->notify(signal_);
  }
  calls_.fetch_sub(1);
}

std::optional<Release> ReleasePlan::next() {
  waited_ = false;
  bool comes = false;
  switch (setup_.released_by) {
    case ReleasedBy::time:
      comes = next_.nominal <= horizon_ && wait_until(next_.actual);
      break;
    case ReleasedBy::trigger:
      comes = wait_for_trigger();
      break;
    case ReleasedBy::file:
      comes = wait_for_file();
      break;
  }
  if (!comes) return std::nullopt;
  ++number_;
  last_nominal_ = next_.nominal;
  return next_;
}

bool ReleasePlan::wait_until(Duration time) {
  while (!is_stopping() && !machine_->is_due(time)) {
    waited_ = true;
    machine_->wait(signal_, Waiting::suspended, time);
  }
  return !is_stopping();
}

bool ReleasePlan::wait_for_trigger() {
  while (triggers_.load(std::memory_order_acquire) == 0) {
    if (is_stopping() || machine_->is_due(horizon_)) return false;
    waited_ = true;
    machine_->wait(signal_, Waiting::suspended, horizon_);
  }
  // What is triggered meanwhile counts from this one's time: earlier than it was, never later.
  const std::int64_t triggered = triggered_at_ns_.exchange(kNoTrigger, std::memory_order_acq_rel);
  triggers_.fetch_sub(1, std::memory_order_acq_rel);
  // One that came as the run was being started may have read the clock before that was set to 0.
  if (triggered != kNoTrigger) {
    last_trigger_ = std::clamp(Duration::nanoseconds(triggered), Duration(), std::max(Duration(), machine_->now()));
  }
  return released_at(last_trigger_);
}

bool ReleasePlan::wait_for_file() {
  std::array<pollfd, 2> files{{{setup_.release_file, POLLIN, 0}, {stop_file_, POLLIN, 0}}};
  for (;;) {
    const Duration left = horizon_ - machine_->now();
    if (is_stopping() || left <= Duration()) return false;
    constexpr std::int64_t kLongestMs = 1'000'000;
    const auto timeout_ms = static_cast<int>(std::min(left.count() / 1'000'000 + 1, kLongestMs));
    const int ready = poll(files.data(), files.size(), timeout_ms);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0 && (files[0].revents & POLLNVAL) != 0) return false;
    if (ready > 0 && files[0].revents != 0) break;
  }
  waited_ = true;
  return released_at(machine_->now());
}

// Something asked for a job at `asked`: it is released at least a period after the one before.
bool ReleasePlan::released_at(Duration asked) {
  next_.nominal = last_nominal_ ? std::max(asked, *last_nominal_ + setup_.period) : asked;
  next_.actual = next_.nominal;
  return next_.nominal <= horizon_ && wait_until(next_.actual);
}

std::int64_t ReleasePlan::plan_next(bool skip) {
  if (setup_.released_by != ReleasedBy::time) return 0;
  const Duration now = machine_->now();
  const auto is_missed = [&] { return skip && next_.nominal < now && next_.nominal <= horizon_; };
  std::int64_t dropped = -1;
  do {
    if (++dropped > 0) ++number_;
    next_.nominal += setup_.period;
    Duration jitter;
    if (draws_ != nullptr) {
      next_.nominal += draws_->gap(task_, number_);
      jitter = draws_->jitter(task_, number_, setup_.jitter);
    }
    // Jobs are released in order, whatever the jitter.
    next_.actual = std::max(next_.nominal + jitter, next_.actual);
  } while (is_missed());
  return dropped;
}

}  // namespace rtgpu
