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

// The task that a core has to run: the highest that wants it, boosted ones first.
TaskIndex highest_on(const ScheduleView& view, const ScheduleSlice& slice, std::size_t core) {
  TaskIndex highest = kNoTask;
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
