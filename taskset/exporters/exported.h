// What the exporters to other programs' formats have in common.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

struct ExportOptions {
  // Of the times; unless said, the largest in which all of them are whole.
  std::optional<TimeUnit> unit = {};
};

struct Exported {
  std::string text;
  std::vector<std::string> notes;  // what has no counterpart in the format
};

// Nanoseconds of a unit.
std::int64_t length_of(TimeUnit unit);

// The unit to write these times in. An error if they are not whole in the one that is asked for.
Result<TimeUnit> unit_for(const std::vector<Duration>& times, const ExportOptions& options);

// The time of a GPU segment from its first launch to its end, alone on the whole GPU. An error (unsupported) if the
// taskset does not tell.
Result<ExecutionTime> gpu_time(const GpuSegment& segment, const Gpu& gpu);

// The time of all segments of a task, one after the other.
Result<ExecutionTime> time_of_all(const Task& task, const Gpu& gpu);

// What no format besides the own one has. Each in words, if the taskset has it.
std::vector<std::string> lost_properties(const Taskset& taskset);

}  // namespace rtgpu
