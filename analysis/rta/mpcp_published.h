// The published analysis of MPCP with self-suspensions: the hybrid bound (Patel, Baek, Kim, Rajkumar, "Analytical
// Enhancements and Practical Insights for MPCP with Self-Suspensions", RTAS 2018), which the paper of GCAPS (ECRTS
// 2024, figure 8) compares with. One lock on the GPU, waiters by GPU priority.
//
// Not a guarantee: schedules exceed these bounds (the sections of a task above are charged with the jitter that its
// work on the core has, which is too little where it spends more time there than on the GPU). For the same reason more
// work of another task on its core may lower a bound.
//
// With Z_h,u = Gm_h,u + Ge_h,u the u-th critical section of h, eta_i the number of those of i, J_h = R_h - (C_h +
// Gm_h), Jd_l = D_l - (C_l + Gm_l); the frame of the recurrence is in lock_published.h:
//
//   W_h,u = Z_h,u. In general (Lakshmanan et al., RTSS 2009, equation 2) sections of other locks that preempt it on its
//       core come on top. There is one lock.
//   Request-driven: what one request of i waits for (RTAS 2018, equation 5), the least fixed point of
//       Br_i = max over l below i on the GPU, u of W_l,u
//              + sum over h above i on the GPU, u of (N(Br_i, J_h, T_h) + 1) W_h,u,
//       so that of each section of h no more than
//       beta_i,h = eta_i (N(Br_i, J_h, T_h) + 1) meet i; if Br_i would pass D_i, any number.
//   Job-driven: no more than there are in the response, alpha_i,h = N(R, J_h, T_h).
//   Hybrid: the smaller, section by section:
//       Bh_i = sum over h above i on the GPU, u of min(beta_i,h, alpha_i,h) W_h,u
//       Bl_i = the eta_i longest of all sections below i on the GPU (definition 3, equation 12), each taken at most
//              N(R, Jd_l, T_l) times
//   Prioritised blocking, by the boosted part of tasks below on the core of i:
//       Bp_i = sum over l below i on its core of the eta_i + 1 longest Gm_l,u, each at most N(R, Jd_l, T_l) times
//   B_i = Bh_i + Bl_i + Bp_i
//
// The equations, and their numbers, are as the published artifact of GCAPS has them (an author of it is one of the MPCP
// paper), with two of its faults mended: it takes Br_i, a time, for the number beta, and it adds to each W the longest
// section of every task above, on any core, although the lock lets nobody in between.
#pragma once

#include "analysis/fixed_point.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"

namespace rtgpu {

void build_mpcp_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget& budget,
                          Recurrence& recurrence);

}  // namespace rtgpu
