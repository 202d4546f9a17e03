#include "runtime/trace/run_chrome_trace.h"

#include "analysis/simulation/chrome_trace.h"
#include "runtime/gpu_status.h"
#include "runtime/trace/schedule_of_trace.h"
#include "taskset/json_text.h"

#include <algorithm>
#include <string>
#include <vector>

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

Duration middle_of(const HostInterval& when) {
  return when.earliest + Duration::nanoseconds((when.latest - when.earliest).count() / 2);
}

// A lane for each task, since work of several may be on the device at once. As both ends are known within some time
// only, what is drawn may be moved by as much, so that nothing overlaps.
std::vector<ChromeSpan> device_spans(const Trace& trace, const Taskset& taskset) {
  std::vector<Duration> drawn_until(taskset.tasks.size());
  std::vector<ChromeSpan> spans;
  for (const DeviceInterval& each : trace.device_times) {
    const JobPlace& place = each.place;
    if (place.task >= taskset.tasks.size()) continue;
    const Duration width = std::max(each.begin.latest - each.begin.earliest, each.end.latest - each.end.earliest);
    ChromeSpan& span = spans.emplace_back();
    span.lane = "device clock: " + taskset.tasks[place.task].name;
    span.category = "device clock";
    span.task = place.task;
    span.begin = std::max(middle_of(each.begin), drawn_until[place.task]);
    span.end = std::max(middle_of(each.end), span.begin);
    span.arguments = fmt::format(R"("task":{},"job":{},"segment":{},"within_ns":{})", place.task, place.job,
                                 place.segment, (width.count() + 1) / 2);
    if (each.engine != DeviceInterval::kNoEngine) span.arguments += fmt::format(R"(,"copy_engine":{})", each.engine);
    drawn_until[place.task] = span.end;
  }
  return spans;
}

}  // namespace

std::string_view to_string(RunClock clock) {
  return clock == RunClock::monotonic ? "CLOCK_MONOTONIC, ns from start" : "virtual";
}

void write_run_chrome_trace(std::ostream& out, const Trace& trace, const Taskset& taskset, const RunTraceInfo& info) {
  ChromeTraceExtras extras;
  extras.exact = true;
  extras.other_data = fmt::format(R"("clock":"{}","dropped":{})", to_string(info.clock), trace.dropped);
  if (!trace.device_clock.empty()) {
    extras.other_data += R"(,"device_clock":)";
    append_json_string(extras.other_data, trace.device_clock);
  }
  extras.spans = device_spans(trace, taskset);
  for (const TraceEvent& event : trace.events) {
    if (!is_marked(event.kind) || event.task >= taskset.tasks.size()) continue;
    extras.instants.push_back(
        {std::string(to_string(event.kind)), event.task, Duration::nanoseconds(event.time_ns),
         fmt::format(R"("task":{},"job":{},"segment":{}{})", event.task, event.job, event.segment, value_of(event))});
  }
  write_chrome_trace(out, schedule_of(trace, taskset, info.wait), taskset, info.title, extras);
}

}  // namespace rtgpu
