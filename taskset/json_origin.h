// Reads where a taskset comes from. Internal to the library.
#pragma once

#include "taskset/json_document.h"
#include "taskset/json_values.h"
#include "taskset/taskset.h"

#include <optional>

namespace rtgpu {

// `out` stays empty if anything of it could not be read.
void read_origin(JsonValues& values, JsonValue object, std::optional<Origin>& out);

}  // namespace rtgpu
