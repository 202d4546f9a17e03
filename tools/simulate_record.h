// The run that a trace or chart shows.
#pragma once

#include "analysis/simulation/scenario.h"
#include "analysis/simulation/simulator.h"
#include "analysis/simulation/trials.h"
#include "rtgpu/error.h"
#include "taskset/taskset.h"
#include "tools/simulate_request.h"

#include <cstdint>
#include <optional>
#include <string>

namespace rtgpu {

// The most events that a run to be recorded may have: some hundred megabytes in memory and in a trace.
inline constexpr std::int64_t kMaxRecordedEvents = 1'000'000;

// Why the worst run of a summary cannot be recorded; nullopt if it can.
std::optional<Error> recording_error(const SimulateRequest& request, const TrialSummary& summary);

// Runs a scenario again, recording it, and writes what the request asks for, with the job `worst` in view. Throws
// std::system_error if a file cannot be written.
void record_run(const SimulateRequest& request, const Taskset& taskset, const Scenario& scenario, Duration horizon,
                Simulator& simulator, const WorstJob& worst, const std::string& title);

}  // namespace rtgpu
