// SMs of each task's own: its work runs there from its submission until it is done, whatever else runs.
#include "analysis/simulation/schedule_check_view.h"

#include <algorithm>
#include <vector>

namespace rtgpu {
namespace {

// The work of one task against the intervals of its SMs, both in the order of time.
void check_partition(const ScheduleView& view, TaskIndex task, const std::vector<GpuInterval>& runs,
                     Findings& findings) {
  std::size_t next = 0;
  for (const Visit& visit : visits_of(view, task)) {
    if (visit.state != JobState::gpu) continue;
    for (; next < runs.size() && runs[next].end <= visit.begin; ++next) {
      findings.add(ScheduleRule::gpu_work, task, runs[next].begin, "its SMs run though it submitted nothing");
    }
    const bool runs_through = next < runs.size() && runs[next].begin == visit.begin && runs[next].end == visit.end;
    if (runs_through) {
      ++next;
      continue;
    }
    findings.add(ScheduleRule::gpu_interruption, task, visit.begin,
                 "its work does not run from its submission to its end on the SMs of its own");
    while (next < runs.size() && runs[next].begin < visit.end) ++next;
  }
  for (; next < runs.size(); ++next) {
    findings.add(ScheduleRule::gpu_work, task, runs[next].begin, "its SMs run though it submitted nothing");
  }
}

}  // namespace

void check_partitions(const ScheduleView& view, Findings& findings) {
  std::vector<std::vector<GpuInterval>> runs(view.tasks.size());
  for (const GpuInterval& interval : view.schedule.gpu) {
    runs[interval.task].push_back(interval);
    if (interval.switching) {
      findings.add(ScheduleRule::context_switch, interval.task, interval.begin, "the policy has no context switches");
    }
  }
  for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
    std::ranges::sort(runs[task], {}, &GpuInterval::begin);
    check_partition(view, task, runs[task], findings);
  }
}

}  // namespace rtgpu
