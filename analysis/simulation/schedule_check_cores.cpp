// Cores: who runs, and who is boosted.
#include "analysis/simulation/schedule_check_view.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// Whether the policy lets a task in this state run above all priorities of its core. The holder of a lock does from the
// moment it is granted, so in the call that acquires it as well.
bool is_boosted_in(Policy policy, JobState state) {
  switch (policy) {
    case Policy::gcaps:
    case Policy::gcaps_wc:
      return state == JobState::entering || state == JobState::leaving;
    case Policy::mpcp:
    case Policy::fmlp_plus:
      return state == JobState::entering || state == JobState::misc || state == JobState::to_leave ||
             state == JobState::leave_waiting || state == JobState::leaving;
    default:
      return false;
  }
}

// Whom the server has to work for at the moment.
TaskIndex served_in(const ScheduleView& view, const ScheduleSlice& slice) {
  for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
    if (slice.visits[task] != nullptr && view.is_served(*slice.visits[task])) return task;
  }
  return kNoTask;
}

void check_server(const ScheduleView& view, Findings& findings) {
  for (const ScheduleSlice& slice : view.slices) {
    const TaskIndex served = served_in(view, slice);
    if (served == kNoTask && slice.by_server) {
      findings.add(ScheduleRule::core, slice.cores[view.server_core()], slice.begin,
                   "the server runs for it without work");
    }
    if (served != kNoTask && !slice.by_server) {
      findings.add(ScheduleRule::core, served, slice.begin, "the server does not run, though it has work for it");
    }
  }
}

// The task that a core has to run: the highest that wants it, boosted ones first, and whom the server works for before
// all.
TaskIndex highest_on(const ScheduleView& view, const ScheduleSlice& slice, std::size_t core) {
  TaskIndex highest = view.has_server() && core == view.server_core() ? served_in(view, slice) : kNoTask;
  if (highest != kNoTask) return highest;
  const auto place = [&](TaskIndex task) {
    return std::pair(!is_boosted_in(view.policy, slice.visits[task]->state), view.tasks[task].cpu_rank);
  };
  for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
    const Visit* visit = slice.visits[task];
    if (visit == nullptr || !view.wants_core(*visit)) continue;
    if (static_cast<std::size_t>(view.taskset.tasks[task].cpu) != core) continue;
    if (highest == kNoTask || place(task) < place(highest)) highest = task;
  }
  return highest;
}

}  // namespace

void check_cores(const ScheduleView& view, Findings& findings) {
  if (view.has_server()) check_server(view, findings);
  for (const ScheduleSlice& slice : view.slices) {
    for (std::size_t core = 0; core < slice.cores.size(); ++core) {
      const TaskIndex runs = slice.cores[core];
      const TaskIndex highest = highest_on(view, slice, core);
      if (runs == highest) continue;
      if (highest == kNoTask) {
        findings.add(ScheduleRule::core, runs, slice.begin,
                     fmt::format("runs on core {}, which it does not want", core));
      } else {
        findings.add(ScheduleRule::core, highest, slice.begin,
                     fmt::format("wants core {} and is the highest, but {} runs there", core,
                                 runs == kNoTask ? "nobody" : view.name(runs)));
      }
    }
  }
}

void check_boosts(const ScheduleView& view, Findings& findings) {
  for (const TaskInterval& interval : view.schedule.tasks) {
    if (interval.boosted == is_boosted_in(view.policy, interval.state)) continue;
    findings.add(ScheduleRule::boost, interval.task, interval.begin,
                 interval.boosted ? "runs above all priorities though the policy does not say so"
                                  : "does not run above all priorities though the policy says so");
  }
}

}  // namespace rtgpu
