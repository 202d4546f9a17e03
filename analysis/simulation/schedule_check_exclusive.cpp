// What one task has at a time: the mutex of the updates (gcaps, gcaps-wc), the lock on the GPU (mpcp, fmlp+), and the
// server (server).
#include "analysis/simulation/schedule_check_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace rtgpu {
namespace {

enum class Role : std::uint8_t { none, waits, holds };

class Exclusive {
 public:
  enum class Kind : std::uint8_t { update_mutex, gpu_lock, server };

  Exclusive(const ScheduleView& view, Findings& findings, Kind kind) : view_(view), findings_(findings), kind_(kind) {}

  void check() {
    for (std::size_t i = 0; i < view_.slices.size(); ++i) {
      const TaskIndex holder = check_holder(view_.slices[i]);
      if (holder != kNoTask && i > 0) check_handover(view_.slices[i - 1], view_.slices[i], holder);
    }
  }

 private:
  Role role(const ScheduleSlice& slice, TaskIndex task) const {
    const Visit* visit = slice.visits[task];
    if (visit == nullptr) return Role::none;
    return kind_ == Kind::update_mutex ? role_for_mutex(*visit) : role_for_lock(slice, *visit);
  }

  static Role role_for_mutex(const Visit& visit) {
    switch (visit.state) {
      case JobState::enter_waiting:
      case JobState::leave_waiting:
        return Role::waits;
      case JobState::entering:
      case JobState::leaving:
        return Role::holds;
      default:
        return Role::none;
    }
  }

  // From the grant to the end of the leave call; at the end of a slice the rest of exec may have to wait again.
  static Role role_for_lock(const ScheduleSlice& slice, const Visit& visit) {
    switch (visit.state) {
      case JobState::enter_waiting:
        return Role::waits;
      case JobState::gpu:
        return slice.on_gpu() == &visit ? Role::holds : Role::waits;
      case JobState::entering:
      case JobState::misc:
      case JobState::to_leave:
      case JobState::leave_waiting:
      case JobState::leaving:
        return Role::holds;
      default:
        return Role::none;
    }
  }

  std::string_view name() const {
    if (kind_ == Kind::server) return "the server";
    return kind_ == Kind::update_mutex ? "the mutex" : "the lock";
  }

  // Returns the holder.
  TaskIndex check_holder(const ScheduleSlice& slice) {
    TaskIndex holder = kNoTask;
    TaskIndex waiter = kNoTask;
    for (TaskIndex task = 0; task < view_.tasks.size(); ++task) {
      const Role has = role(slice, task);
      if (has == Role::waits) waiter = task;
      if (has != Role::holds) continue;
      if (holder != kNoTask) {
        findings_.add(ScheduleRule::one_holder, task, slice.begin,
                      fmt::format("has {} while {} has it", name(), view_.name(holder)));
      }
      holder = task;
    }
    if (holder == kNoTask && waiter != kNoTask) {
      findings_.add(ScheduleRule::one_holder, waiter, slice.begin, fmt::format("waits for {}, which is free", name()));
    }
    return holder;
  }

  // Whether a task holds on the same request in both slices.
  bool keeps(const ScheduleSlice& before, const ScheduleSlice& after, TaskIndex task) const {
    if (role(before, task) != Role::holds) return false;
    const Visit& was = *before.visits[task];
    const Visit& is = *after.visits[task];
    const bool same_segment = was.job == is.job && was.segment == is.segment;
    return kind_ == Kind::update_mutex ? same_segment && was.state == is.state : same_segment;
  }

  // A task waits in both slices for the same.
  bool keeps_waiting(const ScheduleSlice& before, const ScheduleSlice& after, TaskIndex task) const {
    return role(after, task) == Role::waits && role(before, task) == Role::waits &&
           before.visits[task] == after.visits[task];
  }

  // The rest of its exec waits from now on.
  bool is_put_off(const ScheduleSlice& before, const ScheduleSlice& after, TaskIndex task) const {
    return role(after, task) == Role::waits && role(before, task) == Role::holds &&
           before.visits[task] == after.visits[task];
  }

  // When the new holder asked: now, if it did not wait.
  static Duration request_of(const ScheduleSlice& before, const ScheduleSlice& after, TaskIndex holder) {
    const Visit* was = before.visits[holder];
    const Visit& is = *after.visits[holder];
    const bool waited =
        was != nullptr && was->state == JobState::enter_waiting && was->job == is.job && was->segment == is.segment;
    return waited ? was->begin : after.begin;
  }

  bool goes_before(const ScheduleSlice& before, const ScheduleSlice& after, TaskIndex holder, TaskIndex waiter) const {
    if (view_.policy != Policy::fmlp_plus) return view_.tasks[holder].gpu_rank < view_.tasks[waiter].gpu_rank;
    return request_of(before, after, holder) <= after.visits[waiter]->begin;
  }

  // Somebody else may have had it in between, for no time: another task that uses the GPU moved on at this moment, or
  // had a job that took no time at all.
  bool may_have_passed(const ScheduleSlice& before, const ScheduleSlice& after, TaskIndex holder) const {
    const auto is_other = [&](TaskIndex task) { return task != holder && uses_gpu(view_.taskset.tasks[task]); };
    for (TaskIndex task = 0; task < view_.tasks.size(); ++task) {
      if (is_other(task) && before.visits[task] != after.visits[task]) return true;
    }
    return std::ranges::any_of(
        view_.schedule.jobs, [&](const JobRecord& job) { return is_other(job.task) && job.completion == after.begin; });
  }

  void check_handover(const ScheduleSlice& before, const ScheduleSlice& after, TaskIndex holder) {
    if (keeps(before, after, holder)) return;
    const bool again = role(before, holder) == Role::holds && !may_have_passed(before, after, holder);
    for (TaskIndex task = 0; task < view_.tasks.size(); ++task) {
      const bool put_off = is_put_off(before, after, task);
      if (!put_off && !keeps_waiting(before, after, task)) continue;
      if (put_off && view_.policy == Policy::fmlp_plus) {
        report(after, holder, task, "gets {} in the middle of exec of {}");
      } else if (again) {
        report(after, holder, task, "gets {} once more at once though {} waits");
      } else if (!goes_before(before, after, holder, task)) {
        report(after, holder, task, "gets {} though {} goes first");
      }
    }
  }

  void report(const ScheduleSlice& slice, TaskIndex holder, TaskIndex other, std::string_view text) {
    findings_.add(ScheduleRule::handover, holder, slice.begin,
                  fmt::format(fmt::runtime(text), name(), view_.name(other)));
  }

  const ScheduleView& view_;
  Findings& findings_;
  Kind kind_;
};

}  // namespace

void check_update_mutex(const ScheduleView& view, Findings& findings) {
  if (view.policy != Policy::gcaps && view.policy != Policy::gcaps_wc) return;
  Exclusive(view, findings, Exclusive::Kind::update_mutex).check();
}

void check_gpu_lock(const ScheduleView& view, Findings& findings) {
  if (view.has_server()) Exclusive(view, findings, Exclusive::Kind::server).check();
  if (view.policy != Policy::mpcp && view.policy != Policy::fmlp_plus) return;
  Exclusive(view, findings, Exclusive::Kind::gpu_lock).check();
}

}  // namespace rtgpu
