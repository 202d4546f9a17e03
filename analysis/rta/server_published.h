// The published analysis of a GPU server (Kim, Patel, Wang, Rajkumar, "A server-based approach for predictable GPU
// access control", RTCSA 2017): the server takes requests by priority, its clients suspend. Request-driven bound. The
// paper's text was not at hand: these are its equations as they are known here.
//
// Not a guarantee: it stands on the deadlines of the tasks below and of all that the server works for, so it is to be
// read for tasksets that pass as a whole, and it says nothing of best-effort jobs that pile up. We know no schedule of
// such a taskset that exceeds it, but for a task that demands nothing: its recurrence begins and ends at 0.
//
// With C, Gm, Ge the sums over a task's segments, G_h,u = Gm_h,u + Ge_h,u the u-th request of h, G its sum, eta_i the
// number of requests of i, N(t, J, T) = ceil((t + J) / T), and epsilon what it costs the server to take over a request,
// or to wake a client:
//
//   What a request of i waits for, the least fixed point of
//       Bw_i = max over l below i on the GPU, u of (G_l,u + 2 epsilon)
//              + sum over h above i on the GPU, u of (N(Bw_i, 0, T_h) + 1) (G_h,u + 2 epsilon)
//   B_i = eta_i Bw_i + G_i + 2 eta_i epsilon
//   R_i = C_i + B_i + sum over h in hpp(i) of N(R, R_h - C_h, T_h) C_h
//             + on the server's core: sum over all other j that use the GPU of N(R, D_j - S_j, T_j) S_j,
//               S_j = Gm_j + 2 eta_j epsilon
//
// Here epsilon is `lock`. The paper charges one epsilon for each request that another one waits for, where waking a
// client and taking over the next request are one act; here they are two, so it is 2 epsilon.
//
// The paper has no clients that wait busily, and no best-effort tasks. Here a task h of hpp(i) that waits busily costs
// C_h + B_h, with its release jitter, and nothing on the server's core besides; and a best-effort task blocks as a task
// of the lowest priority with its period for a deadline.
#pragma once

#include "analysis/fixed_point.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"

namespace rtgpu {

void build_server_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget& budget,
                            Recurrence& recurrence);

}  // namespace rtgpu
