// The published analysis of the default driver (ECRTS 2024, section 6.2): time-sliced round-robin of contexts.
//
// Not a guarantee: a task's own slices pay the context switch too, which is not charged.
//
// With L the length of a time slice, theta a context switch, nu_i the number of GPU-using tasks other than i
// (best-effort ones included), and I(nu, g) = (L + theta) nu ceil(g / L) for a GPU segment of length g among nu others:
//
//   R_i = C_i + Gm_i + Ge_i + sum over segments j of I(nu_i, Ge_ij)
//       + sum over h in hpp(i), by how h waits:
//           does not use the GPU:  N(R, J_h, T_h) C_h                    J_h: release jitter, 0 in the paper
//           suspends:              N(R, R_h - (C_h + Gm_h), T_h) (C_h + Gm_h)
//           waits busily:          N(R, J_h, T_h) (C_h + Gm_h + sum over j of I(|others_i| + 1, Ge_hj))
//
// where others_i are the GPU-using tasks that are not in hpp(i): among the tasks of hpp(i) that wait busily, one at a
// time holds the core with its work on the GPU. In a mixture of wait modes those of hpp(i) that suspend count as
// others. The turn of h itself is the "+ 1", so its exec is not charged again.
#pragma once

#include "analysis/fixed_point.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"

namespace rtgpu {

void build_tsg_rr_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget&,
                            Recurrence& recurrence);

}  // namespace rtgpu
