#include "rtgpu/gpu_policy.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rtgpu {
namespace {

std::vector<std::uint32_t> ranks_of(const std::vector<PolicyTask>& tasks) {
  std::vector<TaskId> order(tasks.size());
  std::iota(order.begin(), order.end(), TaskId{0});
  std::ranges::stable_sort(order, [&](TaskId a, TaskId b) {
    if (tasks[a].best_effort != tasks[b].best_effort) return tasks[b].best_effort;
    return tasks[a].gpu_priority > tasks[b].gpu_priority;
  });
  std::vector<std::uint32_t> ranks(tasks.size());
  for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

}  // namespace

GpuPolicy::GpuPolicy(PolicySetup setup)
    : setup_(std::move(setup)), ranks_(ranks_of(setup_.tasks)), phases_(setup_.tasks.size(), Phase::idle) {}

// Checks an event against the phase of its task, moves the phase and lets the policy decide. An event out of place
// leaves everything as it was.
template <class Act>
Decision GpuPolicy::event(TaskId task, std::initializer_list<Phase> allowed, Misuse otherwise, Act act) {
  decision_ = Decision{};
  if (task >= phases_.size()) {
    decision_.misuse = Misuse::unknown_task;
  } else if (std::ranges::find(allowed, phases_[task]) == allowed.end()) {
    decision_.misuse = otherwise;
  } else {
    act();
  }
  return decision_;
}

Decision GpuPolicy::enter(TaskId task) {
  return event(task, {Phase::idle}, Misuse::already_inside, [&] {
    phases_[task] = Phase::enter_waiting;
    on_enter(task);
  });
}

Decision GpuPolicy::entered(TaskId task) {
  return event(task, {Phase::entering}, Misuse::not_inside, [&] {
    phases_[task] = Phase::inside;
    on_entered(task);
  });
}

Decision GpuPolicy::submit(TaskId task) {
  return event(task, {Phase::inside}, Misuse::not_inside, [&] {
    phases_[task] = Phase::submitted;
    on_submit(task);
  });
}

Decision GpuPolicy::boundary(TaskId task) {
  const Misuse running = gpu_.runs == task ? Misuse::none : Misuse::not_running;
  return event(task, {Phase::submitted}, Misuse::not_running, [&] {
    decision_.misuse = running;
    if (running == Misuse::none) on_boundary(task);
  });
}

Decision GpuPolicy::complete(TaskId task) {
  const Misuse running = gpu_.runs == task || runs_all_submitted() ? Misuse::none : Misuse::not_running;
  return event(task, {Phase::submitted}, Misuse::not_running, [&] {
    decision_.misuse = running;
    if (running != Misuse::none) return;
    phases_[task] = Phase::completed;
    on_complete(task);
  });
}

Decision GpuPolicy::overtaken(TaskId task) {
  const bool allowed = lets_hardware_choose() && gpu_.runs != task;
  return event(task, {Phase::submitted}, Misuse::not_running, [&] {
    decision_.misuse = allowed ? Misuse::none : Misuse::not_running;
    if (!allowed) return;
    phases_[task] = Phase::completed;
    on_overtaken(task);
  });
}

Decision GpuPolicy::leave(TaskId task) {
  return event(task, {Phase::inside, Phase::completed}, Misuse::not_inside, [&] {
    phases_[task] = Phase::leave_waiting;
    on_leave(task);
  });
}

Decision GpuPolicy::left(TaskId task) {
  return event(task, {Phase::leaving}, Misuse::not_inside, [&] {
    phases_[task] = Phase::idle;
    on_left(task);
  });
}

Decision GpuPolicy::cancel(TaskId task) {
  decision_ = Decision{};
  if (task >= phases_.size()) {
    decision_.misuse = Misuse::unknown_task;
    return decision_;
  }
  const Phase was = std::exchange(phases_[task], Phase::idle);
  if (was != Phase::idle) on_cancel(task, was);
  return decision_;
}

void GpuPolicy::reset() {
  for (TaskId task = 0; task < phases_.size(); ++task) cancel(task);
  gpu_ = GpuState{};
  on_reset();
}

std::vector<std::uint64_t> GpuPolicy::state() const {
  std::vector<std::uint64_t> state;
  for (const Phase phase : phases_) state.push_back(static_cast<std::uint64_t>(phase));
  state.push_back(gpu_.runs);
  state.push_back(gpu_.switches ? 1 : 0);
  append_state(state);
  return state;
}

void GpuPolicy::grant(TaskId task) {
  phases_[task] = phases_[task] == Phase::enter_waiting ? Phase::entering : Phase::leaving;
  decision_.granted = task;
}

void GpuPolicy::run_on_gpu(TaskId task, bool with_switch) {
  const GpuState next{task, with_switch};
  if (gpu_.runs == next.runs) return;
  gpu_ = next;
  decision_.gpu_changed = true;
}

}  // namespace rtgpu
