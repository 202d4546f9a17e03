#include "runtime/run_report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace rtgpu {
namespace {

using Row = std::array<std::string, 9>;

std::string time_text(Duration time) {
  // To the microsecond: finer says nothing of a real machine.
  return to_milliseconds(Duration::microseconds((time.count() + 500) / 1000));
}

Row row_of(const TaskReport& task) {
  const TaskStatistics& seen = task.seen;
  const bool any = seen.response.count() > 0;
  const auto response = [&](Duration time) { return any ? time_text(time) : std::string("-"); };
  return {task.name,
          std::to_string(seen.jobs),
          task.best_effort ? "-" : std::to_string(seen.misses),
          response(seen.response.min()),
          any && seen.response.mean() ? time_text(*seen.response.mean()) : "-",
          response(seen.response.percentile(999)),
          response(seen.response.max()),
          task.bound ? to_milliseconds(*task.bound) : "-",
          task.best_effort ? "-" : to_milliseconds(task.deadline)};
}

void append_rows(std::string& text, const std::vector<Row>& rows) {
  std::array<std::size_t, std::tuple_size_v<Row>> widths{};
  for (const Row& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  for (const Row& row : rows) {
    text += fmt::format("  {:<{}}", row[0], widths[0]);
    for (std::size_t column = 1; column < row.size(); ++column)
      text += fmt::format("  {:>{}}", row[column], widths[column]);
    text += '\n';
  }
}

void append_count(std::string& text, const TaskReport& task, std::int64_t count, std::string_view what) {
  if (count > 0) text += fmt::format("{}: {} {}\n", task.name, count, what);
}

void append_troubles(std::string& text, const TaskReport& task) {
  const TaskStatistics& seen = task.seen;
  append_count(text, task, seen.skipped, "releases skipped");
  append_count(text, task, seen.aborted, "jobs aborted");
  append_count(text, task, seen.budget_overruns, "jobs over their CPU budget");
  append_count(text, task, seen.gpu_failures, "GPU segments or copies failed");
  append_count(text, task, seen.misuses, "calls refused");
  if (seen.faults > 0) {
    text +=
        fmt::format("{}: {} jobs ended by an exception, the last one: {}\n", task.name, seen.faults, seen.last_fault);
  }
  if (seen.thread_died) text += fmt::format("{}: its thread ended in the middle of a job\n", task.name);
  if (task.exceeded()) text += fmt::format("{}: BOUND EXCEEDED in job {}\n", task.name, seen.longest_job);
}

}  // namespace

std::int64_t RunReport::misses() const {
  std::int64_t sum = 0;
  for (const TaskReport& task : tasks) sum += task.seen.misses;
  return sum;
}

bool RunReport::any_bound_exceeded() const {
  return std::ranges::any_of(tasks, [](const TaskReport& task) { return task.exceeded(); });
}

bool RunReport::is_clean() const {
  return !device_lost && misses() == 0 && std::ranges::all_of(tasks, [](const TaskReport& task) {
    return task.seen.faults == 0 && task.seen.gpu_failures == 0 && !task.seen.thread_died;
  });
}

std::string to_string(const RunReport& report) {
  std::string text = fmt::format("{} on {}, {} ms of {}\n", to_string(report.policy), report.device,
                                 to_milliseconds(report.length), report.virtual_time ? "virtual time" : "real time");
  std::vector<Row> rows = {{"task", "jobs", "misses", "min", "mean", "99.9 %", "max", "bound", "deadline"}};
  for (const TaskReport& task : report.tasks) rows.push_back(row_of(task));
  append_rows(text, rows);
  text += "times in ms\n";
  for (const TaskReport& task : report.tasks) append_troubles(text, task);
  if (report.device_lost) text += "the device no longer answers\n";
  if (report.trace_events_dropped > 0) {
    text += fmt::format("trace: {} events dropped\n", report.trace_events_dropped);
  }
  for (const std::string& note : report.notes) text += note + '\n';
  for (const RealtimeItem& item : report.realtime.items) {
    if (item.ok) continue;
    text +=
        fmt::format("not granted: {}: asked for {}, got {}: {}\n", item.what, item.asked, item.granted, item.reason);
    if (!item.mend.empty()) text += fmt::format("  {}\n", item.mend);
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const RunReport& report) {
  return out << to_string(report);
}

}  // namespace rtgpu
