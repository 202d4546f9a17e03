// The safe analysis of fmlp+: one lock on the GPU, first come first served.
//
// A request of i waits for the requests made before it: of each other task (best-effort ones included) at most one,
// since a task has one request at a time. So each request meets at most the longest critical section of each other
// task, and the whole response no more of them than the jobs of that task have. A slice boundary never takes the lock
// away, as the holder's request is the earliest. The core: see lock_safe.h. GPU priorities order copies alone: there is
// no search for them.
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_fmlp_plus_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
