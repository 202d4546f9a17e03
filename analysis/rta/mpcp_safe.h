// The safe analysis of mpcp: one lock on the GPU, waiters by GPU priority, optional slices.
//
// A request of i waits for at most one critical section of a task below it on the GPU (best-effort ones included), the
// one that holds the lock when the request, or the first of the higher ones it waits behind, is made: up to the end of
// exec, or of a slice where it has slices (lock + misc + one slice). From then on the lock goes to i or to tasks above
// it, whose critical sections count as in any window that begins when none of their requests is pending. A critical
// section of i without slices is not interrupted once it has begun; with slices, tasks above it take the lock in
// between, and those below do not, since i is waiting. The core: see lock_safe.h.
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_mpcp_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
