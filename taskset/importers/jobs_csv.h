// The job sets of the schedule-abstraction tools (Nasri and Brandenburg, RTSS 2017, and what came after).
#pragma once

#include "rtgpu/result.h"
#include "taskset/importers/imported.h"

#include <string>
#include <string_view>

namespace rtgpu {

// A table of jobs: task, job, earliest and latest release, least and greatest cost, absolute deadline, priority (a
// smaller number is higher). The columns are known by their order; the first line is a header, further columns are
// ignored.
//
// The jobs of a task become a sporadic task that may release them all: its period is the shortest distance of earliest
// releases, its deadline the shortest, its jitter the longest. A task with a single job gets its deadline as period.
// Errors besides unreadable values: jobs of a task released at once; a deadline longer than the period.
Result<Imported> import_jobs_csv(std::string_view text, const std::string& source, const ImportOptions& options);

}  // namespace rtgpu
