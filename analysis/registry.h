// The analyses that exist, with the functions that carry them out.
#pragma once

#include "analysis/analysis.h"
#include "analysis/response_times.h"

namespace rtgpu {

struct RegisteredAnalysis {
  AnalysisEntry entry;
  BuildRecurrence build = nullptr;
  bool needs_time_slice = false;  // refuses a platform without platform.gpus[0].overheads.time_slice
};

// nullptr if there is none.
const RegisteredAnalysis* find_analysis(Policy policy, Variant variant);

}  // namespace rtgpu
