#include "tests/rtgpu/policy_specification.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rtgpu::testing {
namespace {

bool has_work(const SpecifiedState& state, TaskId task) {
  return state.phases[task] == Phase::submitted;
}

// From the end of the enter call to the end of the leave call.
bool is_active(const SpecifiedState& state, TaskId task) {
  const Phase phase = state.phases[task];
  return phase != Phase::idle && phase != Phase::enter_waiting && phase != Phase::entering;
}

Phase phase_after(PolicyEvent event, Phase before) {
  switch (event) {
    case PolicyEvent::enter:
      return Phase::enter_waiting;
    case PolicyEvent::entered:
      return Phase::inside;
    case PolicyEvent::submit:
      return Phase::submitted;
    case PolicyEvent::boundary:
      return before;
    case PolicyEvent::complete:
      return Phase::completed;
    case PolicyEvent::leave:
      return Phase::leave_waiting;
    case PolicyEvent::left:
    case PolicyEvent::cancel:
      return Phase::idle;
  }
  return before;
}

TaskId take(std::vector<TaskId>& from, std::size_t place) {
  const TaskId task = from[place];
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(place));
  return task;
}

}  // namespace

std::string_view to_string(PolicyEvent event) {
  constexpr std::array<std::string_view, kPolicyEvents> kNames = {"enter",    "entered", "submit", "boundary",
                                                                  "complete", "leave",   "left",   "cancel"};
  return kNames[static_cast<std::size_t>(event)];
}

Decision apply(GpuPolicy& policy, PolicyEvent event, TaskId task) {
  switch (event) {
    case PolicyEvent::enter:
      return policy.enter(task);
    case PolicyEvent::entered:
      return policy.entered(task);
    case PolicyEvent::submit:
      return policy.submit(task);
    case PolicyEvent::boundary:
      return policy.boundary(task);
    case PolicyEvent::complete:
      return policy.complete(task);
    case PolicyEvent::leave:
      return policy.leave(task);
    case PolicyEvent::left:
      return policy.left(task);
    case PolicyEvent::cancel:
      return policy.cancel(task);
  }
  return {};
}

PolicySpecification::PolicySpecification(Policy policy, PolicySetup setup, std::vector<int> levels)
    : policy_(policy), setup_(std::move(setup)), levels_(std::move(levels)) {}

SpecifiedState PolicySpecification::start() const {
  SpecifiedState state;
  state.phases.assign(setup_.tasks.size(), Phase::idle);
  state.missed.assign(setup_.tasks.size(), 0);
  return state;
}

bool PolicySpecification::allows(const SpecifiedState& state, PolicyEvent event, TaskId task) const {
  const Phase phase = state.phases[task];
  switch (event) {
    case PolicyEvent::enter:
      return phase == Phase::idle;
    case PolicyEvent::entered:
      return phase == Phase::entering;
    case PolicyEvent::submit:
      return phase == Phase::inside;
    case PolicyEvent::boundary:
      return state.gpu.runs == task;
    case PolicyEvent::complete:
      return has_own_sms() ? has_work(state, task) : state.gpu.runs == task;
    case PolicyEvent::leave:
      return phase == Phase::inside || phase == Phase::completed;
    case PolicyEvent::left:
      return phase == Phase::leaving;
    case PolicyEvent::cancel:
      return true;
  }
  return false;
}

// Real-time tasks by priority, then best-effort ones; equal ones by position.
bool PolicySpecification::ranks_above(TaskId a, TaskId b) const {
  const PolicyTask& first = setup_.tasks[a];
  const PolicyTask& second = setup_.tasks[b];
  if (first.best_effort != second.best_effort) return second.best_effort;
  if (first.gpu_priority != second.gpu_priority) return first.gpu_priority > second.gpu_priority;
  return a < b;
}

// Whether a waiter takes the lock away from its holder where that may be: the holder's request is always the earlier.
bool PolicySpecification::goes_before(TaskId waiter, TaskId holder) const {
  return policy_ == Policy::mpcp && ranks_above(waiter, holder);
}

std::optional<std::size_t> PolicySpecification::first_request(const SpecifiedState& state) const {
  if (state.requests.empty()) return std::nullopt;
  if (policy_ == Policy::fmlp_plus) return 0;
  const auto first = std::ranges::min_element(state.requests, [&](TaskId a, TaskId b) { return ranks_above(a, b); });
  return static_cast<std::size_t>(first - state.requests.begin());
}

std::optional<std::size_t> PolicySpecification::first_work(const SpecifiedState& state) const {
  if (state.work.empty()) return std::nullopt;
  if (policy_ == Policy::tsg_rr) return 0;
  const auto first = std::ranges::min_element(state.work, [&](TaskId a, TaskId b) { return levels_[a] < levels_[b]; });
  return static_cast<std::size_t>(first - state.work.begin());  // the first of its level
}

// --- lock and mutex

// The holder gives it back; who waits and is cancelled does not wait any more.
void PolicySpecification::release(SpecifiedState& state, PolicyEvent event, TaskId task) const {
  const bool gives_back =
      event == PolicyEvent::cancel || event == PolicyEvent::left || (has_mutex() && event == PolicyEvent::entered);
  if (gives_back && state.holder == task) state.holder = kNobody;
  if (event == PolicyEvent::cancel) std::erase(state.requests, task);
  if (event != PolicyEvent::boundary || state.holder != task || !has_lock()) return;
  const auto first = first_request(state);
  if (!first || !goes_before(state.requests[*first], task)) return;
  state.requests.push_back(task);
  state.holder = kNobody;
}

// Returns who is granted a call.
TaskId PolicySpecification::hold(SpecifiedState& state, PolicyEvent event, TaskId task) const {
  const bool asks = event == PolicyEvent::enter || event == PolicyEvent::leave;
  const bool has_to_wait = has_mutex() || (admits_one() && event == PolicyEvent::enter);
  if (asks && !has_to_wait) return task;
  if (asks) state.requests.push_back(task);
  release(state, event, task);
  if (state.holder != kNobody) return kNobody;
  const auto first = first_request(state);
  if (!first) return kNobody;
  state.holder = take(state.requests, *first);
  return has_work(state, state.holder) ? kNobody : state.holder;  // the rest of its exec needs no call
}

// --- the GPU

void PolicySpecification::serve_in_turn(SpecifiedState& state, PolicyEvent event, TaskId task) const {
  if (event == PolicyEvent::submit) state.work.push_back(task);
  if (event == PolicyEvent::cancel) std::erase(state.work, task);
  const bool ends = state.gpu.runs == task && (event == PolicyEvent::complete || event == PolicyEvent::cancel);
  const bool yields = event == PolicyEvent::boundary && !state.work.empty();
  if (yields) state.work.push_back(task);
  if (ends || yields) state.gpu = {};
  const auto next = first_work(state);
  if (state.gpu.runs != kNobody || !next) return;
  const TaskId runs = take(state.work, *next);
  state.gpu = {runs, state.context != kNobody && state.context != runs};
  state.context = runs;
}

// Running work stays in its place: `work` holds all that was submitted.
void PolicySpecification::serve_by_level(SpecifiedState& state, PolicyEvent event, TaskId task) const {
  if (event == PolicyEvent::submit) state.work.push_back(task);
  if (event == PolicyEvent::complete || event == PolicyEvent::cancel) std::erase(state.work, task);
  const bool is_over = state.gpu.runs != kNobody && std::ranges::find(state.work, state.gpu.runs) == state.work.end();
  if (is_over) state.gpu = {};
  const auto first = first_work(state);
  if (!first) return;
  const TaskId best = state.work[*first];
  const bool gets_in = event == PolicyEvent::boundary && levels_[best] < levels_[state.gpu.runs];
  if (state.gpu.runs == kNobody || gets_in) state.gpu = {best, false};
}

TaskId PolicySpecification::real_time_owner(const SpecifiedState& state) const {
  TaskId owner = kNobody;
  for (TaskId task = 0; task < state.phases.size(); ++task) {
    if (setup_.tasks[task].best_effort) continue;
    if (policy_ == Policy::gcaps ? !is_active(state, task) : !has_work(state, task)) continue;
    if (owner == kNobody || ranks_above(task, owner)) owner = task;
  }
  return owner;
}

bool PolicySpecification::has_other_best_effort_work(const SpecifiedState& state, TaskId task) const {
  for (TaskId other = 0; other < state.phases.size(); ++other) {
    if (other != task && setup_.tasks[other].best_effort && has_work(state, other)) return true;
  }
  return false;
}

// A best-effort task keeps the GPU until its turn ends, and gives it up then if another has work.
bool PolicySpecification::is_right_best_effort(const SpecifiedState& state, PolicyEvent event, TaskId task,
                                               TaskId runs) const {
  if (runs == kNobody) return !has_other_best_effort_work(state, kNobody);
  if (!setup_.tasks[runs].best_effort || !has_work(state, runs)) return false;
  const TaskId before = state.gpu.runs;
  if (before == kNobody || !setup_.tasks[before].best_effort || !has_work(state, before)) return true;
  const bool turn_ends = event == PolicyEvent::boundary && task == before && has_other_best_effort_work(state, before);
  return turn_ends ? runs != before : runs == before;
}

// Under gcaps and gcaps-wc. Returns whether `runs` is right.
bool PolicySpecification::choose(SpecifiedState& state, PolicyEvent event, TaskId task, TaskId runs) const {
  const TaskId owner = real_time_owner(state);
  bool is_right = false;
  if (owner != kNobody) {
    is_right = runs == (has_work(state, owner) ? owner : kNobody);
  } else {
    is_right = is_right_best_effort(state, event, task, runs);
  }
  state.gpu = {runs, false};
  return is_right;
}

// Nobody is passed over for more turns than there are others.
void PolicySpecification::count_missed_turns(SpecifiedState& state, PolicyEvent event, TaskId task) const {
  const bool turn_ends =
      setup_.tasks[task].best_effort && (event == PolicyEvent::boundary || event == PolicyEvent::complete);
  for (TaskId each = 0; each < state.phases.size(); ++each) {
    const bool waits = setup_.tasks[each].best_effort && has_work(state, each) && state.gpu.runs != each;
    if (!waits) {
      state.missed[each] = 0;
    } else if (turn_ends && each != task) {
      ++state.missed[each];
    }
  }
}

PolicySpecification::Outcome PolicySpecification::move_on(SpecifiedState& state, PolicyEvent event, TaskId task,
                                                          TaskId runs) const {
  Outcome outcome;
  state.phases[task] = phase_after(event, state.phases[task]);
  outcome.granted = hold(state, event, task);
  if (outcome.granted != kNobody) {
    Phase& phase = state.phases[outcome.granted];
    phase = phase == Phase::enter_waiting ? Phase::entering : Phase::leaving;
  }
  if (has_mutex()) {
    outcome.choice_is_right = choose(state, event, task, runs);
    count_missed_turns(state, event, task);
    const auto best_effort = std::ranges::count_if(setup_.tasks, &PolicyTask::best_effort);
    for (const std::uint8_t missed : state.missed) {
      outcome.choice_is_right = outcome.choice_is_right && missed < std::max<std::int64_t>(best_effort, 1);
    }
  } else if (admits_one()) {
    const bool runs_holder = state.holder != kNobody && has_work(state, state.holder);
    state.gpu = {runs_holder ? state.holder : kNobody, false};
  } else if (policy_ == Policy::tsg_rr) {
    serve_in_turn(state, event, task);
  } else if (!has_own_sms()) {  // there the GPU is nobody's, and all submitted work runs
    serve_by_level(state, event, task);
  }
  return outcome;
}

// The holder of the mutex; the holder of the lock but while its work is with the GPU.
TaskId PolicySpecification::boosted(const SpecifiedState& state) const {
  if (has_server()) return kNobody;
  const bool suspends = has_lock() && state.holder != kNobody && has_work(state, state.holder);
  return suspends ? kNobody : state.holder;
}

// Whom the server works for, but while it waits for the GPU.
TaskId PolicySpecification::served(const SpecifiedState& state) const {
  const bool waits = state.holder != kNobody && has_work(state, state.holder);
  return has_server() && !waits ? state.holder : kNobody;
}

// Somebody waits who gets the GPU at the running work's next boundary.
bool PolicySpecification::wants_boundary(const SpecifiedState& state) const {
  const TaskId runs = state.gpu.runs;
  if (has_server()) return false;
  if (has_mutex()) {
    return runs != kNobody && setup_.tasks[runs].best_effort && has_other_best_effort_work(state, runs);
  }
  if (has_lock()) {
    const auto first = first_request(state);
    return state.holder != kNobody && first && goes_before(state.requests[*first], state.holder);
  }
  const auto first = first_work(state);
  if (runs == kNobody || !first) return false;
  return policy_ == Policy::tsg_rr || levels_[state.work[*first]] < levels_[runs];
}

}  // namespace rtgpu::testing
