// The windowed recurrences and their iteration once more, as plainly as analysis/windowed.h and analysis/safe.h state
// them, to test the fast ones by.
#pragma once

#include "analysis/safe.h"
#include "analysis/windowed.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace rtgpu::testing {

// Nanoseconds; nullopt where there is no bound at or below the cap.
struct NaiveSolution {
  std::vector<std::optional<std::int64_t>> lengths;
  std::vector<std::optional<std::int64_t>> completions;
  std::vector<std::int64_t> charged;  // all 0 where the job has no bound
  std::vector<std::int64_t> met;      // likewise
};

// Tries every length from 0 to the cap, one by one.
NaiveSolution naive_solve(const WindowedRecurrence& recurrence, Duration cap);

// The least bounds that are consistent with each other, by task of the taskset: nullopt for best-effort tasks and where
// there is none. Tasks are taken again and again in the given order, which holds every real-time task.
std::vector<std::optional<Duration>> naive_bounds(const StagedModel& model, BuildWindowed build,
                                                  const AnalysisOptions& options, const std::vector<TaskIndex>& order);

}  // namespace rtgpu::testing
