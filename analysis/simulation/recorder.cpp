#include "analysis/simulation/recorder.h"

#include <algorithm>

namespace rtgpu {
namespace {

// Intervals are kept as they end; a schedule has them as they begin.
template <class Interval>
void sort_by_begin(std::vector<Interval>& intervals, auto place) {
  std::stable_sort(intervals.begin(), intervals.end(), [&](const Interval& a, const Interval& b) {
    return a.begin != b.begin ? a.begin < b.begin : place(a) < place(b);
  });
}

}  // namespace

Recorder::Recorder(Schedule& schedule, std::size_t tasks, std::size_t cores, std::size_t engines)
    : schedule_(schedule) {
  schedule_ = Schedule{};
  for (std::size_t task = 0; task < tasks; ++task) {
    open_tasks_.push_back({task, 0, 0, JobState::idle, false, {}, {}});
  }
  for (std::size_t core = 0; core < cores; ++core)
    open_cores_.push_back({static_cast<int>(core), kNoTask, {}, {}, false});
  open_gpu_ = {kNoTask, false, {}, {}};
  for (std::size_t engine = 0; engine < engines; ++engine) {
    open_copies_.push_back({static_cast<int>(engine), kNoTask, {}, {}});
  }
}

// Closes the open interval at `now` if `next` differs from it, and opens `next`. Empty ones and those of nothing are
// not kept.
template <class Interval, class Same>
void Recorder::go_on(std::vector<Interval>& done, Interval& open, Interval next, bool was_something, Same same,
                     Duration now) {
  if (same(open, next)) return;
  open.end = now;
  if (was_something && open.begin < open.end) done.push_back(open);
  open = next;
}

void Recorder::task(std::size_t task, std::int64_t job, std::size_t segment, JobState state, bool boosted,
                    Duration now) {
  const auto same = [](const TaskInterval& a, const TaskInterval& b) {
    return a.job == b.job && a.segment == b.segment && a.state == b.state && a.boosted == b.boosted;
  };
  TaskInterval& open = open_tasks_[task];
  go_on(schedule_.tasks, open, {task, job, segment, state, boosted, now, now}, open.state != JobState::idle, same, now);
}

void Recorder::core(std::size_t core, TaskIndex task, bool by_server, Duration now) {
  const auto same = [](const CoreInterval& a, const CoreInterval& b) {
    return a.task == b.task && a.by_server == b.by_server;
  };
  CoreInterval& open = open_cores_[core];
  go_on(schedule_.cores, open, {open.core, task, now, now, by_server}, open.task != kNoTask, same, now);
}

void Recorder::gpu(TaskIndex task, bool switching, std::int64_t turn, Duration now) {
  const bool same_turn = turn == open_turn_;
  const auto same = [&](const GpuInterval& a, const GpuInterval& b) {
    return same_turn && a.task == b.task && a.switching == b.switching;
  };
  go_on(schedule_.gpu, open_gpu_, {task, switching, now, now}, open_gpu_.task != kNoTask, same, now);
  open_turn_ = turn;
}

void Recorder::partition(std::size_t task, bool runs, std::uint64_t submission, Duration now) {
  if (open_partitions_.empty()) {
    open_partitions_.assign(open_tasks_.size(), {kNoTask, false, {}, {}});
    open_submissions_.assign(open_tasks_.size(), 0);
  }
  const bool same_work = submission == open_submissions_[task];
  const auto same = [&](const GpuInterval& a, const GpuInterval& b) { return same_work && a.task == b.task; };
  GpuInterval& open = open_partitions_[task];
  go_on(schedule_.gpu, open, {runs ? task : kNoTask, false, now, now}, open.task != kNoTask, same, now);
  open_submissions_[task] = submission;
}

void Recorder::copy(std::size_t engine, TaskIndex task, Duration now) {
  const auto same = [](const CopyInterval& a, const CopyInterval& b) { return a.task == b.task; };
  CopyInterval& open = open_copies_[engine];
  go_on(schedule_.copies, open, {open.engine, task, now, now}, open.task != kNoTask, same, now);
}

void Recorder::job(JobRecord record) {
  schedule_.jobs.push_back(record);
}

void Recorder::finish(Duration now) {
  for (std::size_t index = 0; index < open_tasks_.size(); ++index) {
    task(index, -1, 0, JobState::idle, false, now);
  }
  for (std::size_t index = 0; index < open_cores_.size(); ++index) core(index, kNoTask, false, now);
  gpu(kNoTask, false, open_turn_ + 1, now);
  for (std::size_t index = 0; index < open_partitions_.size(); ++index) partition(index, false, 0, now);
  for (std::size_t engine = 0; engine < open_copies_.size(); ++engine) copy(engine, kNoTask, now);
  schedule_.end = now;
  sort_by_begin(schedule_.tasks, [](const TaskInterval& interval) { return interval.task; });
  sort_by_begin(schedule_.cores, [](const CoreInterval& interval) { return interval.core; });
  if (!open_partitions_.empty())
    sort_by_begin(schedule_.gpu, [](const GpuInterval& interval) { return interval.task; });
  sort_by_begin(schedule_.copies, [](const CopyInterval& interval) { return interval.engine; });
}

}  // namespace rtgpu
