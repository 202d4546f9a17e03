// A recorded schedule as a chart that a person can read.
#pragma once

#include "analysis/simulation/schedule.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <string>

namespace rtgpu {

struct GanttOptions {
  std::string title;
  // The job that the chart is about: it is marked with its response time, and is in view where the run is too long to
  // be shown whole. kNoTask: none, and the chart starts at 0.
  TaskIndex task = kNoTask;
  std::int64_t job = 0;
};

// An SVG document without scripts: a row for each task, by core and then by falling priority, filled by what its job
// does; below them the GPU and the copy engines in use. Kinds of filling differ in pattern and height as well as in
// colour. Its width is fixed, and so is the number of rows at most; what is left out is said in the chart. `schedule`
// is of this taskset. The same on every machine.
std::string gantt_chart(const Schedule& schedule, const Taskset& taskset, const GanttOptions& options);

}  // namespace rtgpu
