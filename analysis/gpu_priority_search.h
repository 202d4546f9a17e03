// Separate GPU priorities by Audsley's algorithm.
#pragma once

#include "analysis/analysis.h"
#include "analysis/response_times.h"
#include "analysis/rta_model.h"

namespace rtgpu {

// Looks for GPU priorities under which every task meets its deadline (GCAPS, ECRTS 2024, section 5.3): levels are
// filled from the lowest, each with a task that meets its deadline below all tasks not yet placed. Tasks of one core
// keep the order of their CPU priorities, so the candidates of a level are the lowest unplaced tasks of the cores; the
// one with the lowest CPU priority is tried first. Deadlines stand for response times in every jitter, so that the test
// of a task does not depend on the order above it; with that, if any order passes, this one does (Audsley, 1991).
//
// If an order is found, `model` has it afterwards, and otherwise its old one. At most n tests a level, n levels.
SearchOutcome search_gpu_priorities(RtaModel& model, BuildRecurrence build, WorkBudget& budget);

}  // namespace rtgpu
