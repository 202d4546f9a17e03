// The trace of a run in the Trace Event Format, which Perfetto and chrome://tracing open.
#pragma once

#include "analysis/analysis.h"
#include "runtime/trace/trace.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace rtgpu {

// What the times of a run are of.
enum class RunClock : std::uint8_t { monotonic, virtual_time };
// "CLOCK_MONOTONIC, ns from start", "virtual"
std::string_view to_string(RunClock clock);

struct RunTraceInfo {
  std::string title;  // what was run
  RunClock clock = RunClock::monotonic;
  WaitChoice wait = WaitChoice::file;  // see schedule_of()
};

// Writes the schedule that the trace tells of, with the lanes and marks of write_chrome_trace() and everything in the
// arguments that is needed to read it back, and marks deadline misses as they were noticed, overruns, errors, ends of
// slices and interruptions of GPU work. What the device did by its own clock is in a lane of its own for each task;
// `within_ns` says how exactly. `otherData` says what the clock is, how the device's runs, and how many events were
// dropped. `taskset` is what ran. O(n log n) in the events.
void write_run_chrome_trace(std::ostream& out, const Trace& trace, const Taskset& taskset, const RunTraceInfo& info);

}  // namespace rtgpu
