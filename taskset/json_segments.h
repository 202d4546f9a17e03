// Reads the segments of a task. Internal to the library.
#pragma once

#include "taskset/json_document.h"
#include "taskset/json_values.h"
#include "taskset/taskset.h"

#include <vector>

namespace rtgpu {

// The array `segments` of a task.
void read_segments(JsonValues& values, JsonValue array, std::vector<Segment>& out);

}  // namespace rtgpu
