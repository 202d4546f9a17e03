// The form of the intervals: what all other rules take for granted.
#include "analysis/simulation/schedule_check_view.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool fits(JobState state, const Segment& segment, Policy policy) {
  switch (state) {
    case JobState::idle:
      return false;
    case JobState::cpu:
      return std::holds_alternative<CpuSegment>(segment);
    case JobState::to_enter:
    case JobState::enter_waiting:
    case JobState::entering:
    case JobState::misc:
    case JobState::gpu:
    case JobState::to_leave:
    case JobState::leave_waiting:
    case JobState::leaving:
      return std::holds_alternative<GpuSegment>(segment);
    case JobState::woken:
      return policy == Policy::server && std::holds_alternative<GpuSegment>(segment);
    case JobState::to_copy:
    case JobState::copy:
    case JobState::copied:
      return std::holds_alternative<CopySegment>(segment);
  }
  return false;
}

class Form {
 public:
  Form(const Taskset& taskset, Policy policy, const Schedule& schedule, Findings& findings)
      : taskset_(taskset), policy_(policy), schedule_(schedule), findings_(findings) {}

  template <class Interval>
  void check_bounds(const std::vector<Interval>& intervals, std::string_view kind) {
    for (const Interval& each : intervals) {
      if (each.task >= taskset_.tasks.size()) report(each, fmt::format("a {} interval names no task", kind));
      if (each.begin >= each.end) report(each, fmt::format("a {} interval is empty", kind));
      if (each.begin < Duration() || each.end > schedule_.end) {
        report(each, fmt::format("a {} interval lies outside the run", kind));
      }
    }
  }

  void check_task_states() {
    for (const TaskInterval& each : schedule_.tasks) {
      if (each.task >= taskset_.tasks.size()) continue;
      const std::vector<Segment>& segments = taskset_.tasks[each.task].segments;
      if (each.job < 0) report(each, "a job has a negative number");
      if (each.segment >= segments.size()) {
        report(each, fmt::format("is in segment {} of {}", each.segment, segments.size()));
      } else if (!fits(each.state, segments[each.segment], policy_)) {
        report(each, fmt::format("is in a state that segment {} does not have", each.segment));
      }
    }
  }

  template <class Interval, class Number>
  void check_numbers(const std::vector<Interval>& intervals, std::size_t count, Number number, std::string_view kind) {
    for (const Interval& each : intervals) {
      const std::int64_t which = number(each);
      if (which < 0 || which >= static_cast<std::int64_t>(count)) report(each, fmt::format("no {} {}", kind, which));
    }
  }

  void check_server() {
    for (const CoreInterval& each : schedule_.cores) {
      if (!each.by_server || (policy_ == Policy::server && each.core == taskset_.platform.gpus.front().server_cpu)) {
        continue;
      }
      report(each, fmt::format("the server runs on core {}, which is not its own", each.core));
    }
  }

  // Intervals with the same owner must not overlap.
  template <class Interval, class Owner>
  void check_overlaps(std::vector<Interval> intervals, Owner owner, std::string_view kind) {
    std::ranges::sort(intervals, [&](const Interval& a, const Interval& b) {
      return owner(a) != owner(b) ? owner(a) < owner(b) : a.begin < b.begin;
    });
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      const Interval& before = intervals[i - 1];
      const Interval& each = intervals[i];
      if (owner(before) != owner(each) || before.end <= each.begin) continue;
      findings_.add(ScheduleRule::overlap, each.task, each.begin, fmt::format("two {} intervals overlap", kind));
    }
  }

 private:
  template <class Interval>
  void report(const Interval& interval, const std::string& text) {
    findings_.add(ScheduleRule::interval, interval.task, interval.begin, text);
  }

  const Taskset& taskset_;
  Policy policy_;
  const Schedule& schedule_;
  Findings& findings_;
};

}  // namespace

void check_intervals(const Taskset& taskset, Policy policy, const Schedule& schedule, Findings& findings) {
  Form form(taskset, policy, schedule, findings);
  form.check_bounds(schedule.tasks, "task");
  form.check_bounds(schedule.cores, "core");
  form.check_bounds(schedule.gpu, "GPU");
  form.check_bounds(schedule.copies, "copy");
  form.check_task_states();
  form.check_server();
  const auto core = [](const CoreInterval& each) { return std::int64_t{each.core}; };
  const auto engine = [](const CopyInterval& each) { return std::int64_t{each.engine}; };
  form.check_numbers(schedule.cores, static_cast<std::size_t>(taskset.platform.cpus), core, "core");
  form.check_numbers(schedule.copies, engines_of(taskset.platform.gpus.front()), engine, "copy engine");
  form.check_overlaps(
      schedule.tasks, [](const TaskInterval& each) { return each.task; }, "task");
  form.check_overlaps(schedule.cores, core, "core");
  form.check_overlaps(
      schedule.gpu, [&](const GpuInterval& each) { return policy == Policy::federated ? each.task : TaskIndex{0}; },
      "GPU");
  form.check_overlaps(schedule.copies, engine, "copy");
  for (const JobRecord& job : schedule.jobs) {
    if (job.task >= taskset.tasks.size() || job.job < 0) {
      findings.add(ScheduleRule::interval, kNoTask, job.release, "a job record names no task or no job");
    }
  }
}

}  // namespace rtgpu
