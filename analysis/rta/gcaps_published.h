// The published analysis of GCAPS (ECRTS 2024, section 6.3): context-level preemption through runlist updates.
//
// Not a guarantee: schedules exceed these bounds (a task that holds the GPU during misc or while it is preempted on its
// core is charged for exec only; waiting for runlist updates of lower-priority tasks is charged (eta + 1) epsilon
// only).
//
// With C, Gm, Ge the sums over a task's segments, eta its number of GPU segments, epsilon a runlist update,
// Gm* = Gm + 2 epsilon eta, Ge* = Ge + 2 epsilon eta, N(t, J, T) = ceil((t + J) / T):
//
//   R_i = C_i + Gm_i + Ge_i + 2 epsilon eta_i + (eta_i + 1) epsilon
//       + sum over h in hpp(i), by how h waits:
//           does not use the GPU:  N(R, J_h, T_h) C_h                    J_h: release jitter, 0 in the paper
//           suspends:              N(R, R_h - (C_h + Gm_h), T_h) (C_h + Gm*_h)
//                                  + [i sees the GPU] N(R, R_h - Ge_h, T_h) Ge_h
//           waits busily:          N(R, J_h, T_h) (C_h + Gm_h + Ge*_h)
//       + [i sees the GPU] sum over GPU-using h in hp(i) \ hpp(i): N(R, R_h - Ge_h, T_h) Ge*_h
//
// The paper gives one equation for tasks that all suspend, where i sees the GPU if it uses it, and one for tasks that
// all wait busily, where every i does, since the tasks above it may hold its core while they wait for the GPU. In a
// mixture each interfering task is charged by its own mode, and i sees the GPU if it uses it, waits busily, or has a
// busily waiting task above it on its core.
#pragma once

#include "analysis/fixed_point.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"

namespace rtgpu {

void build_gcaps_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget&,
                           Recurrence& recurrence);

}  // namespace rtgpu
