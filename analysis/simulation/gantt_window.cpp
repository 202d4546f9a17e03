#include "analysis/simulation/gantt_window.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

namespace rtgpu {
namespace {

bool is_above(const Task& a, const Task& b) {
  if (a.cpu != b.cpu) return a.cpu < b.cpu;
  if (a.best_effort != b.best_effort) return b.best_effort;
  return a.priority > b.priority;
}

// When the job is over: complete, and its deadline passed.
Duration end_of(const JobRecord& job, const Taskset& taskset, Duration end) {
  const Duration deadline = job.nominal_release + taskset.tasks[job.task].deadline;
  return std::min(end, std::max(deadline, std::min(job.completion, end)));
}

}  // namespace

std::vector<TaskIndex> gantt_rows(const Taskset& taskset, TaskIndex task) {
  std::vector<TaskIndex> rows(taskset.tasks.size());
  std::iota(rows.begin(), rows.end(), TaskIndex{0});
  const auto sort_rows = [&] {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](TaskIndex a, TaskIndex b) { return is_above(taskset.tasks[a], taskset.tasks[b]); });
  };
  sort_rows();
  if (rows.size() <= kMaxGanttRows) return rows;
  if (task != kNoTask) {
    const auto distance = [&](TaskIndex index) {
      const bool same = index == task;
      return same ? -1 : std::abs(taskset.tasks[index].cpu - taskset.tasks[task].cpu);
    };
    std::stable_sort(rows.begin(), rows.end(), [&](TaskIndex a, TaskIndex b) { return distance(a) < distance(b); });
  }
  rows.resize(kMaxGanttRows);
  sort_rows();
  return rows;
}

const JobRecord* gantt_job(const Schedule& schedule, const GanttOptions& options) {
  const auto found = std::ranges::find_if(
      schedule.jobs, [&](const JobRecord& job) { return job.task == options.task && job.job == options.job; });
  return options.task == kNoTask || found == schedule.jobs.end() ? nullptr : &*found;
}

GanttWindow gantt_window(const Schedule& schedule, const Taskset& taskset, const std::vector<TaskIndex>& rows,
                         const JobRecord* job) {
  const Duration all = std::max(schedule.end, Duration::nanoseconds(1));
  Duration shortest = Duration::infinite();
  for (const TaskIndex task : rows) shortest = std::min(shortest, taskset.tasks[task].period);
  Duration length = shortest * kMaxGanttPeriods;
  Duration begin;
  if (job != nullptr) {
    const Duration span = end_of(*job, taskset, all) - job->nominal_release;
    length = std::max(length, span + Duration::nanoseconds(span.count() / 4));
    begin = job->nominal_release - Duration::nanoseconds((length - span).count() / 2);
  }
  if (length >= all) return {Duration(), all};
  begin = std::clamp(begin, Duration(), all - length);
  const std::int64_t grain = std::max<std::int64_t>(gantt_axis({begin, begin + length}).step.count() / 5, 1);
  begin = Duration::nanoseconds(begin.count() / grain * grain);
  return {begin, begin + length};
}

GanttAxis gantt_axis(const GanttWindow& window) {
  struct Unit {
    std::int64_t length;
    std::string_view name;
  };
  constexpr std::array kUnits = {Unit{1'000'000'000, "s"}, Unit{1'000'000, "ms"}, Unit{1'000, "us"}, Unit{1, "ns"}};
  constexpr std::array<std::int64_t, 3> kRound = {1, 2, 5};
  const std::int64_t length = (window.end - window.begin).count();
  std::int64_t decade = 1;
  std::size_t place = 0;
  while (length / (decade * kRound[place]) >= 20) {
    if (++place < kRound.size()) continue;
    place = 0;
    decade *= 10;
  }
  const std::int64_t step = decade * kRound[place];
  const auto* unit = std::ranges::find_if(kUnits, [&](const Unit& each) { return step >= each.length; });
  return {Duration::nanoseconds(step), Duration::nanoseconds(unit->length), unit->name};
}

}  // namespace rtgpu
