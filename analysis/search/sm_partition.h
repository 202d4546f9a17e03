// The SMs of each task, where SMs are partitioned (federated): as the taskset says, or found by a search.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/result.h"
#include "taskset/taskset.h"

namespace rtgpu {

// The SMs of every task that uses the GPU, best-effort ones included: each owns at least as many as something is known
// of its execution times on. What the taskset says (`sms` of a task) is kept; a search gives SMs to the others.
//
// The search looks for a partition under which the safe analysis of federated, for tasks that wait as `wait` says,
// finds a bound at or below the deadline of every task. It uses that more SMs never make an execution time longer, and
// that a shorter execution time never raises a bound: whatever fails where each task has all SMs that the least needs
// of the others leave it, fails everywhere.
//   - The least SMs of each task are those below which it fails even so.
//   - From there a heuristic gives SMs to the highest task that fails, up to the next number on which its work is
//     faster; if it has none to gain, to the task that gains most among those above it that may delay it.
//   - If that runs out of SMs, all partitions are tried that are not excluded as above: it is exact, as long as its
//     analyses take no more than a limit, which small systems never reach.
//   - From what was found SMs are taken back, task by task, the lowest priority first, as long as all still pass. So no
//     task could do with fewer; other partitions may still need fewer in all. SMs that are left stay free.
// Best-effort tasks get the fewest that they need. If no partition passes (`none`: there is none; `limit_reached`:
// undecided, the heuristic found none), the result is where the heuristic ended.
//
// Deterministic: the analyses, the simulator and the checker of schedules all take the partition from here. Errors
// (unsupported): several GPUs; no number of SMs of the GPU; a GPU segment of which nothing is known on as many SMs as
// its task may have; tasks that need more SMs than there are.
Result<SmPartition> sm_partition(const Taskset& taskset, WaitChoice wait);

// The taskset with those SMs written down: `sms` of each task that uses the GPU.
Taskset with_sms(Taskset taskset, const SmPartition& partition);

// The taskset as it runs on its partition: `sms` as above, and as `exec` of each GPU segment its execution time on the
// SMs of its task, which whole_gpu_exec() then gives as well. Its best case is its worst case if the taskset gives no
// best cases. Errors: see sm_partition().
struct PartitionedTaskset {
  SmPartition partition;
  Taskset taskset;
};
Result<PartitionedTaskset> on_sm_partition(const Taskset& taskset, WaitChoice wait);

}  // namespace rtgpu
