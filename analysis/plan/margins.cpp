#include "analysis/plan/margins.h"

#include "analysis/judge.h"

#include <algorithm>
#include <array>
#include <limits>
#include <variant>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

constexpr std::array kOverheadKinds = {OverheadKind::runlist_update, OverheadKind::context_switch, OverheadKind::launch,
                                       OverheadKind::lock};

Duration& time_of(Overheads& overheads, OverheadKind kind) {
  switch (kind) {
    case OverheadKind::runlist_update:
      return overheads.runlist_update;
    case OverheadKind::context_switch:
      return overheads.context_switch;
    case OverheadKind::launch:
      return overheads.launch;
    case OverheadKind::lock:
      break;
  }
  return overheads.lock;
}

void grow(Duration& time, std::int64_t factor) {
  if (time.is_infinite()) return;
  const Int128 grown = (Int128{time.count()} * factor + kUnitFactor - 1) / kUnitFactor;
  time = grown >= std::numeric_limits<std::int64_t>::max() ? Duration::infinite()
                                                           : Duration::nanoseconds(static_cast<std::int64_t>(grown));
}

void grow(GpuSegment& segment, std::int64_t factor) {
  grow(segment.misc.max, factor);
  if (segment.exec) grow(segment.exec->max, factor);
  for (ExecOnSms& exec : segment.exec_by_sms) grow(exec.time.max, factor);
  if (segment.parallel) {
    grow(segment.parallel->work.max, factor);
    grow(segment.parallel->span.max, factor);
  }
  if (segment.block) grow(*segment.block, factor);
}

void grow(Task& task, std::int64_t factor) {
  for (Segment& segment : task.segments) {
    if (auto* cpu = std::get_if<CpuSegment>(&segment)) grow(cpu->time.max, factor);
    if (auto* copy = std::get_if<CopySegment>(&segment)) grow(copy->time.max, factor);
    if (auto* gpu = std::get_if<GpuSegment>(&segment)) grow(*gpu, factor);
  }
}

// What passes its deadline by itself; where none does, what has no bound because of others.
std::optional<TaskIndex> first_failure(const Taskset& taskset, const AnalysisResult& result) {
  std::optional<TaskIndex> first;
  bool first_is_late = false;
  for (const TaskResult& task : result.tasks) {
    if (task.schedulable()) continue;
    const bool is_late = task.outcome == Outcome::not_schedulable;
    const bool is_higher = !first || taskset.tasks[task.task].priority > taskset.tasks[*first].priority;
    if (first && (is_late != first_is_late ? first_is_late : !is_higher)) continue;
    first = task.task;
    first_is_late = is_late;
  }
  return first;
}

class Bisection {
 public:
  Bisection(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work)
      : taskset_(taskset), options_(options), work_(work) {}

  // nullopt if the work ended before.
  std::optional<Margin> of(const Grown& grown) {
    Margin margin;
    margin.grown = grown;
    std::int64_t fails = kUnitFactor;  // not seen to fail yet
    do {
      margin.factor = fails;
      if (fails == kMaxFactor) {
        margin.at_least = true;
        return margin;
      }
      fails = std::min(fails * 2, kMaxFactor);
    } while (passes(grown, fails));
    while (fails - margin.factor > 1) {
      const std::int64_t middle = margin.factor + (fails - margin.factor) / 2;
      (passes(grown, middle) ? margin.factor : fails) = middle;
    }
    if (work_.ended()) return std::nullopt;
    const Taskset beyond = with_grown_times(taskset_, grown, fails);
    if (const auto result = analyze(beyond, options_)) margin.fails_first = first_failure(beyond, *result);
    return margin;
  }

 private:
  bool passes(const Grown& grown, std::int64_t factor) {
    if (!work_.spend()) return false;
    const Taskset changed = with_grown_times(taskset_, grown, factor);
    judge_.take(changed);
    const Result<bool> verdict = judge_.is_schedulable(options_);
    return verdict && *verdict;
  }

  const Taskset& taskset_;
  const AnalysisOptions& options_;
  SearchWork& work_;
  Judge judge_;
};

}  // namespace

std::string_view to_string(OverheadKind kind) {
  switch (kind) {
    case OverheadKind::runlist_update:
      return "runlist_update";
    case OverheadKind::context_switch:
      return "context_switch";
    case OverheadKind::launch:
      return "launch";
    case OverheadKind::lock:
      return "lock";
  }
  return "?";
}

Taskset with_grown_times(Taskset taskset, const Grown& grown, std::int64_t factor) {
  if (grown.overhead) {
    for (Gpu& gpu : taskset.platform.gpus) grow(time_of(gpu.overheads, *grown.overhead), factor);
  } else if (grown.task) {
    grow(taskset.tasks[*grown.task], factor);
  } else {
    for (Task& task : taskset.tasks) grow(task, factor);
  }
  return taskset;
}

std::vector<Margin> find_margins(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work) {
  std::vector<Grown> all = {Grown{}};
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) all.push_back({.task = task});
  Overheads overheads = taskset.platform.gpus.front().overheads;
  for (const OverheadKind kind : kOverheadKinds) {
    if (time_of(overheads, kind) > Duration()) all.push_back({.overhead = kind});
  }
  std::vector<Margin> margins;
  Bisection bisection(taskset, options, work);
  for (const Grown& grown : all) {
    const std::optional<Margin> margin = bisection.of(grown);
    if (!margin) break;
    margins.push_back(*margin);
  }
  return margins;
}

}  // namespace rtgpu
