#include "tools/format/csv.h"
#include "tools/format/simulation.h"

#include <array>
#include <string_view>
#include <utility>

namespace rtgpu {
namespace {

constexpr std::size_t kColumns = 13;
using SimulationRow = std::array<std::string, kColumns>;

void append_row(std::string& out, const SimulationRow& row) {
  const char* separator = "";
  for (const std::string& field : row) {
    out += separator;
    append_csv_field(out, field);
    separator = ",";
  }
  out += '\n';
}

std::string text_of(const std::optional<Duration>& time) {
  return time ? std::to_string(time->count()) : std::string();
}

SimulationRow row_of(const SimulationReport& report, const SimulationAnswer& answer) {
  SimulationRow row;
  row[0] = std::to_string(report.id.index);
  row[1] = report.id.source;
  row[2] = to_string(answer.policy);
  row[3] = to_string(report.wait);
  return row;
}

SimulationRow row_of(const SimulationReport& report, const SimulationAnswer& answer, TaskIndex index) {
  const Task& task = report.loaded.taskset.tasks[index];
  const TaskTrials& seen = answer.result->tasks()[index];
  SimulationRow row = row_of(report, answer);
  row[4] = task.name;
  row[5] = std::to_string(seen.jobs);
  row[6] = std::to_string(seen.misses);
  row[8] = text_of(mean_response(seen));
  if (seen.any_job()) {
    row[7] = std::to_string(seen.max_response.count());
    row[9] = std::to_string(seen.trial);
  }
  if (!task.best_effort) row[10] = std::to_string(task.deadline.count());
  row[11] = std::to_string(seen.incomplete);
  return row;
}

}  // namespace

void append_simulation_csv_header(std::string& out) {
  out +=
      "index,taskset,policy,wait,task,jobs,misses,max_response_ns,mean_response_ns,trial,deadline_ns,incomplete,"
      "reason\n";
}

void append_csv(std::string& out, const SimulationReport& report) {
  for (const SimulationAnswer& answer : report.answers) {
    if (!answer.result) {
      SimulationRow row = row_of(report, answer);
      row.back() = messages(answer.result.errors());
      append_row(out, row);
      continue;
    }
    for (TaskIndex task = 0; task < report.loaded.taskset.tasks.size(); ++task) {
      append_row(out, row_of(report, answer, task));
    }
  }
}

void append_simulation_csv_failure(std::string& out, const DocumentFailure& failure) {
  SimulationRow row;
  row[0] = std::to_string(failure.id.index);
  row[1] = failure.id.source;
  row.back() = messages(failure.errors);
  append_row(out, row);
}

}  // namespace rtgpu
