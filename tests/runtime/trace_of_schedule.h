// The way back from a schedule: a trace that tells of it.
#pragma once

#include "analysis/simulation/schedule.h"
#include "runtime/trace/trace.h"

namespace rtgpu::testing {

// An event where each interval begins, and where one ends that no other follows. Without `dispatches` the trace says
// nothing of the cores.
Trace trace_of(const Schedule& schedule, bool dispatches);

}  // namespace rtgpu::testing
