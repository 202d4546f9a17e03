// What the published analyses of mpcp and fmlp+ have in common: one lock on the GPU, tasks that suspend while they wait
// for it, and preemption on the core with the jitter of self-suspending tasks.
//
// With C, Gm, Ge the sums over a task's segments, G = Gm + Ge, N(t, J, T) = ceil((t + J) / T), and B_i what the lock
// costs task i, by the header of its protocol:
//
//   R_i = C_i + G_i + B_i(R) + sum over h in hpp(i), by how h waits for its own work on the GPU:
//             suspends:      N(R, R_h - (C_h + Gm_h), T_h) (C_h + Gm_h)
//             waits busily:  N(R, R_h - (C_h + G_h), T_h) (C_h + G_h)
//
// (Dynamic self-suspension: R_h less its demand of the core is a task's jitter, whatever it suspends for: Patel et al.,
// RTAS 2018, after Bletsas et al., "Errata for three papers", LITES 2018. The first form is that of the comparison in
// GCAPS, ECRTS 2024, figure 8, for tasks that suspend, the second that for tasks that wait busily; both give this
// jitter to tasks without GPU segments as well. In a mixture each task is charged by its own mode.)
//
// D_l stands for R_l where that is not known yet, of tasks below i and, under fmlp+, of all: then R_i holds only if
// they meet their deadlines, as they do in a taskset that passes as a whole.
//
// The papers have no overheads and no best-effort tasks. Here `lock` comes before misc in each GPU segment and counts
// as part of it, and a best-effort task blocks as a task of the lowest priority with its period for a deadline. Tasks
// are taken to suspend while they wait for the lock, whatever `lock_wait` says, and to give it back after the last of
// their slices only.
#pragma once

#include "analysis/fixed_point.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"

namespace rtgpu {

// lock + misc of a GPU segment.
Duration boosted_part(const RtaModel& model, const RtaGpuSegment& segment);
// lock + misc + exec.
Duration lock_section(const RtaModel& model, const RtaGpuSegment& segment);
// C + Gm, locks included.
Duration core_demand(const RtaModel& model, TaskIndex task);

// D_l - demand: the jitter of a task whose R_l is not known yet.
Duration deadline_jitter(const RtaModel& model, TaskIndex l, Duration demand);

// C + G of i.
void add_lock_own(const RtaModel& model, TaskIndex i, Recurrence& recurrence);
// Tasks above i on its core, until `known` is tainted.
void add_lock_preemption(const RtaModel& model, TaskIndex i, KnownResponses& known, Recurrence& recurrence);

// Whether l uses the GPU and is below i on the core of i; best-effort tasks are below all others.
bool is_lower_gpu_user_on_core(const RtaModel& model, TaskIndex l, TaskIndex i);

}  // namespace rtgpu
