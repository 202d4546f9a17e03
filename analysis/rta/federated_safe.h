// The safe analysis of federated: every task has SMs of its own.
//
// Nobody is held back on the GPU: a window of i with the GPU is its own exec on its SMs, from its submission on, and
// nothing else. So a task that waits busily occupies its core for just its exec, and copies alone are shared by tasks
// of different cores: a copy of i waits for at most one of a task below it that has the engine when i submits its own,
// and for those of tasks above it. The core: see add_unlocked_core_group().
//
// The taskset is one on its partition (analysis/search/sm_partition.h), whose exec is that on the SMs of each task.
#pragma once

#include "analysis/safe.h"

namespace rtgpu {

void build_federated_safe(const SafeInput& input, TaskIndex i, WindowedRecurrence& recurrence);

}  // namespace rtgpu
