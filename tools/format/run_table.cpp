#include "tools/format/printable.h"
#include "tools/format/report.h"
#include "tools/format/run.h"
#include "tools/format/simulation_report.h"
#include "tools/format/text_table.h"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// To the nearest microsecond: more says nothing of a machine.
std::string time_text(Duration time) {
  return to_milliseconds(Duration::microseconds((time.count() + 500) / 1000));
}

// Rounded up: it stays a bound.
std::string bound_text(Duration bound) {
  return to_milliseconds(Duration::microseconds((bound.count() + 999) / 1000));
}

std::string counted(std::int64_t count, std::string_view thing) {
  return count_of(static_cast<std::size_t>(count), thing);
}

// "2000 ms of virtual time, trial 0 from seed 0, periodic releases, worst-case execution times"
std::string run_text(const RunResult& result) {
  const RunReport& report = result.report;
  std::string text =
      fmt::format("{} ms of {} time", time_text(report.length), report.virtual_time ? "virtual" : "real");
  if (result.interrupted) text += fmt::format(", stopped, of {} ms", to_milliseconds(result.duration));
  text += fmt::format(", trial {} from seed {}, {} releases, {} execution times", result.trial, result.choices.seed,
                      to_string(result.choices.releases),
                      result.choices.execution == Execution::worst ? "worst-case" : "random");
  return text;
}

std::vector<std::string> cells(const TaskReport& task) {
  const TaskStatistics& seen = task.seen;
  const bool any = seen.response.count() > 0;
  const auto time = [](bool there, Duration value) { return there ? time_text(value) : std::string("-"); };
  const std::string share = any ? observed_over_bound(task.bound, seen.response.max()) : std::string();
  const Histogram& late = seen.release_latency;
  return {printable(task.name),
          std::to_string(seen.jobs),
          task.best_effort ? "-" : std::to_string(seen.misses),
          task.best_effort ? "-" : to_milliseconds(task.deadline),
          time(any, seen.response.min()),
          time(seen.response.mean().has_value(), seen.response.mean().value_or(Duration())),
          time(any, seen.response.percentile(999)),
          time(any, seen.response.max()),
          task.bound ? bound_text(*task.bound) : "-",
          share.empty() ? "-" : share,
          time(late.count() > 0, late.percentile(999)),
          time(late.count() > 0, late.max())};
}

void append_tasks(std::string& out, const RunResult& result) {
  if (result.report.tasks.empty()) return;
  TextTable table({{"task", Align::left},
                   {"jobs", Align::right},
                   {"misses", Align::right},
                   {"deadline", Align::decimal},
                   {"min", Align::decimal},
                   {"mean", Align::decimal},
                   {"99.9 %", Align::decimal},
                   {"max", Align::decimal},
                   {"bound", Align::decimal},
                   {"max/bound", Align::decimal},
                   {"late 99.9 %", Align::decimal},
                   {"late max", Align::decimal}});
  for (const TaskReport& task : result.report.tasks) table.add_row(cells(task));
  table.append_to(out);
}

std::string tail(const Histogram& times) {
  return fmt::format("{}, {}", time_text(times.percentile(999)), time_text(times.max()));
}

void append_overheads(std::string& out, const RunReport& report) {
  out += "times in ms; late: from a release to the start of its job, where no earlier one was in the way\n";
  const RunOverheads all = overheads_of(report);
  std::vector<std::string> parts;
  if (all.grant.count() > 0) parts.push_back("let in -> going on " + tail(all.grant));
  if (all.completion.count() > 0) parts.push_back("end of GPU work -> going on " + tail(all.completion));
  if (!parts.empty()) out += fmt::format("overheads (99.9 %, max): {}\n", fmt::join(parts, "; "));
}

// "camera: 2 jobs aborted"
std::vector<std::string> troubles(const TaskReport& task) {
  const TaskStatistics& seen = task.seen;
  std::vector<std::string> all;
  const auto add = [&](std::int64_t count, std::string_view thing, std::string_view what) {
    if (count > 0) all.push_back(counted(count, thing).append(what));
  };
  add(seen.skipped, "release", " skipped");
  add(seen.aborted, "job", " aborted");
  add(seen.budget_overruns, "job", " over the CPU budget");
  add(seen.gpu_failures, "failure", " of GPU segments or copies");
  add(seen.misuses, "call", " refused");
  add(seen.faults, "job", " ended by an exception, the last one: " + printable(seen.last_fault));
  if (seen.thread_died) all.emplace_back("the thread ended in the middle of a job");
  return all;
}

void append_troubles(std::string& out, const RunResult& result) {
  for (const TaskReport& task : result.report.tasks) {
    for (const std::string& trouble : troubles(task)) out += fmt::format("{}: {}\n", printable(task.name), trouble);
  }
  if (result.report.trace_events_dropped > 0) {
    out += fmt::format("trace: {} dropped\n", count_of(result.report.trace_events_dropped, "event"));
  }
}

// Only asked about where it matters that there is none.
void append_missing_bounds(std::string& out, const RunResult& result) {
  if (!result.check_bounds || !result.analysis) return;
  for (const TaskResult& task : result.analysis->tasks) {
    // After those of the taskset there may be others, which stand for what the machine takes.
    if (task.bound || task.task >= result.loaded.taskset.tasks.size()) continue;
    out += fmt::format("{}: no bound: {}\n", printable(result.loaded.taskset.tasks[task.task].name),
                       printable(task.reason));
  }
}

void append_not_granted(std::string& out, const RealtimeReport& realtime) {
  for (const RealtimeItem& item : not_granted(realtime)) {
    out += printable(to_string(item)) + '\n';
    if (!item.mend.empty()) out += "  " + printable(item.mend) + '\n';
  }
}

std::string conclusion(const RunResult& result) {
  const RunReport& report = result.report;
  std::vector<std::string> parts;
  if (report.device_lost) parts.emplace_back("the device no longer answers");
  parts.push_back(report.misses() == 0 ? "no deadline missed" : counted(report.misses(), "deadline") + " missed");
  if (!report.is_clean() && report.misses() == 0) parts.back() += ", but not all jobs ended well";
  const std::vector<std::string> exceeded = result.exceeded();
  const std::vector<std::string> missing = result.without_bound();
  if (!exceeded.empty()) {
    parts.push_back(printable(fmt::format("bound exceeded of {}", fmt::join(exceeded, ", "))));
  } else if (missing.empty() && !report.tasks.empty()) {
    parts.emplace_back("no bound exceeded");
  }
  if (result.check_bounds && !missing.empty()) {
    parts.push_back(printable(fmt::format("no bound of {}", fmt::join(missing, ", "))));
  }
  const bool good = result.is_yes() && exceeded.empty();
  return fmt::format("{} under {} {}{}", fmt::join(parts, ", "), to_string(report.policy), to_string(result.wait),
                     good ? " (seen, not proved)" : "");
}

}  // namespace

void append_table(std::string& out, const RunResult& result) {
  out += fmt::format("{}: {}\n{}, {}, on {}\n{}\n", printable(result.source), contents_of(result.loaded.taskset),
                     to_string(result.report.policy), to_string(result.wait), result.device, run_text(result));
  for (const std::string& note : result.notes) out += printable(note) + '\n';
  out += '\n';
  append_tasks(out, result);
  append_overheads(out, result.report);
  append_troubles(out, result);
  append_missing_bounds(out, result);
  append_not_granted(out, result.report.realtime);
  out += '\n' + conclusion(result) + '\n';
}

}  // namespace rtgpu
