#include "runtime/trace/run_chrome_trace.h"

#include "analysis/simulation/chrome_trace.h"
#include "runtime/gpu_status.h"
#include "runtime/trace/schedule_of_trace.h"

#include <string>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool is_marked(TraceKind kind) {
  switch (kind) {
    case TraceKind::miss:
    case TraceKind::overrun:
    case TraceKind::error:
    case TraceKind::slice:
    case TraceKind::preempt:
      return true;
    default:
      return false;
  }
}

// What the value of an event means.
std::string value_of(const TraceEvent& event) {
  switch (event.kind) {
    case TraceKind::miss:
      return fmt::format(R"(,"deadline_ns":{})", event.value);
    case TraceKind::overrun:
      return fmt::format(R"(,"value":{})", event.value);
    case TraceKind::error:
      return fmt::format(R"(,"status":"{}")", event.value < 0 ? "the job's own code failed"
                                                              : to_string(static_cast<GpuStatus>(event.value)));
    default:
      return {};
  }
}

}  // namespace

std::string_view to_string(RunClock clock) {
  return clock == RunClock::monotonic ? "CLOCK_MONOTONIC, ns from start" : "virtual";
}

void write_run_chrome_trace(std::ostream& out, const Trace& trace, const Taskset& taskset, const RunTraceInfo& info) {
  ChromeTraceExtras extras;
  extras.exact = true;
  extras.other_data = fmt::format(R"("clock":"{}","dropped":{})", to_string(info.clock), trace.dropped);
  for (const TraceEvent& event : trace.events) {
    if (!is_marked(event.kind) || event.task >= taskset.tasks.size()) continue;
    extras.instants.push_back(
        {std::string(to_string(event.kind)), event.task, Duration::nanoseconds(event.time_ns),
         fmt::format(R"("task":{},"job":{},"segment":{}{})", event.task, event.job, event.segment, value_of(event))});
  }
  write_chrome_trace(out, schedule_of(trace, taskset, info.wait), taskset, info.title, extras);
}

}  // namespace rtgpu
