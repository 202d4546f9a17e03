// A recorded schedule in the Trace Event Format, which Perfetto and chrome://tracing open.
#pragma once

#include "analysis/simulation/schedule.h"
#include "taskset/taskset.h"

#include <ostream>
#include <string>
#include <vector>

namespace rtgpu {

// A moment to mark in the lane of a task.
struct ChromeInstant {
  std::string name;
  TaskIndex task = kNoTask;
  Duration when;
  std::string arguments;  // the members of a JSON object: "job":3,"segment":1
};

// Something to draw in a lane of its own among those of the devices. What is in one lane does not overlap.
struct ChromeSpan {
  std::string lane;
  std::string category;  // not one of the schedule's: "task", "core", "gpu", "copy"
  TaskIndex task = kNoTask;
  Duration begin;
  Duration end;
  std::string arguments;  // as of an instant
};

// What a trace may hold besides.
struct ChromeTraceExtras {
  std::vector<ChromeSpan> spans;
  std::vector<ChromeInstant> instants;
  std::string other_data;  // members of `otherData` after the title, as JSON
  // The arguments of the events say all that the schedule does, so that it can be read back from the file. To its
  // intervals: those of the tasks are divided by state as well; of a core, those in which its task is in some state.
  bool exact = false;
};

// Writes one JSON object with `traceEvents`: a lane for each core, the GPU (or the SMs of each task, where they have
// their own) and each copy engine in use, and a lane for each task that shows what its jobs do. Releases, deadlines,
// completions and misses are instants in the task's lane. Times are microseconds with three decimals, exact to the
// nanosecond. `title` says what was run. `schedule` is of this taskset. Linear in the schedule; the text goes to `out`
// as it is made.
void write_chrome_trace(std::ostream& out, const Schedule& schedule, const Taskset& taskset, const std::string& title,
                        const ChromeTraceExtras& extras = {});

}  // namespace rtgpu
