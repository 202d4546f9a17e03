// The analyses that exist, with the functions that carry them out.
#pragma once

#include "analysis/analysis.h"
#include "analysis/response_times.h"
#include "analysis/safe.h"

#include <cstdint>
#include <vector>

namespace rtgpu {

// What an analysis needs of platform.gpus[0].
enum class Needs : std::uint8_t { nothing, time_slice, stream_priorities, sm_partition };

// Bounds of every real-time task at once, in the order of the taskset.
using BoundTaskset = std::vector<TaskResult> (*)(const StagedModel& model, const Taskset& taskset,
                                                 const AnalysisOptions& options, WorkBudget& budget);

// `published` has a recurrence a task or bounds a taskset as a whole, `safe` has a recurrence with windows a task.
struct RegisteredAnalysis {
  AnalysisEntry entry;
  BuildRecurrence build = nullptr;
  BuildWindowed build_windowed = nullptr;
  Needs needs = Needs::nothing;
  BoundTaskset bound_taskset = nullptr;
};

// nullptr if there is none.
const RegisteredAnalysis* find_analysis(Policy policy, Variant variant);

}  // namespace rtgpu
