// The GPU: whose work it runs, in which order, for how long, and where it is interrupted.
#include "analysis/simulation/schedule_check_view.h"
#include "rtgpu/policies/stream_priority.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool has_work(const ScheduleSlice& slice, TaskIndex task) {
  return slice.is_in(task, JobState::gpu);
}

std::string name_or_nobody(const ScheduleView& view, TaskIndex task) {
  return task == kNoTask ? "nobody" : view.name(task);
}

// --- all policies

void check_work(const ScheduleView& view, Findings& findings) {
  for (const ScheduleSlice& slice : view.slices) {
    if (slice.gpu == kNoTask) continue;
    if (!has_work(slice, slice.gpu)) {
      findings.add(ScheduleRule::gpu_work, slice.gpu, slice.begin,
                   "the GPU is given to it though it submitted nothing");
    }
    if (slice.switching && view.policy != Policy::tsg_rr) {
      findings.add(ScheduleRule::context_switch, slice.gpu, slice.begin, "the policy has no context switches");
    }
  }
}

// Work ends on the GPU.
void check_ends(const ScheduleView& view, Findings& findings) {
  std::vector<bool> ends_there(view.visits.size(), false);
  for (const Turn& turn : view.turns) {
    if (turn.end == turn.visit->end) ends_there[static_cast<std::size_t>(turn.visit - view.visits.data())] = true;
  }
  for (std::size_t i = 0; i < view.visits.size(); ++i) {
    const Visit& visit = view.visits[i];
    const bool is_work = visit.state == JobState::gpu && visit.on_gpu > Duration() && !visit.is_cut_off;
    if (!is_work || ends_there[i]) continue;
    findings.add(ScheduleRule::gpu_work, visit.task, visit.end, "its work ends while the GPU does not run it");
  }
}

// Work that has been submitted never waits for an idle GPU.
void check_not_idle(const ScheduleView& view, Findings& findings) {
  for (const ScheduleSlice& slice : view.slices) {
    if (slice.gpu != kNoTask) continue;
    for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
      if (!has_work(slice, task)) continue;
      findings.add(ScheduleRule::gpu_owner, task, slice.begin, "its work waits while the GPU idles");
    }
  }
}

// How long work ran in a turn while the one that waits at the end of the turn was there already.
Duration run_past(const Turn& turn, const Visit& waiter) {
  return turn.end - std::max(turn.last_begin, waiter.begin);
}

// While somebody waits who may get in, work runs on for no longer than the limit.
template <class MayGetIn>
void check_turn(const ScheduleView& view, const Turn& turn, Duration limit, MayGetIn may_get_in, Findings& findings) {
  const ScheduleSlice& slice = view.slices[turn.last_slice];
  for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
    const Visit* waiter = slice.visits[task];
    if (waiter == nullptr || waiter == turn.visit || !may_get_in(*waiter)) continue;
    const Duration past = run_past(turn, *waiter);
    if (past <= limit) continue;
    findings.add(ScheduleRule::gpu_turn, turn.visit->task, turn.begin,
                 fmt::format("runs on for {} while {} waits, which gets in after {} at most", to_string(past),
                             view.name(task), to_string(limit)));
  }
}

// --- gcaps, gcaps-wc

// From the end of the enter call to the end of the leave call.
bool is_active(const ScheduleSlice& slice, TaskIndex task) {
  const Visit* visit = slice.visits[task];
  if (visit == nullptr) return false;
  switch (visit->state) {
    case JobState::misc:
    case JobState::gpu:
    case JobState::to_leave:
    case JobState::leave_waiting:
    case JobState::leaving:
      return true;
    default:
      return false;
  }
}

void check_gcaps_owner(const ScheduleView& view, const ScheduleSlice& slice, Findings& findings) {
  TaskIndex owner = kNoTask;
  TaskIndex best_effort = kNoTask;  // that has work
  for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
    if (view.is_best_effort(task)) {
      if (has_work(slice, task)) best_effort = task;
      continue;
    }
    const bool claims = view.policy == Policy::gcaps ? is_active(slice, task) : has_work(slice, task);
    if (!claims) continue;
    if (owner == kNoTask || view.tasks[task].gpu_rank < view.tasks[owner].gpu_rank) owner = task;
  }
  if (owner != kNoTask) {
    const TaskIndex expected = has_work(slice, owner) ? owner : kNoTask;
    if (slice.gpu == expected) return;
    findings.add(ScheduleRule::gpu_owner, owner, slice.begin,
                 fmt::format("the GPU belongs to it and has to run {}, but runs {}", name_or_nobody(view, expected),
                             name_or_nobody(view, slice.gpu)));
  } else if (best_effort != kNoTask && slice.gpu == kNoTask) {
    findings.add(ScheduleRule::gpu_owner, best_effort, slice.begin, "its work waits while the GPU idles");
  }
}

void check_gcaps(const ScheduleView& view, Findings& findings) {
  for (const ScheduleSlice& slice : view.slices) check_gcaps_owner(view, slice, findings);
  const Duration slice_length = view.overheads().time_slice;
  if (slice_length == Duration()) return;  // nothing is said of turns then
  for (const Turn& turn : view.turns) {
    if (!view.is_best_effort(turn.visit->task)) continue;
    const auto may_get_in = [&](const Visit& waiter) {
      return waiter.state == JobState::gpu && view.is_best_effort(waiter.task);
    };
    check_turn(view, turn, slice_length, may_get_in, findings);
  }
}

// --- tsg-rr

void check_context_switches(const ScheduleView& view, Findings& findings) {
  const Duration cost = view.overheads().context_switch;
  std::vector<GpuInterval> intervals = view.schedule.gpu;
  std::ranges::sort(intervals, {}, &GpuInterval::begin);
  TaskIndex context = kNoTask;
  for (const GpuInterval& interval : intervals) {
    const bool moves = context != interval.task;
    if (interval.switching) {
      const Duration length = interval.end - interval.begin;
      const bool is_cut_off = interval.end == view.schedule.end && length < cost;
      if (!moves || (length != cost && !is_cut_off)) {
        findings.add(ScheduleRule::context_switch, interval.task, interval.begin,
                     moves ? fmt::format("moving to it takes {} instead of {}", to_string(length), to_string(cost))
                           : "the GPU moves to where it is");
      }
    } else if (moves && context != kNoTask && cost > Duration()) {  // where the GPU is at first is not known
      findings.add(ScheduleRule::context_switch, interval.task, interval.begin, "the GPU runs it without moving to it");
    }
    context = interval.task;
  }
}

// Newcomers and those whose slice is over join at the tail; the head is served.
void check_round_robin(const ScheduleView& view, Findings& findings) {
  std::vector<Duration> joined(view.visits.size());
  for (std::size_t i = 0; i < view.visits.size(); ++i) joined[i] = view.visits[i].begin;
  const auto joined_at = [&](const Visit* visit) -> Duration& {
    return joined[static_cast<std::size_t>(visit - view.visits.data())];
  };
  const auto served = [](const ScheduleSlice& slice) {
    return slice.gpu == kNoTask ? nullptr : slice.visits[slice.gpu];
  };
  const Visit* before = nullptr;
  for (const ScheduleSlice& slice : view.slices) {
    const Visit* now = served(slice);
    if (now == before) continue;
    if (before != nullptr && before->end > slice.begin) joined_at(before) = slice.begin;
    before = now;
    if (now == nullptr) continue;
    for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
      if (!has_work(slice, task) || joined_at(slice.visits[task]) >= joined_at(now)) continue;
      findings.add(ScheduleRule::gpu_order, now->task, slice.begin,
                   fmt::format("is served before {}, whose turn it is", view.name(task)));
    }
  }
}

// Work that the GPU has moved to runs next, if there is any of it left.
void check_runs_after_switch(const ScheduleView& view, Findings& findings) {
  for (std::size_t i = 0; i + 1 < view.slices.size(); ++i) {
    const ScheduleSlice& slice = view.slices[i];
    const ScheduleSlice& next = view.slices[i + 1];
    if (!slice.switching || next.gpu == slice.gpu) continue;
    if (!has_work(slice, slice.gpu) || slice.visits[slice.gpu] != next.visits[slice.gpu]) continue;
    findings.add(ScheduleRule::gpu_interruption, slice.gpu, next.begin, "the GPU moves to it and leaves it at once");
  }
}

void check_tsg_rr(const ScheduleView& view, Findings& findings) {
  check_not_idle(view, findings);
  check_context_switches(view, findings);
  check_round_robin(view, findings);
  check_runs_after_switch(view, findings);
  const Duration slice_length = view.overheads().time_slice;
  for (const Turn& turn : view.turns) {
    check_turn(
        view, turn, slice_length, [](const Visit& waiter) { return waiter.state == JobState::gpu; }, findings);
    if (!turn.is_interrupted || turn.end - turn.begin >= slice_length) continue;
    findings.add(ScheduleRule::gpu_interruption, turn.visit->task, turn.end,
                 fmt::format("has the GPU for {} of its slice of {}", to_string(turn.end - turn.begin),
                             to_string(slice_length)));
  }
}

// --- mpcp, fmlp+: in what order the lock is given is checked with the lock

// Exec is cut into equal slices, each with its launch.
Duration slice_of(const ScheduleView& view, const GpuSegment& work, Duration exec) {
  const std::int64_t slices = work.slices;
  return Duration::nanoseconds((exec.count() + slices - 1) / slices) + view.overheads().launch;
}

// Work is interrupted only at the end of a slice.
void check_slice_end(const ScheduleView& view, const Turn& turn, Findings& findings) {
  if (!turn.is_interrupted) return;
  const GpuSegment& work = view.work(*turn.visit);
  // Of work that was cut off, exec is not known.
  const Duration exec = turn.visit->on_gpu - view.overheads().launch * (work.slices - 1);
  const Duration slice_length = slice_of(view, work, exec);
  const bool is_at_end =
      turn.visit->is_cut_off || (slice_length > Duration() && turn.done.count() % slice_length.count() == 0);
  if (work.slices > 1 && is_at_end) return;
  findings.add(ScheduleRule::gpu_interruption, turn.visit->task, turn.end, "is interrupted other than between slices");
}

void check_lock(const ScheduleView& view, Findings& findings) {
  for (const Turn& turn : view.turns) {
    check_slice_end(view, turn, findings);
    const GpuSegment& work = view.work(*turn.visit);
    if (view.policy == Policy::fmlp_plus || work.slices == 1) continue;
    const Duration exec = whole_gpu_exec(work, view.taskset.platform.gpus.front().sms).value_or(Duration());
    const auto may_get_in = [&](const Visit& waiter) {
      const bool waits = waiter.state == JobState::enter_waiting || waiter.state == JobState::gpu;
      return waits && view.tasks[waiter.task].gpu_rank < view.tasks[turn.visit->task].gpu_rank;
    };
    check_turn(view, turn, slice_of(view, work, exec), may_get_in, findings);
  }
}

// --- server: in what order requests are served is checked with the server

void check_not_interrupted(const ScheduleView& view, Findings& findings) {
  for (const Turn& turn : view.turns) {
    if (!turn.is_interrupted) continue;
    findings.add(ScheduleRule::gpu_interruption, turn.visit->task, turn.end, "is interrupted");
  }
}

// --- stream-priority

// The levels are part of the policy's set-up, as are the priorities.
std::vector<int> levels_of(const ScheduleView& view) {
  std::vector<PolicyTask> tasks;
  for (const Task& task : view.taskset.tasks) tasks.push_back({task.gpu_priority, task.best_effort, uses_gpu(task)});
  return stream_levels(tasks, std::max(1, view.taskset.platform.gpus.front().stream_priorities.value_or(1)));
}

// Work that begins or goes on is of the highest level, and the first submitted of its level. Work submitted at that
// very moment may have come just after.
void check_stream_order(const ScheduleView& view, const std::vector<int>& levels, const Turn& turn,
                        const ScheduleSlice& slice, Findings& findings) {
  const TaskIndex runs = turn.visit->task;
  for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
    if (task == runs || !has_work(slice, task) || slice.visits[task]->begin >= turn.begin) continue;
    const bool is_higher = levels[task] < levels[runs];
    const bool is_earlier = levels[task] == levels[runs] && slice.visits[task]->begin < turn.visit->begin;
    if (!is_higher && !is_earlier) continue;
    findings.add(ScheduleRule::gpu_order, runs, turn.begin,
                 fmt::format("is taken before {}, which {}", view.name(task),
                             is_higher ? "has a higher level" : "was submitted before it"));
  }
}

void check_stream_interruption(const ScheduleView& view, const std::vector<int>& levels, const Turn& turn,
                               const ScheduleSlice& after, Findings& findings) {
  const TaskIndex task = turn.visit->task;
  const bool for_higher = after.gpu != kNoTask && levels[after.gpu] < levels[task];
  if (for_higher && view.work(*turn.visit).block) return;
  findings.add(ScheduleRule::gpu_interruption, task, turn.end,
               for_higher ? "is interrupted though its thread blocks are not known"
                          : "is interrupted for work that has no higher level");
}

void check_stream_priority(const ScheduleView& view, Findings& findings) {
  check_not_idle(view, findings);
  const std::vector<int> levels = levels_of(view);
  for (const Turn& turn : view.turns) {
    const auto first = std::ranges::lower_bound(view.slices, turn.begin, {}, &ScheduleSlice::begin);
    check_stream_order(view, levels, turn, *first, findings);
    if (turn.is_interrupted && turn.last_slice + 1 < view.slices.size()) {
      check_stream_interruption(view, levels, turn, view.slices[turn.last_slice + 1], findings);
    }
    const std::optional<Duration> block = view.work(*turn.visit).block;
    if (!block) continue;
    const auto may_get_in = [&](const Visit& waiter) {
      return waiter.state == JobState::gpu && levels[waiter.task] < levels[turn.visit->task];
    };
    check_turn(view, turn, *block, may_get_in, findings);
  }
}

}  // namespace

void check_gpu(const ScheduleView& view, Findings& findings) {
  if (view.has_partitions()) return check_partitions(view, findings);
  check_work(view, findings);
  check_ends(view, findings);
  switch (view.policy) {
    case Policy::gcaps:
    case Policy::gcaps_wc:
      check_gcaps(view, findings);
      break;
    case Policy::tsg_rr:
      check_tsg_rr(view, findings);
      break;
    case Policy::mpcp:
    case Policy::fmlp_plus:
      check_lock(view, findings);
      break;
    case Policy::stream_priority:
      check_stream_priority(view, findings);
      break;
    case Policy::server:
      check_not_interrupted(view, findings);
      break;
    case Policy::federated:
      break;
  }
}

}  // namespace rtgpu
