#include "analysis/simulation/activity.h"

#include <algorithm>

namespace rtgpu {
namespace {

// The intervals of one task on one kind of resource, read from front to back. They do not overlap.
template <class Interval>
class Lane {
 public:
  void add(const Interval& interval) { intervals_.push_back(interval); }

  // The interval that holds at `now`, or null. `now` never goes back.
  const Interval* at(Duration now) {
    while (next_ < intervals_.size() && intervals_[next_].end <= now) ++next_;
    return next_ < intervals_.size() && intervals_[next_].begin <= now ? &intervals_[next_] : nullptr;
  }
  // When that may change, after at(now).
  Duration changes(Duration now) const {
    if (next_ == intervals_.size()) return Duration::infinite();
    return intervals_[next_].begin > now ? intervals_[next_].begin : intervals_[next_].end;
  }

 private:
  std::vector<Interval> intervals_;
  std::size_t next_ = 0;
};

struct Lanes {
  Lane<CoreInterval> core;
  Lane<CoreInterval> server;
  Lane<GpuInterval> gpu;
  Lane<CopyInterval> copy;
};

Activity activity_of(JobState state, bool has_core, const GpuInterval* gpu, bool copies) {
  switch (state) {
    case JobState::enter_waiting:
    case JobState::leave_waiting:
      return Activity::lock_wait;
    case JobState::gpu:
      if (gpu == nullptr) return Activity::gpu_wait;
      return gpu->switching ? Activity::gpu_switch : Activity::gpu;
    case JobState::copy:
      return copies ? Activity::copy : Activity::copy_wait;
    default:
      break;
  }
  if (!has_core) return Activity::preempted;
  if (state == JobState::misc) return Activity::misc;
  return state == JobState::cpu ? Activity::cpu : Activity::call;
}

bool are_alike(const ActivityInterval& a, const ActivityInterval& b) {
  return a.end == b.begin && a.job == b.job && a.segment == b.segment && a.activity == b.activity &&
         a.holds_core == b.holds_core && a.boosted == b.boosted && a.by_server == b.by_server;
}

void add(std::vector<ActivityInterval>& all, const ActivityInterval& next, bool by_state) {
  if (!all.empty() && are_alike(all.back(), next) && (!by_state || all.back().state == next.state)) {
    all.back().end = next.end;
  } else {
    all.push_back(next);
  }
}

// Divides the time of one state.
void divide(const TaskInterval& state, Lanes& lanes, std::vector<ActivityInterval>& all, bool by_state) {
  for (Duration now = state.begin; now < state.end;) {
    const bool has_core = lanes.core.at(now) != nullptr;
    const bool by_server = lanes.server.at(now) != nullptr;
    const GpuInterval* gpu = lanes.gpu.at(now);
    const bool copies = lanes.copy.at(now) != nullptr;
    const Duration end = std::min({state.end, lanes.core.changes(now), lanes.server.changes(now),
                                   lanes.gpu.changes(now), lanes.copy.changes(now)});
    const Activity activity = activity_of(state.state, has_core || by_server, gpu, copies);
    add(all,
        {state.task, state.job, state.segment, activity, state.state, has_core, state.boosted, by_server, now, end},
        by_state);
    now = end;
  }
}

}  // namespace

std::string_view to_string(Activity activity) {
  switch (activity) {
    case Activity::cpu:
      return "cpu";
    case Activity::misc:
      return "misc";
    case Activity::call:
      return "enter or leave call";
    case Activity::preempted:
      return "preempted";
    case Activity::lock_wait:
      return "waits for the lock";
    case Activity::gpu:
      return "on the GPU";
    case Activity::gpu_switch:
      return "context switch";
    case Activity::gpu_wait:
      return "waits for the GPU";
    case Activity::copy:
      return "copies";
    case Activity::copy_wait:
      return "waits for the copy engine";
  }
  return "?";
}

std::vector<std::vector<ActivityInterval>> activities(const Schedule& schedule, std::size_t tasks, bool by_state) {
  std::vector<Lanes> lanes(tasks);
  for (const CoreInterval& interval : schedule.cores) {
    Lanes& of_task = lanes[interval.task];
    (interval.by_server ? of_task.server : of_task.core).add(interval);
  }
  for (const GpuInterval& interval : schedule.gpu) lanes[interval.task].gpu.add(interval);
  for (const CopyInterval& interval : schedule.copies) lanes[interval.task].copy.add(interval);
  std::vector<std::vector<ActivityInterval>> all(tasks);
  for (const TaskInterval& state : schedule.tasks) {
    divide(state, lanes[state.task], all[state.task], by_state);
  }
  return all;
}

}  // namespace rtgpu
