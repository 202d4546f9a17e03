// A recorded schedule in the Trace Event Format, which Perfetto and chrome://tracing open.
#pragma once

#include "analysis/simulation/schedule.h"
#include "taskset/taskset.h"

#include <ostream>
#include <string>

namespace rtgpu {

// Writes one JSON object with `traceEvents`: a lane for each core, the GPU and each copy engine in use, and a lane for
// each task that shows what its jobs do. Releases, deadlines, completions and misses are instants in the task's lane.
// Times are microseconds with three decimals, exact to the nanosecond. `title` says what was run. `schedule` is of this
// taskset. Linear in the schedule; the text goes to `out` as it is made.
void write_chrome_trace(std::ostream& out, const Schedule& schedule, const Taskset& taskset, const std::string& title);

}  // namespace rtgpu
