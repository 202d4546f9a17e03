// The safe analysis of mpcp: one lock on the GPU, waiters by GPU priority, optional slices.
//
// A request of i waits for at most one critical section of a task below it on the GPU (best-effort ones included), the
// one that holds the lock when the request, or the first of the higher ones it waits behind, is made: up to the end of
// exec, or of a slice where it has slices (lock + misc + one slice). From then on the lock goes to i or to tasks above
// it, whose critical sections count as in any window that begins when none of their requests is pending: the section of
// i before this request, or its last slice, may have held them back, so arrivals count from its start. A critical
// section of i without slices is not interrupted once it has begun; with slices, tasks above it take the lock in
// between, and those below do not, since i is waiting. The core: see lock_safe.h.
//
// In the whole response the requests of i meet different sections, or slices, of tasks below: what keeps the lock from
// one has let go before that one gets it. A section is met by a request that is made while it has the lock, which is
// after the release of its job and before the latest end of its exec: in an interval of length t there are those of
// ceil((t + latest end) / period) jobs. Of these i meets at most the longest, one a request.
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_mpcp_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
