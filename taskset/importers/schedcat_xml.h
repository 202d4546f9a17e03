// Task systems as SchedCAT writes them.
#pragma once

#include "rtgpu/result.h"
#include "taskset/importers/imported.h"

#include <string>
#include <string_view>

namespace rtgpu {

// A `taskset`, or a `testpoint` with several. A task has `wcet` and `period`, and maybe `deadline`, `id` and
// `partition`. With a partition the task is placed on the core of that number, else worst-fit in the order of the file.
// Priorities are deadline-monotonic: the format has none.
//
// Critical sections count in `wcet`. Those of the resource `gpu_resource`, if given, become GPU segments of that
// length, with the rest of the time in equal parts around and between them; others stay time on the core.
//
// Errors besides unreadable values: a deadline longer than the period; a partition in some tasks only.
Result<Imported> import_schedcat_xml(std::string_view text, const std::string& source, const ImportOptions& options);

}  // namespace rtgpu
