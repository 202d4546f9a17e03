#include "analysis/search/slices.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace rtgpu {
namespace {

constexpr std::int64_t kMaxExhaustive = 1024;

struct SlicedSegment {
  TaskIndex task = kNoTask;
  std::size_t segment = 0;
  Duration exec;
  int fewest = 1;  // as in the file
  int most = 1;
};

GpuSegment& segment_of(Taskset& taskset, const SlicedSegment& place) {
  return std::get<GpuSegment>(taskset.tasks[place.task].segments[place.segment]);
}

int slices_of(const Taskset& taskset, const SlicedSegment& place) {
  return std::get<GpuSegment>(taskset.tasks[place.task].segments[place.segment]).slices;
}

// How many slices are worth trying.
int most_slices(const GpuSegment& segment, Duration exec, Duration launch) {
  std::int64_t most = kMaxSearchedSlices;
  if (segment.block) most = std::min(most, exec.count() / segment.block->count());
  if (launch > Duration()) most = std::min(most, exec.count() / launch.count());
  most = std::min(most, exec.count());
  return static_cast<int>(std::max<std::int64_t>(most, segment.slices));
}

class SliceSearch {
 public:
  SliceSearch(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work)
      : file_(taskset), options_(options), work_(work) {
    const Gpu& gpu = taskset.platform.gpus.front();
    for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
      for (std::size_t place = 0; place < taskset.tasks[task].segments.size(); ++place) {
        const auto* segment = std::get_if<GpuSegment>(&taskset.tasks[task].segments[place]);
        if (segment == nullptr) continue;
        const Duration exec = whole_gpu_exec(*segment, gpu.sms).value_or(Duration());
        segments_.push_back({task, place, exec, segment->slices, most_slices(*segment, exec, gpu.overheads.launch)});
      }
    }
  }

  SearchedTaskset run() {
    SearchedTaskset searched;
    searched.taskset = file_;
    std::optional<Candidate> given = try_taskset(file_, options_, work_);
    if (!given) return searched;
    searched.shortfall = given->shortfall;
    if (given->passes()) {
      searched.outcome = SearchOutcome::not_needed;
      searched.exact = true;
      searched.taskset = std::move(given->taskset);
      return searched;
    }
    std::optional<Candidate> found = cut_longest(*given, false);
    if (!found) found = cut_longest(*given, true);
    if (found) found = take_back(*std::move(found));
    if (found) searched.exact = improve_exhaustively(*found);
    if (!found) {
      searched.outcome = work_.is_incomplete() ? SearchOutcome::limit_reached : SearchOutcome::none;
      return searched;
    }
    searched.outcome = SearchOutcome::found;
    searched.shortfall = found->shortfall;
    searched.taskset = std::move(found->taskset);
    return searched;
  }

 private:
  std::optional<Candidate> attempt(const Taskset& sliced) { return try_taskset(sliced, options_, work_); }

  Duration slice_length(const Taskset& taskset, const SlicedSegment& place) const {
    return Duration::nanoseconds(ceil_div(place.exec, Duration::nanoseconds(slices_of(taskset, place))));
  }

  // Whether a task may hold back, up to the end of its slice, one that fails.
  bool may_hold_back(TaskIndex task, const Candidate& at) const {
    const Task& holder = at.taskset.tasks[task];
    return std::ranges::any_of(at.failing, [&](TaskIndex failing) {
      const Task& waiting = at.taskset.tasks[failing];
      return uses_gpu(waiting) && (holder.best_effort || holder.gpu_priority < waiting.gpu_priority);
    });
  }

  // The segment with the longest slice that can still be cut.
  const SlicedSegment* longest(const Candidate& at, bool of_any_task) const {
    const SlicedSegment* found = nullptr;
    for (const SlicedSegment& place : segments_) {
      if (slices_of(at.taskset, place) >= place.most) continue;
      if (!of_any_task && !may_hold_back(place.task, at)) continue;
      if (found == nullptr || slice_length(at.taskset, place) > slice_length(at.taskset, *found)) found = &place;
    }
    return found;
  }

  std::optional<Candidate> cut_longest(Candidate at, bool of_any_task) {
    while (const SlicedSegment* place = longest(at, of_any_task)) {
      Taskset sliced = at.taskset;
      ++segment_of(sliced, *place).slices;
      std::optional<Candidate> candidate = attempt(sliced);
      if (!candidate || candidate->passes()) return candidate;
      at = *std::move(candidate);
    }
    return std::nullopt;
  }

  // All slices of a segment if that does; otherwise one after another.
  Candidate take_back(Candidate found) {
    for (const SlicedSegment& place : segments_) {
      if (slices_of(found.taskset, place) == place.fewest) continue;
      Taskset without = found.taskset;
      segment_of(without, place).slices = place.fewest;
      if (keep_if_passing(without, found)) continue;
      take_back_singly(place, found);
    }
    return found;
  }

  void take_back_singly(const SlicedSegment& place, Candidate& found) {
    while (slices_of(found.taskset, place) > place.fewest + 1) {
      Taskset fewer = found.taskset;
      --segment_of(fewer, place).slices;
      if (!keep_if_passing(fewer, found)) return;
    }
  }

  bool keep_if_passing(const Taskset& changed, Candidate& found) {
    std::optional<Candidate> candidate = attempt(changed);
    if (!candidate || !candidate->passes()) return false;
    found = *std::move(candidate);
    return true;
  }

  // Whether every distribution of fewer slices was tried; the first that passes is taken.
  bool improve_exhaustively(Candidate& found) {
    const std::int64_t added = total_slices(found.taskset) - total_slices(file_);
    std::int64_t tried = 0;
    for (std::int64_t total = 1; total < added; ++total) {
      tried += distributions(total);
      if (tried > kMaxExhaustive || tried > work_.left()) return false;
      Taskset sliced = file_;
      if (distribute(sliced, 0, total, found)) return true;
      if (work_.ended()) return false;
    }
    return !work_.is_incomplete();
  }

  // In how many ways `total` slices can be added to the segments, or more than kMaxExhaustive.
  std::int64_t distributions(std::int64_t total) const {
    std::int64_t ways = 1;
    const auto others = static_cast<std::int64_t>(segments_.size()) - 1;
    for (std::int64_t k = 1; k <= others && ways <= kMaxExhaustive; ++k) ways = ways * (total + k) / k;
    return ways;
  }

  bool distribute(Taskset& sliced, std::size_t from, std::int64_t total, Candidate& found) {
    if (total == 0) return keep_if_passing(sliced, found);
    if (from == segments_.size() || work_.ended()) return false;
    const SlicedSegment& place = segments_[from];
    const std::int64_t most = std::min<std::int64_t>(total, place.most - place.fewest);
    for (std::int64_t here = most; here >= 0; --here) {
      segment_of(sliced, place).slices = place.fewest + static_cast<int>(here);
      if (distribute(sliced, from + 1, total - here, found)) return true;
    }
    segment_of(sliced, place).slices = place.fewest;
    return false;
  }

  const Taskset& file_;
  const AnalysisOptions& options_;
  SearchWork& work_;
  std::vector<SlicedSegment> segments_;
};

}  // namespace

std::int64_t total_slices(const Taskset& taskset) {
  std::int64_t total = 0;
  for (const Task& task : taskset.tasks) {
    for (const Segment& segment : task.segments) {
      if (const auto* gpu = std::get_if<GpuSegment>(&segment)) total += gpu->slices;
    }
  }
  return total;
}

SearchedTaskset find_slices(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work) {
  return SliceSearch(taskset, options, work).run();
}

}  // namespace rtgpu
