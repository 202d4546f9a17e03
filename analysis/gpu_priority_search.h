// Separate GPU priorities by Audsley's algorithm.
#pragma once

#include "analysis/analysis.h"
#include "analysis/fixed_point.h"
#include "analysis/rta_model.h"

#include <functional>

namespace rtgpu {

// Whether a task meets its deadline under the order that the model has at the time, if all others meet theirs.
using MeetsDeadline = std::function<bool(TaskIndex)>;

// Looks for GPU priorities under which every task meets its deadline (GCAPS, ECRTS 2024, section 5.3): levels are
// filled from the lowest, each with a task that meets its deadline below all tasks not yet placed. Tasks of one core
// keep the order of their CPU priorities, so the candidates of a level are the lowest unplaced tasks of the cores; the
// one with the lowest CPU priority is tried first. If the test of a task does not depend on the order above it, then if
// any order passes, this one does (Audsley, 1991); otherwise it is a heuristic.
//
// If an order is found, `model` has it afterwards, and otherwise its old one. At most n tests a level, n levels.
SearchOutcome search_gpu_priorities(RtaModel& model, const MeetsDeadline& meets_deadline, WorkBudget& budget);

}  // namespace rtgpu
