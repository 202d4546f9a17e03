// Task systems for SchedCAT.
#pragma once

#include "rtgpu/result.h"
#include "taskset/exporters/exported.h"
#include "taskset/taskset.h"

#include <span>

namespace rtgpu {

// A `taskset`, or of several a `testpoint`. The real-time tasks, with their core as `partition`; the GPU is the
// resource 0, and a task holds it for as long as the longest of its GPU segments, once for each. Errors: see
// exported.h.
Result<Exported> export_schedcat_xml(std::span<const Taskset> tasksets, const ExportOptions& options);

}  // namespace rtgpu
