// What part of a schedule a chart shows. Internal to analysis/simulation.
#pragma once

#include "analysis/simulation/gantt.h"
#include "analysis/simulation/schedule.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <string_view>
#include <vector>

namespace rtgpu {

inline constexpr std::size_t kMaxGanttRows = 64;
// How many of the shortest periods a chart is wide at most, unless its job is longer.
inline constexpr std::int64_t kMaxGanttPeriods = 6;

struct GanttWindow {
  Duration begin;
  Duration end;  // after begin
  friend bool operator==(const GanttWindow&, const GanttWindow&) = default;
};

// The tasks of the rows, from top to bottom: by core, real-time ones first, by falling priority. If there are more than
// kMaxGanttRows, those of the cores nearest to that of `task`.
std::vector<TaskIndex> gantt_rows(const Taskset& taskset, TaskIndex task);

// The record of the job that the options name; null if there is none.
const JobRecord* gantt_job(const Schedule& schedule, const GanttOptions& options);

// All of the schedule if it is short enough for these rows; else a part of it, with the job in the middle, that begins
// at a round time.
GanttWindow gantt_window(const Schedule& schedule, const Taskset& taskset, const std::vector<TaskIndex>& rows,
                         const JobRecord* job);

// The marks of a time axis: multiples of a round step, 8 to 20 of them, and the unit they are written in.
struct GanttAxis {
  Duration step;
  Duration unit;
  std::string_view unit_name;
};
GanttAxis gantt_axis(const GanttWindow& window);

}  // namespace rtgpu
