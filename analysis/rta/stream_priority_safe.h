// The safe analysis of stream-priority: levels of streams, first come first served within one.
//
// Work of i waits for: when it is submitted, the rest of the thread block (without boundaries: of the exec) of work of
// a lower level that runs; work of its own level that was submitted before it, of each such task at most one segment;
// and work of higher levels at any time. Work of a lower level does not get in while that of i is pending. The core:
// see add_unlocked_core_group().
//
// Separate GPU priorities can be searched for (gpu_priority_search.h). Where each real-time task that uses the GPU has
// a level to itself, the order of the tasks above i does not change what i is charged for them. Where neighbours share
// a level, it does, for it says who shares that of i: the search is a heuristic then. Either way what it finds is taken
// only if it passes the analysis as a whole.
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_stream_priority_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
