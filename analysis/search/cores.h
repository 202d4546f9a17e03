// A core for each task, so that the taskset is schedulable.
#pragma once

#include "analysis/search/search_work.h"

#include <cstdint>
#include <vector>

namespace rtgpu {

enum class Fit : std::uint8_t { first, best, worst };

// Real-time tasks dealt to the cores anew, those of the highest utilisation first (the worst case of what holds a core:
// CPU segments and misc, and exec and copies of a task that waits busily), each to the first core, the fullest or the
// emptiest that it still fits on; where it fits on none, to the emptiest. Best-effort tasks stay. Cores are numbered
// so that many tasks keep theirs. O(n log n + n cores).
std::vector<int> fit_decreasing(const Taskset& taskset, WaitChoice wait, Fit fit);

// Moves real-time tasks to other cores until the taskset passes; priorities stay, unless `options` ask to search those
// of the GPU. A change is a task on another core.
//
// Where there are no more than 1024 ways to put the tasks on cores all are tried, those with the fewest changes first:
// the result is `exact`, none as well. Otherwise: all moves of one task (`exact`, if one passes); from the file's cores
// and from first, best and worst fit the best move or exchange of two tasks, again and again, as long as it brings the
// taskset nearer to passing (Shortfall); of what passes, what has the fewest changes after tasks were moved back one by
// one as long as all still pass.
SearchedTaskset find_cores(const Taskset& taskset, const AnalysisOptions& options, SearchWork& work);

}  // namespace rtgpu
