#include "tools/format/csv.h"

#include <array>
#include <string_view>
#include <utility>

namespace rtgpu {
namespace {

// The columns around those of the terms. What does not apply is empty.
struct Row {
  std::string index;
  std::string_view source;
  std::string_view policy = {};
  std::string_view wait = {};
  std::string_view variant = {};
  std::string_view label = {};
  std::string_view task = {};
  std::string_view schedulable = {};
  std::string bound = {};
  std::string deadline = {};
  std::array<std::string, kTermCount> terms = {};
  std::string reason = {};
};

void append_row(std::string& out, const Row& row) {
  const std::array<std::string_view, 10> first = {row.index, row.source, row.policy,      row.wait,  row.variant,
                                                  row.label, row.task,   row.schedulable, row.bound, row.deadline};
  for (const std::string_view field : first) {
    append_csv_field(out, field);
    out += ',';
  }
  for (const std::string& term : row.terms) out.append(term).append(",");
  append_csv_field(out, row.reason);
  out += '\n';
}

Row row_of(const DocumentReport& report, const Answer& answer) {
  return {.index = std::to_string(report.id.index),
          .source = report.id.source,
          .policy = to_string(answer.options.policy),
          .wait = wait_label(answer),
          .variant = to_string(answer.options.variant),
          .label = trust_label(answer.options.variant)};
}

Row row_of(const DocumentReport& report, const Answer& answer, const TaskResult& result) {
  const Task& task = report.loaded.taskset.tasks[result.task];
  Row row = row_of(report, answer);
  row.task = task.name;
  row.schedulable = result.schedulable() ? "true" : "false";
  row.deadline = std::to_string(task.deadline.count());
  row.reason = result.reason;
  if (!result.bound) return row;
  row.bound = std::to_string(result.bound->count());
  for (std::size_t i = 0; i < kTermCount; ++i) row.terms[i] = std::to_string(result.terms[i].count());
  return row;
}

Row refused_row(const DocumentReport& report, const Answer& answer) {
  Row row = row_of(report, answer);
  row.schedulable = "false";
  row.reason = messages(answer.result.errors());
  return row;
}

}  // namespace

void append_csv_field(std::string& out, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_csv_header(std::string& out) {
  out += "index,taskset,policy,wait,variant,label,task,schedulable,bound_ns,deadline_ns,";
  for (std::size_t i = 0; i < kTermCount; ++i) out += term_key(static_cast<Term>(i)) + ',';
  out += "reason\n";
}

void append_csv(std::string& out, const DocumentReport& report) {
  for (const Answer& answer : report.answers) {
    if (!answer.result) {
      append_row(out, refused_row(report, answer));
      continue;
    }
    for (const TaskResult& result : answer.result->tasks) append_row(out, row_of(report, answer, result));
  }
}

void append_csv(std::string& out, const DocumentFailure& failure) {
  append_row(
      out,
      {.index = std::to_string(failure.id.index), .source = failure.id.source, .reason = messages(failure.errors)});
}

}  // namespace rtgpu
