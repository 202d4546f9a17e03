#include "tools/simulate_record.h"

#include "analysis/simulation/chrome_trace.h"
#include "analysis/simulation/gantt.h"
#include "tools/messages.h"

#include <cerrno>
#include <fstream>
#include <functional>
#include <ostream>
#include <system_error>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// Throws std::system_error if the file cannot be written.
void write_file(const std::string& name, const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream file(name, std::ios::binary);
  if (file) write(file);
  file.close();
  if (!file) throw std::system_error(errno == 0 ? EIO : errno, std::generic_category(), name);
}

std::string_view option_of(const SimulateRequest& request) {
  return request.trace.empty() ? "--gantt" : "--trace";
}

}  // namespace

std::optional<Error> recording_error(const SimulateRequest& request, const TrialSummary& summary) {
  Error error;
  error.place.source = option_of(request);
  if (!summary.worst()) {
    error.code = ErrorCode::value;
    error.found = "a run without jobs";
    error.expected = "at least one job";
    error.advice = "Give the taskset a task, or a longer --horizon.";
    return error;
  }
  if (summary.worst()->events <= kMaxRecordedEvents) return std::nullopt;
  error.code = ErrorCode::limit;
  error.found = fmt::format("a run of {} events", summary.worst()->events);
  error.expected = fmt::format("at most {}", kMaxRecordedEvents);
  error.advice = "Give a shorter --horizon, for instance a few of the longest periods.";
  return error;
}

void record_run(const SimulateRequest& request, const Taskset& taskset, const Scenario& scenario, Duration horizon,
                Simulator& simulator, const WorstJob& worst, const std::string& title) {
  Schedule schedule;
  simulator.run(scenario, horizon, &schedule);
  if (!request.trace.empty()) {
    write_file(request.trace, [&](std::ostream& out) { write_chrome_trace(out, schedule, taskset, title); });
  }
  if (!request.gantt.empty()) {
    write_file(request.gantt, [&](std::ostream& out) {
      out << gantt_chart(schedule, taskset, {.title = title, .task = worst.task, .job = worst.job});
    });
  }
}

}  // namespace rtgpu
