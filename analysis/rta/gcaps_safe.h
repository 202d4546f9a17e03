// The safe analyses of gcaps and gcaps-wc: context-level preemption through runlist updates of length epsilon.
//
// The core windows of i last from its release, or from the end of its exec, until it submits its next exec: they hold
// its CPU time, its leave and enter calls, misc, and what it waits for meanwhile.
//
// Updates. Each enter and each leave of i runs one update, and may find the mutex taken by one of a task below it on
// the GPU (best-effort ones included) on another core (on its own core it runs itself when it calls): epsilon each, 2
// eta in all. Updates of tasks above it on the GPU count like
// other work of theirs: in the mutex's queue, and on i's core where they run there. A task l below i on the core and on
// the GPU may have asked for the mutex before i became ready, and be granted it while i is ready: once each time that i
// comes back to its core, which is at the start of a core window and, unless it spins for the mutex, after each wait
// for that.
//
// The core. A task h of hpp(i) has its CPU time, misc and updates. What comes before its first wait for the mutex is
// ready at its release; while it waits it gives up the core, so what comes after counts from its latest completion, as
// do all parts of later core windows. Where it does not give up the core (it spins, or epsilon is 0) whole core windows
// become ready at the release and at the ends of its exec; spinning, h may also find the mutex taken by an update from
// below, once a call.
//
// The GPU, gcaps-wc. While exec of i is pending the GPU runs it or exec of a task above it. Where a task h of hpp(i)
// waits busily, i waits on the core while the GPU runs exec of h or of tasks above h: exec of those counts in core
// windows as well. If i is one of these, h may have been ready, and held back, for as long as exec of i took before a
// core window.
//
// The GPU, gcaps. A task k above i keeps the GPU from the end of its enter to the end of its leave, whatever it does
// there. Charged to k: misc, exec, its leave, and one update from below that may have the mutex then. Charged to
// others, once in all windows of i with the GPU: the work of tasks above k on k's core; updates that go before its
// leave; and updates of each task l below k on its core and on the GPU, no more than l has. Of these there are two for
// each time that k keeps the GPU: l has no exec then, so after a leave and an enter there is nothing for it to call
// for. While i waits for the GPU it is active itself: two in each window of i with the GPU as well, if l is below i.
// Times when a task above k has the GPU are charged to that one. Where i waits on its core for a busily waiting task,
// the same counts in its core windows. If a task above k on k's core waits there for what k keeps, there is no bound,
// nor for k itself.
//
// Each of these instants of i is one in which the task that it is charged to runs on its core, or the GPU runs its
// exec, or it waits on its core for a copy or, spinning, for an update from below, or (gcaps) waits for that before its
// leave. So in all windows of i together a job is charged no more than its CPU time, misc, exec, updates and those
// waits.
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_gcaps_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);
void build_gcaps_wc_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
