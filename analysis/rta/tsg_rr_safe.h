// The safe analysis of tsg-rr: the default driver's time-sliced round-robin.
//
// A GPU segment of length g takes n = ceil(g / L) turns. Before each, every other GPU-using task (best-effort ones
// included) has at most one turn of theta + L, what is left of the one that runs at the arrival included, and each turn
// of its own may begin with a switch back, theta. So a segment meets of each other task at most n (theta + L), and pays
// n theta itself. In the whole response another task has no more turns than its jobs there have, each with its switch:
// a stage of length g costs at most g + ceil(g / L) theta. A task that has the GPU to itself has no switches; the
// charge stands all the same, since others may come at any time. Where no other task uses the GPU, there is none.
//
// GPU priorities order copies alone: there is no search for them.
//
// Nobody is held back and nothing is boosted: the core is as in add_unlocked_core_group().
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_tsg_rr_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
