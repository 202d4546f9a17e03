#include "tools/format/table.h"

#include "tools/format/printable.h"
#include "tools/format/text_table.h"

#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

std::string name_of(const DocumentId& id) {
  return id.one_of_many ? fmt::format("{}, document {}", printable(id.source), id.index) : printable(id.source);
}

std::string title(const DocumentReport& report) {
  return fmt::format("{}: {}", name_of(report.id), contents_of(report.loaded.taskset));
}

// "gcaps, suspend, published (not a guarantee)"
std::string heading(const Answer& answer) {
  std::string text = fmt::format("{}, {}, {} ({})", to_string(answer.options.policy), wait_label(answer),
                                 to_string(answer.options.variant), trust_label(answer.options.variant));
  if (answer.result && answer.result->jitter == JitterSource::deadline) text += ", jitter from deadlines";
  return text;
}

std::string verdict(const Answer& answer) {
  if (answer.result) return answer.result->schedulable ? "schedulable" : "not schedulable";
  return fmt::format("not analysed: {}", printable(to_string(answer.result.errors().front())));
}

// Also below 0, where a bound passes the deadline.
std::string slack(const Task& task, Duration bound) {
  if (bound <= task.deadline) return to_milliseconds(task.deadline - bound);
  return fmt::format("-{}", to_milliseconds(bound - task.deadline));
}

std::vector<std::string> cells(const Task& task, const TaskResult& result) {
  return {printable(task.name),
          std::to_string(task.cpu),
          std::to_string(task.priority),
          to_milliseconds(task.period),
          to_milliseconds(task.deadline),
          result.bound ? to_milliseconds(*result.bound) : "-",
          result.bound ? slack(task, *result.bound) : "-",
          printable(result.reason)};
}

// "histogram 2 x 4": two jobs of 4 ms each. What is charged to no particular task has no name.
std::string summand(const Taskset& taskset, const Contribution& part) {
  const std::string name = part.task == kNoTask ? "" : printable(taskset.tasks[part.task].name) + ' ';
  if (part.jobs > 0 && part.amount.count() % part.jobs == 0) {
    const Duration each = Duration::nanoseconds(part.amount.count() / part.jobs);
    return fmt::format("{}{} x {}", name, part.jobs, to_milliseconds(each));
  }
  return fmt::format("{}{} in {} jobs", name, to_milliseconds(part.amount), part.jobs);
}

// "cpu_preemption 8: histogram 2 x 4"
std::string explanation(const Taskset& taskset, const TaskResult& result, Term term) {
  std::string text =
      fmt::format("{} {}", to_string(term), to_milliseconds(result.terms[static_cast<std::size_t>(term)]));
  const char* separator = ": ";
  for (const Contribution& part : result.contributions) {
    if (part.term != term) continue;
    text += fmt::format("{}{}", separator, summand(taskset, part));
    separator = ", ";
  }
  return text;
}

void add_explanation(TextTable& table, const Taskset& taskset, const TaskResult& result) {
  for (std::size_t i = 0; i < kTermCount; ++i) {
    if (result.terms[i] > Duration{}) table.add_remark(explanation(taskset, result, static_cast<Term>(i)));
  }
}

bool differs_from_cpu_order(const Taskset& taskset, const std::vector<TaskIndex>& order) {
  return !std::is_sorted(order.begin(), order.end(), [&](TaskIndex a, TaskIndex b) {
    return taskset.tasks[a].priority > taskset.tasks[b].priority;
  });
}

void append_gpu_order(std::string& out, const Taskset& taskset, const AnalysisResult& result) {
  const bool found = result.gpu_priority_search == SearchOutcome::found;
  if (!found && !differs_from_cpu_order(taskset, result.gpu_priority_order)) return;
  std::vector<std::string> names;
  for (const TaskIndex task : result.gpu_priority_order) names.push_back(printable(taskset.tasks[task].name));
  out += fmt::format("  GPU priorities, highest first{}: {}\n", found ? " (found by the search)" : "",
                     fmt::join(names, ", "));
}

// "  stream levels, highest first: histogram, mmul | projection | dxtc"
void append_stream_levels(std::string& out, const Taskset& taskset, const AnalysisResult& result) {
  std::map<int, std::vector<std::string>> names;
  for (TaskIndex task = 0; task < result.stream_levels.size(); ++task) {
    if (uses_gpu(taskset.tasks[task])) names[result.stream_levels[task]].push_back(printable(taskset.tasks[task].name));
  }
  if (names.empty()) return;
  std::vector<std::string> levels;
  for (const auto& [level, tasks] : names) levels.push_back(fmt::format("{}", fmt::join(tasks, ", ")));
  out += fmt::format("  stream levels, highest first: {}\n", fmt::join(levels, " | "));
}

// "  SMs (found by the heuristic): histogram 4, dxtc 2; 2 of 8 free"
void append_sm_partition(std::string& out, const Taskset& taskset, const SmPartition& partition) {
  if (partition.sms.empty()) return;
  std::string_view how = "given";
  if (partition.search == SearchOutcome::found) {
    how = partition.method == SmSearch::exact ? "found by the exact search" : "found by the heuristic";
  } else if (partition.search == SearchOutcome::none) {
    how = "no partition passes";
  } else if (partition.search == SearchOutcome::limit_reached) {
    how = "the heuristic found none that passes; whether there is one was not decided";
  }
  int used = 0;
  for (const int sms : partition.sms) used += sms;
  const int all = taskset.platform.gpus.front().sms.value_or(0);
  out += fmt::format("  SMs ({}): {}; {} of {} free\n", how, sms_of_tasks(taskset, partition.sms), all - used, all);
}

void append_search_failure(std::string& out, SearchOutcome outcome) {
  if (outcome == SearchOutcome::none) out += "  the search found no GPU priorities that pass\n";
  if (outcome == SearchOutcome::limit_reached)
    out += "  the search for GPU priorities stopped undecided at its limit\n";
}

void append_answer(std::string& out, const Taskset& taskset, const Answer& answer) {
  out += fmt::format("\n{}: {}\n", heading(answer), verdict(answer));
  if (!answer.result || answer.result->tasks.empty()) return;
  TextTable table({{"task", Align::left},
                   {"cpu", Align::right},
                   {"priority", Align::right},
                   {"period", Align::decimal},
                   {"deadline", Align::decimal},
                   {"bound", Align::decimal},
                   {"slack", Align::decimal},
                   {"", Align::left}});
  for (const TaskResult& result : answer.result->tasks) {
    table.add_row(cells(taskset.tasks[result.task], result));
    if (answer.options.explain) add_explanation(table, taskset, result);
  }
  table.append_to(out);
  append_gpu_order(out, taskset, *answer.result);
  append_stream_levels(out, taskset, *answer.result);
  append_sm_partition(out, taskset, answer.result->sm_partition);
  append_search_failure(out, answer.result->gpu_priority_search);
}

std::string short_name(const Answer& answer) {
  return fmt::format("{} {}", to_string(answer.options.policy), wait_label(answer));
}

// "schedulable under gcaps suspend (published, not a guarantee)"
std::string conclusion(const DocumentReport& report) {
  const bool yes = report.schedulable();
  std::vector<std::string> names;
  for (const Answer& answer : report.answers) {
    if (yes == answer.schedulable()) names.push_back(short_name(answer));
  }
  const std::string_view verb = yes ? "schedulable under" : "not schedulable under";
  const Variant variant = report.answers.front().options.variant;
  return fmt::format("{}{} {} ({}, {})", verb, !yes && names.size() > 1 ? " any of" : "", fmt::join(names, ", "),
                     to_string(variant), trust_label(variant));
}

// An empty line between documents.
void append_separator(std::string& out, std::size_t index) {
  if (index > 0) out += '\n';
}

}  // namespace

void append_table(std::string& out, const DocumentReport& report) {
  append_separator(out, report.id.index);
  out += title(report) + '\n';
  for (const std::string& note : notes(report.loaded)) out += printable(note) + '\n';
  for (const Answer& answer : report.answers) append_answer(out, report.loaded.taskset, answer);
  out += fmt::format("\ntimes in ms\n{}\n", conclusion(report));
}

void append_table(std::string& out, const DocumentFailure& failure) {
  append_separator(out, failure.id.index);
  out += fmt::format("{}: no answer\n", name_of(failure.id));
  for (const Error& error : failure.errors) out += fmt::format("  {}\n", printable(to_string(error)));
}

}  // namespace rtgpu
