// The published analysis of FMLP+ on partitioned cores with suspension-aware accounting (Brandenburg, "The FMLP+: An
// Asymptotically Optimal Real-Time Locking Protocol for Suspension-Aware Analysis", ECRTS 2014), as the paper of GCAPS
// (ECRTS 2024, figure 8) compares with it. One lock on the GPU, first come first served.
//
// Not a guarantee: FMLP+ takes critical sections to run on a core, where those of tasks above on the core of i are
// preemption and those of tasks below go on only while i waits. With exec on the GPU both are untrue: exec of a
// suspended task above i on its core is charged to nobody, and so are the requests that tasks below make while i itself
// is suspended in exec, where no remote task makes it wait.
//
// With eta_x the number of critical sections of x, L_x its longest Gm + Ge, and n_x(R) = eta_x N(R, D_x, T_x) how many
// come in a window of length R (D_x for R_x, which is not known of the tasks below); the frame of the recurrence is in
// lock_published.h:
//
//   Remote: a request of i waits for at most one of each task of another core:
//       Br_i = sum over x on other cores of min(eta_i, n_x(R)) L_x
//   Local: a task below on the core of i may have asked for the lock before each time that i begins to run, at its
//   release and after each wait for a remote task; direct blocking by it is not counted again:
//       z_i  = min(eta_i, sum over x on other cores of min(eta_i, n_x(R)))
//       Bl_i = sum over l below i on its core of min(1 + z_i, n_l(R)) L_l
//   B_i = Br_i + Bl_i
//
// Equations as in the published artifact of GCAPS and, apart from R_x for D_x, in SchedCAT, the toolkit of the author
// of FMLP+. With several locks sections of other ones on remote cores would come on top.
#pragma once

#include "analysis/fixed_point.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"

namespace rtgpu {

void build_fmlp_plus_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget& budget,
                               Recurrence& recurrence);

}  // namespace rtgpu
