// The published analysis of federated: RTGPU (Zou, Li, Gill, Zhang, "RTGPU: Real-Time GPU Scheduling of Hard Deadline
// Parallel Tasks with Fine-Grain Utilization", IEEE TPDS 2023).
//
// A job is CPU segments CL, copies ML and kernels G in turn. On m SMs, which are 2m virtual ones, a kernel of work GW,
// critical path GL and interleaving factor alpha takes between GW_min / (2m) and GR = (GW alpha - GL) / (2m) + GL:
// gpu_exec_on() in taskset.h. With W_h(t) and M_h(t) the multi-segment workload functions (analysis/multi_segment.h) of
// the CPU segments and of the copies of h, whose separations are the shortest times of what lies between them:
//
//   MR_j = ML_j + max over l below i, its copies: ML_l + sum over h above i of M_h(MR_j)     for each copy
//   CR_j = CL_j + sum over h in hpp(i) of W_h(CR_j)                                          for each CPU segment
//   R1   = sum GR + sum MR + sum CR
//   R2   = sum GR + sum MR + sum CL + sum over h in hpp(i) of W_h(R2)
//   R_i  = min(R1, R2)
//
// Not a guarantee: the paper has no need of the core between a copy and its kernel. Here a task goes on to its next
// segment on its core, so that one which takes no time there still waits for the tasks above it (counterexample
// federated-core-between-devices.json). Nobody has confirmed or refuted the analysis of the paper's own model as far as
// is known here; its equations are rendered as described above, without their numbers.
//
// The paper has one core and one copy engine, tasks that suspend, and no best-effort tasks. Here CPU segments meet the
// tasks above on the same core, with misc as a CPU segment before its kernel; copies those of the same engine, by GPU
// priority; best-effort tasks are below all others. A task that waits busily counts as one CPU segment, of its CPU
// segments and its waits, sum CL + sum GR + sum MR. Shortest times are best cases if the taskset gives any, otherwise
// 0. Release jitter of i is added to R_i; that of others changes no separation.
//
// T - D separates the last segment of a job from the next job only if its task meets its deadline: tasks that are
// charged for one that does not get no bound.
#pragma once

#include "analysis/analysis.h"
#include "analysis/fixed_point.h"
#include "analysis/stages.h"

#include <vector>

namespace rtgpu {

// Bounds of every real-time task, in the order of the taskset, which is one on its partition.
std::vector<TaskResult> bound_federated_published(const StagedModel& model, const Taskset& taskset,
                                                  const AnalysisOptions& options, WorkBudget& budget);

}  // namespace rtgpu
