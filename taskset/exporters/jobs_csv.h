// Job sets for the schedule-abstraction tools.
#pragma once

#include "rtgpu/result.h"
#include "taskset/exporters/exported.h"
#include "taskset/taskset.h"

#include <cstdint>

namespace rtgpu {

inline constexpr std::int64_t kMaxExportedJobs = 1'000'000;

// The jobs of the real-time tasks over one hyperperiod, all tasks released at 0; the columns are those of
// import_jobs_csv. The time of a job is that of all its segments; its priority is the rank of its task, 1 the highest.
// Errors: more than kMaxExportedJobs jobs; see exported.h.
Result<Exported> export_jobs_csv(const Taskset& taskset, const ExportOptions& options);

}  // namespace rtgpu
