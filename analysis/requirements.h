// What an analysis needs of a taskset and of its options, and what has to hold of a set that it accepts. Internal to
// the library.
#pragma once

#include "analysis/analysis.h"
#include "analysis/registry.h"
#include "analysis/rta_model.h"
#include "rtgpu/error.h"
#include "taskset/taskset.h"

#include <optional>

namespace rtgpu {

// What the taskset lacks.
std::optional<Error> missing_need(const RegisteredAnalysis& analysis, const Taskset& taskset);

// A search for GPU priorities that the analysis does not have.
std::optional<Error> missing_search(const RegisteredAnalysis& analysis, GpuPriorities asked);

// A necessary condition that holds for every analysis: what is called schedulable must fit. Throws std::logic_error.
// Under federated a task has SMs of its own, and so no share of the GPU's time.
void check_utilisation(const RtaModel& model, const Taskset& taskset, Policy policy);

}  // namespace rtgpu
