// One taskset in the runtime.
#pragma once

#include "taskset/document_stream.h"
#include "tools/exit_status.h"
#include "tools/run_request.h"
#include "tools/standard_output.h"

namespace rtgpu {

// Reads the only document, runs it, and writes what was seen; what went wrong is told on standard error. Throws
// OutputError.
ExitStatus run_taskset(const RunRequest& request, DocumentStream& documents, StandardOutput& output);

}  // namespace rtgpu
