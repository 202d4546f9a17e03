#include "analysis/simulation/schedule_check_view.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <variant>

namespace rtgpu {
namespace {

// Ranks by a priority, best-effort tasks last; equal ones in the order of the file.
std::vector<std::size_t> ranks_by(const std::vector<Task>& tasks, int Task::*priority) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (tasks[a].best_effort != tasks[b].best_effort) return tasks[b].best_effort;
    return tasks[a].*priority > tasks[b].*priority;
  });
  std::vector<std::size_t> ranks(tasks.size());
  for (std::size_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

template <class Interval>
void add_moments(std::vector<Duration>& moments, const std::vector<Interval>& intervals) {
  for (const Interval& interval : intervals) {
    moments.push_back(interval.begin);
    moments.push_back(interval.end);
  }
}

// Calls act(slice) for each slice of an interval, which begins and ends with one.
template <class Act>
void for_each_slice(std::vector<ScheduleSlice>& slices, Duration begin, Duration end, Act act) {
  auto slice = std::ranges::lower_bound(slices, begin, {}, &ScheduleSlice::begin);
  for (; slice != slices.end() && slice->begin < end; ++slice) act(*slice);
}

}  // namespace

std::size_t engine_of(const CopySegment& copy, const Gpu& gpu) {
  return gpu.copy_engines > 1 && copy.direction == CopyDirection::to_host ? 1 : 0;
}

std::size_t engines_of(const Gpu& gpu) {
  return gpu.copy_engines > 1 ? 2 : 1;
}

std::span<const Visit> visits_of(const ScheduleView& view, TaskIndex task) {
  const auto first = std::ranges::lower_bound(view.visits, task, {}, &Visit::task);
  const auto last = std::ranges::upper_bound(view.visits, task, {}, &Visit::task);
  return {first, last};
}

std::span<const Visit> visits_of(std::span<const Visit> of_task, std::int64_t job) {
  const auto first = std::ranges::lower_bound(of_task, job, {}, &Visit::job);
  const auto last = std::ranges::upper_bound(of_task, job, {}, &Visit::job);
  return {first, last};
}

ScheduleView::ScheduleView(const Taskset& the_taskset, Policy the_policy, WaitChoice wait, const Schedule& the_schedule,
                           const ScheduleCheckOptions& the_options)
    : taskset(the_taskset), policy(the_policy), schedule(the_schedule), options(the_options) {
  for (const Task& task : taskset.tasks) {
    CheckedTask checked;
    checked.busy = wait == WaitChoice::busy || (wait == WaitChoice::file && task.wait == WaitMode::busy);
    checked.spins = task.lock_wait == LockWait::spin;
    tasks.push_back(checked);
  }
  rank_tasks();
  make_visits();
  mark_cut_off();
  make_slices();
  sum_up();
  make_turns();
}

const GpuSegment& ScheduleView::work(const Visit& visit) const {
  return std::get<GpuSegment>(segment(visit));
}

bool ScheduleView::wants_core(const Visit& visit) const {
  if (is_served(visit) || (has_server() && visit.state == JobState::enter_waiting)) return tasks[visit.task].busy;
  switch (visit.state) {
    case JobState::idle:
      return false;
    case JobState::enter_waiting:
    case JobState::leave_waiting:
      return tasks[visit.task].spins;
    case JobState::gpu:
    case JobState::copy:
      return tasks[visit.task].busy;
    case JobState::cpu:
    case JobState::to_enter:
    case JobState::entering:
    case JobState::misc:
    case JobState::to_leave:
    case JobState::leaving:
    case JobState::woken:
    case JobState::to_copy:
    case JobState::copied:
      return true;
  }
  return false;
}

void ScheduleView::rank_tasks() {
  const std::vector<std::size_t> on_cpu = ranks_by(taskset.tasks, &Task::priority);
  const std::vector<std::size_t> on_gpu = ranks_by(taskset.tasks, &Task::gpu_priority);
  for (TaskIndex task = 0; task < tasks.size(); ++task) {
    tasks[task].cpu_rank = on_cpu[task];
    tasks[task].gpu_rank = on_gpu[task];
  }
}

void ScheduleView::make_visits() {
  std::vector<TaskInterval> intervals = schedule.tasks;
  std::ranges::sort(intervals, [](const TaskInterval& a, const TaskInterval& b) {
    return std::tie(a.task, a.begin) < std::tie(b.task, b.begin);
  });
  const auto what = [](const auto& of) { return std::tie(of.task, of.job, of.segment, of.state); };
  for (const TaskInterval& next : intervals) {
    if (!visits.empty() && what(visits.back()) == what(next) && visits.back().end == next.begin) {
      visits.back().end = next.end;
    } else {
      visits.push_back({next.task, next.job, next.segment, next.state, next.begin, next.end, {}, {}, {}, false});
    }
  }
}

void ScheduleView::mark_cut_off() {
  for (const JobRecord& job : schedule.jobs) {
    if (is_complete(job)) continue;
    const std::span<const Visit> of_job = visits_of(visits_of(*this, job.task), job.job);
    if (of_job.empty() || of_job.back().end != schedule.end) continue;
    visits[static_cast<std::size_t>(&of_job.back() - visits.data())].is_cut_off = true;
  }
}

void ScheduleView::make_slices() {
  std::vector<Duration> moments;
  add_moments(moments, schedule.tasks);
  add_moments(moments, schedule.cores);
  add_moments(moments, schedule.gpu);
  add_moments(moments, schedule.copies);
  std::ranges::sort(moments);
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  for (std::size_t i = 0; i + 1 < moments.size(); ++i) {
    ScheduleSlice slice;
    slice.begin = moments[i];
    slice.end = moments[i + 1];
    slice.visits.assign(tasks.size(), nullptr);
    slice.cores.assign(static_cast<std::size_t>(taskset.platform.cpus), kNoTask);
    slice.engines.assign(engines_of(taskset.platform.gpus.front()), kNoTask);
    slices.push_back(std::move(slice));
  }
  for (const Visit& visit : visits) {
    for_each_slice(slices, visit.begin, visit.end, [&](ScheduleSlice& slice) { slice.visits[visit.task] = &visit; });
  }
  for (const CoreInterval& run : schedule.cores) {
    const auto core = static_cast<std::size_t>(run.core);
    for_each_slice(slices, run.begin, run.end, [&](ScheduleSlice& slice) {
      slice.cores[core] = run.task;
      slice.by_server = slice.by_server || run.by_server;
    });
  }
  for (const CopyInterval& copy : schedule.copies) {
    const auto engine = static_cast<std::size_t>(copy.engine);
    for_each_slice(slices, copy.begin, copy.end, [&](ScheduleSlice& slice) { slice.engines[engine] = copy.task; });
  }
  if (has_partitions()) return;
  for (const GpuInterval& run : schedule.gpu) {
    for_each_slice(slices, run.begin, run.end, [&](ScheduleSlice& slice) {
      slice.gpu = run.task;
      slice.switching = run.switching;
      slice.gpu_begins = slice.begin == run.begin;
    });
  }
}

// What each visit had of core, GPU and engine.
void ScheduleView::sum_up() {
  const auto add = [&](const ScheduleSlice& slice, TaskIndex task, Duration Visit::*amount) {
    if (task == kNoTask || slice.visits[task] == nullptr) return;
    visits[static_cast<std::size_t>(slice.visits[task] - visits.data())].*amount += slice.end - slice.begin;
  };
  for (const ScheduleSlice& slice : slices) {
    for (std::size_t core = 0; core < slice.cores.size(); ++core) {
      const TaskIndex task = slice.cores[core];
      const Visit* visit = task == kNoTask ? nullptr : slice.visits[task];
      const bool by_server = slice.by_server && core == server_core();
      // A client may wait busily meanwhile.
      if (visit != nullptr && is_served(*visit) == by_server) add(slice, task, &Visit::on_core);
    }
    for (const TaskIndex task : slice.engines) add(slice, task, &Visit::on_engine);
    if (!slice.switching) add(slice, slice.gpu, &Visit::on_gpu);
  }
  if (!has_partitions()) return;
  for (const GpuInterval& run : schedule.gpu) {
    for_each_slice(slices, run.begin, run.end,
                   [&](const ScheduleSlice& slice) { add(slice, run.task, &Visit::on_gpu); });
  }
}

void ScheduleView::make_turns() {
  std::vector<Duration> done(visits.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const ScheduleSlice& slice = slices[i];
    const Visit* visit = slice.on_gpu();
    if (visit == nullptr || visit->state != JobState::gpu) continue;
    const bool goes_on = !turns.empty() && turns.back().visit == visit && turns.back().end == slice.begin;
    if (!goes_on) turns.push_back({visit, slice.begin, slice.begin, {}, {}, 0, false});
    Duration& amount = done[static_cast<std::size_t>(visit - visits.data())];
    amount += slice.end - slice.begin;
    Turn& turn = turns.back();
    if (slice.gpu_begins) turn.last_begin = slice.begin;
    turn.end = slice.end;
    turn.done = amount;
    turn.last_slice = i;
    turn.is_interrupted = turn.end < visit->end;
  }
}

}  // namespace rtgpu
