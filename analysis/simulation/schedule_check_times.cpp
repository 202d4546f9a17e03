// How long each part of a job takes.
#include "analysis/simulation/schedule_check_view.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <tuple>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

struct TimeRange {
  Duration min;
  Duration max;
};

// What the enter call and the leave call cost.
Duration call_cost(const ScheduleView& view, JobState call) {
  switch (view.policy) {
    case Policy::gcaps:
    case Policy::gcaps_wc:
      return view.overheads().runlist_update;
    case Policy::mpcp:
    case Policy::fmlp_plus:
      return call == JobState::entering ? view.overheads().lock : Duration();
    case Policy::server:
      return view.overheads().lock;
    default:
      return {};
  }
}

// How much a job takes in a state: on the GPU in `gpu`, on its engine in `copy`, on its core otherwise. nullopt: as
// much as it has to wait.
std::optional<TimeRange> time_in(const ScheduleView& view, const Segment& segment, JobState state) {
  const auto declared = [&](const ExecutionTime& time) {
    return TimeRange{view.options.below_best_case ? Duration() : time.min, time.max};
  };
  switch (state) {
    case JobState::cpu:
      return declared(std::get<CpuSegment>(segment).time);
    case JobState::copy:
      return declared(std::get<CopySegment>(segment).time);
    case JobState::misc:
      return declared(std::get<GpuSegment>(segment).misc);
    case JobState::entering:
    case JobState::leaving: {
      const Duration cost = call_cost(view, state);
      return TimeRange{view.options.shorter_calls ? Duration() : cost, cost};
    }
    case JobState::gpu: {
      const auto& work = std::get<GpuSegment>(segment);
      const Duration worst = whole_gpu_exec(work, view.taskset.platform.gpus.front().sms).value_or(Duration());
      const TimeRange exec = declared({work.exec ? work.exec->min : Duration(), worst});
      const Duration launches = view.overheads().launch * (work.slices - 1);
      return TimeRange{exec.min + launches, exec.max + launches};
    }
    case JobState::to_enter:
    case JobState::to_leave:
    case JobState::woken:
    case JobState::to_copy:
    case JobState::copied:
      return TimeRange{};
    case JobState::idle:
    case JobState::enter_waiting:
    case JobState::leave_waiting:
      break;
  }
  return std::nullopt;
}

std::span<const JobState> states_of(const Segment& segment) {
  static constexpr std::array kCpu = {JobState::cpu};
  static constexpr std::array kGpu = {JobState::to_enter, JobState::entering, JobState::misc, JobState::gpu,
                                      JobState::to_leave, JobState::leaving,  JobState::woken};
  static constexpr std::array kCopy = {JobState::to_copy, JobState::copy, JobState::copied};
  if (std::holds_alternative<CpuSegment>(segment)) return kCpu;
  if (std::holds_alternative<GpuSegment>(segment)) return kGpu;
  return kCopy;
}

Duration amount_of(const Visit& visit) {
  if (visit.state == JobState::gpu) return visit.on_gpu;
  return visit.state == JobState::copy ? visit.on_engine : visit.on_core;
}

// One state of one segment of a job.
void check_time_in(const ScheduleView& view, std::span<const Visit> visits, const JobRecord& job, std::size_t segment,
                   JobState state, Findings& findings) {
  const std::optional<TimeRange> range = time_in(view, view.taskset.tasks[job.task].segments[segment], state);
  if (!range) return;
  Duration amount;
  Duration when = job.release;
  bool is_passed = is_complete(job);
  for (const Visit& visit : visits) {
    if (visit.segment == segment && visit.state == state) {
      amount += amount_of(visit);
      when = visit.begin;
    }
    is_passed = is_passed || std::tie(visit.segment, visit.state) > std::tie(segment, state);
  }
  if (amount <= range->max && (!is_passed || amount >= range->min)) return;
  findings.add(ScheduleRule::execution_time, job.task, when,
               fmt::format("job {} took {} in a part of segment {} that takes {} to {}", job.job, to_string(amount),
                           segment, to_string(range->min), to_string(range->max)));
}

}  // namespace

void check_execution_times(const ScheduleView& view, Findings& findings) {
  for (const JobRecord& job : view.schedule.jobs) {
    const std::span<const Visit> visits = visits_of(visits_of(view, job.task), job.job);
    const std::vector<Segment>& segments = view.taskset.tasks[job.task].segments;
    for (std::size_t segment = 0; segment < segments.size(); ++segment) {
      for (const JobState state : states_of(segments[segment])) {
        check_time_in(view, visits, job, segment, state, findings);
      }
    }
  }
}

}  // namespace rtgpu
