// The tasksets of the case study that is published with the GCAPS paper (ECRTS 2024).
#pragma once

#include "rtgpu/result.h"
#include "taskset/importers/imported.h"

#include <string>
#include <string_view>

namespace rtgpu {

// A table with the header `taskid,workload,period,wcet`; times in milliseconds. The workloads 0 and 1 run on a core, 2
// to 5 and 8 on the GPU. Priorities are rate-monotonic, and tasks are placed on cores worst-fit in the order of the
// file, both as the case study does. The file does not divide the time of a task: all of it is `exec` of one GPU
// segment where the workload uses the GPU.
Result<Imported> import_gcaps_csv(std::string_view text, const std::string& source, const ImportOptions& options);

}  // namespace rtgpu
