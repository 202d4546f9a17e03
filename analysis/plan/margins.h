// How much the times of a schedulable taskset may grow until it is not schedulable any more.
#pragma once

#include "analysis/analysis.h"
#include "analysis/search/search_work.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rtgpu {

// Factors are whole millionths: 1'500'000 is 1.5.
inline constexpr std::int64_t kUnitFactor = 1'000'000;
// The largest factor that is tried.
inline constexpr std::int64_t kMaxFactor = 1'000 * kUnitFactor;

// What costs time besides the tasks, and grows.
enum class OverheadKind : std::uint8_t { runlist_update, context_switch, launch, lock };
std::string_view to_string(OverheadKind kind);  // "runlist_update", ...

// What grows: all execution times (no task, no overhead), those of one task, or one overhead.
struct Grown {
  std::optional<TaskIndex> task = {};
  std::optional<OverheadKind> overhead = {};
};

struct Margin {
  Grown grown;
  // The largest factor found: times multiplied by it, each rounded up to whole nanoseconds, are schedulable.
  std::int64_t factor = kUnitFactor;
  // Factor kMaxFactor is schedulable too: it was not looked further. Otherwise the next millionth was seen to fail.
  bool at_least = false;
  // At the next millionth: the task of the highest priority that passes its deadline.
  std::optional<TaskIndex> fails_first = {};
};

// A taskset whose worst cases are multiplied by factor / 10^6, each rounded up. Of a task: cpu, misc, exec, exec by
// SMs, work, span, copies, and the longest thread block. Best cases stay. What passes 2^63-1 ns becomes infinite. With
// a factor below 1 best cases may pass worst cases, which no analysis minds.
Taskset with_grown_times(Taskset taskset, const Grown& grown, std::int64_t factor);

// Margins of a taskset that is schedulable under `options`: of all execution times together, of each task, of each
// overhead above 0. Found by bisection on whole millionths, exact on both sides: the factor is schedulable,
// and the next is not. Where a bound is not monotone in a time, which the safe analyses nearly always are, a larger
// factor may be schedulable again; so it is a boundary, and the first for all that could be seen. SMs that the taskset
// leaves open are partitioned anew for each factor. About 30 verdicts for each; when `work` ends, what is complete by
// then is returned.
std::vector<Margin> find_margins(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work);

}  // namespace rtgpu
