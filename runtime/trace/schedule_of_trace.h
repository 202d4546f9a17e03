// The schedule that a run's trace tells of.
#pragma once

#include "analysis/analysis.h"
#include "analysis/simulation/schedule.h"
#include "runtime/trace/trace.h"
#include "taskset/taskset.h"

namespace rtgpu {

// The trace of a run of this taskset as a Schedule, whose end is the trace's: for a run in virtual time the schedule
// that the simulator records of the same run.
//
// A job begins at its release, or when the job before it completes if that is later, in the first state of its first
// segment. From `left` on, unless another event of the same moment says what follows, it is in the state cpu of the
// next segment, or of the last one if that is left. Jobs without `complete` come last, those that have not begun too.
//
// Without any `dispatch`, a core is taken to have the task that wants it and ranks highest, the boosted one first.
// `wait` says who keeps the core while its work is pending.
//
// Events may be missing, and may name what does not exist. Those are passed over; a state whose end is missing lasts
// until the next event of its job, and a job without `release` or whose `complete` must be missing has no record. So
// where events were dropped the schedule need not be legal.
//
// For a valid taskset and events by time. O(n log n) for n events; where cores are inferred, times the tasks of a core.
Schedule schedule_of(const Trace& trace, const Taskset& taskset, WaitChoice wait = WaitChoice::file);

}  // namespace rtgpu
