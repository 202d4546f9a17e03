// The analyses that exist, with the functions that carry them out.
#pragma once

#include "analysis/analysis.h"
#include "analysis/response_times.h"
#include "analysis/safe.h"

#include <cstdint>

namespace rtgpu {

// What an analysis needs of platform.gpus[0].
enum class Needs : std::uint8_t { nothing, time_slice, stream_priorities };

// `published` has a recurrence a task, `safe` one with windows.
struct RegisteredAnalysis {
  AnalysisEntry entry;
  BuildRecurrence build = nullptr;
  BuildWindowed build_windowed = nullptr;
  Needs needs = Needs::nothing;
};

// nullptr if there is none.
const RegisteredAnalysis* find_analysis(Policy policy, Variant variant);

}  // namespace rtgpu
