// The safe analysis of stream-priority: levels of streams, first come first served within one.
//
// Work of i waits for: when it is submitted, the rest of the thread block (without boundaries: of the exec) of work of
// a lower level that runs; work of its own level that was submitted before it, of each such task at most one segment;
// and work of higher levels at any time. Work of a lower level does not get in while that of i is pending. The core:
// see add_unlocked_core_group().
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_stream_priority_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
