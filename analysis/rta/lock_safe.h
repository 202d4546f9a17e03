// What the safe analyses of mpcp and fmlp+ have in common: one lock on the GPU whose holder is boosted.
//
// A request's window with the GPU lasts from the request to the end of exec: it waits for the lock, then runs its
// critical section, lock + misc + exec, in which its core cannot be taken from it (the holder is boosted, and there is
// one holder). So a critical section of l holds the lock for Z_l = lock + Gm_l + Ge_l at most, whatever else runs on
// l's core.
//
// On the core of i, in windows that begin when nothing above i is ready there, or with its own boosted part before,
// which may have held that back:
//   - a task h of hpp(i) has its CPU time, which becomes ready at its release and at the ends of its exec;
//   - the boosted part of h, lock + misc, ready when h gets the lock, at most Z before the latest end of its exec; if h
//   waits
//     busily, its exec too;
//   - if h spins for the lock, also its waits for it, each at most the length of its window with the GPU less Z;
//   - a task l below i on the core may have asked for the lock before i became ready, and be boosted for lock + misc
//   once.
//     While i is ready l does not run, so it asks for nothing more: once in each core window of i.
//
// A job is charged, in core windows and in those with the GPU together, no more than its CPU time and its critical
// sections, each of which keeps i from the core or from the GPU at any instant; where it waits on its core for others
// (it spins, or waits busily between slices, or for a copy), its window with the device in place of the section.
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

// Z of a GPU stage.
Duration critical_section(const SafeInput& input, const DeviceStage& stage);
// The longest Z of a task; 0 if it does not use the GPU.
Duration longest_critical_section(const SafeInput& input, TaskIndex task);

// Windows of i with its lock overheads.
void add_lock_windows(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);
// What delays i on its core, as above.
void add_lock_core_groups(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);
// Joins the groups of each task, on the core and with the GPU.
void join_lock_groups(const SafeInput& input, WindowedRecurrence& recurrence);

}  // namespace rtgpu
