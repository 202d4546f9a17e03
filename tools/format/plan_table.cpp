#include "tools/format/plan_report.h"
#include "tools/format/printable.h"
#include "tools/format/text_table.h"

#include <fmt/format.h>

namespace rtgpu {
namespace {

std::string document_name(const DocumentId& id) {
  return id.one_of_many ? fmt::format("{}, document {}", printable(id.source), id.index) : printable(id.source);
}

// "1.234567"
std::string factor_text(const Margin& margin) {
  return fmt::format("{}.{:06}", margin.factor / kUnitFactor, margin.factor % kUnitFactor);
}

std::string grown_text(const Taskset& taskset, const Grown& grown) {
  if (grown.overhead) return fmt::format("overhead {}", to_string(*grown.overhead));
  if (grown.task) return fmt::format("of {}", printable(taskset.tasks[*grown.task].name));
  return "of all tasks";
}

std::string next_text(const Taskset& taskset, const Margin& margin) {
  if (margin.at_least) return "none up to here";
  return margin.fails_first ? printable(taskset.tasks[*margin.fails_first].name) : "-";
}

void append_margins(std::string& out, const PlanReport& report, const PolicyMargins& margins) {
  out += fmt::format("\n{}, {}: schedulable; execution times and overheads may grow by\n", to_string(margins.policy),
                     to_string(margins.wait));
  TextTable table({{"times", Align::left}, {"factor", Align::decimal}, {"then fails first", Align::left}});
  for (const Margin& margin : margins.margins) {
    table.add_row(
        {grown_text(report.taskset(), margin.grown), factor_text(margin), next_text(report.taskset(), margin)});
  }
  table.append_to(out);
}

std::string verdict_now(const Taskset& taskset, const Answer& answer) {
  if (!answer.result) return fmt::format("not analysed: {}", printable(to_string(answer.result.errors().front())));
  if (answer.result->schedulable) return "schedulable";
  std::vector<std::string> failing;
  for (const TaskResult& task : answer.result->tasks) {
    if (!task.schedulable()) failing.push_back(printable(taskset.tasks[task.task].name));
  }
  return fmt::format("not schedulable: {}", fmt::join(failing, ", "));
}

void append_now(std::string& out, const PlanReport& report) {
  out += '\n';
  for (const Answer& answer : report.now.answers) {
    out += fmt::format("{}, {}: {}\n", to_string(answer.options.policy), wait_label(answer),
                       verdict_now(report.taskset(), answer));
  }
}

std::string change_text(const Taskset& taskset, const TaskChange& change) {
  std::string text = printable(taskset.tasks[change.task].name) + ":";
  const char* separator = " ";
  for (const TaskChange::Value& value : change.values) {
    const std::string where = value.what == "slices" ? fmt::format(" of segment {}", value.segment) : std::string();
    const bool was_open = value.what == "sms" && value.before == 0;
    text += was_open ? fmt::format("{}{} {}", separator, value.what, value.after)
                     : fmt::format("{}{}{} {} -> {}", separator, value.what, where, value.before, value.after);
    separator = ", ";
  }
  return text;
}

std::string kinds_text(const Proposal& proposal) {
  if (proposal.kinds.empty()) return "-";
  std::vector<std::string_view> names;
  for (const ChangeKind kind : proposal.kinds) names.push_back(to_string(kind));
  return fmt::format("{}", fmt::join(names, ", "));
}

void append_proposals(std::string& out, const PlanReport& report) {
  const std::vector<Proposal>& proposals = report.proposals.proposals;
  if (proposals.empty()) {
    out += "\nno change was found that makes it schedulable\n";
    return;
  }
  out += "\nproposals, fewest changes first; each is schedulable (safe, upper bound)\n";
  TextTable table({{"", Align::right},
                   {"policy", Align::left},
                   {"changes", Align::left},
                   {"tasks", Align::right},
                   {"least slack", Align::decimal},
                   {report.files.empty() ? "" : "file", Align::left}});
  for (std::size_t place = 0; place < proposals.size(); ++place) {
    const Proposal& proposal = proposals[place];
    const Shortfall shortfall = shortfall_of(proposal.taskset, proposal.result);
    table.add_row({std::to_string(place + 1), std::string(to_string(proposal.policy)), kinds_text(proposal),
                   std::to_string(proposal.changed_tasks),
                   proposal.result.tasks.empty() ? "-" : to_milliseconds(Duration() - shortfall.worst),
                   report.files.empty() ? "" : printable(report.files[place])});
    for (const TaskChange& change : task_changes(report.taskset(), proposal.taskset)) {
      table.add_remark(change_text(report.taskset(), change));
    }
  }
  table.append_to(out);
  out += "\ntimes in ms\n";
}

}  // namespace

void append_table(std::string& out, const PlanReport& report) {
  if (report.now.id.index > 0) out += '\n';
  out += fmt::format("{}: {}\n", document_name(report.now.id), contents_of(report.taskset()));
  for (const std::string& note : notes(report.now.loaded)) out += printable(note) + '\n';
  if (report.now.schedulable()) {
    for (const PolicyMargins& margins : report.margins) append_margins(out, report, margins);
  } else {
    append_now(out, report);
    append_proposals(out, report);
    if (search_end(report) == "limit_reached") out += "some searches ended at their limits: there may be more\n";
  }
  if (report.interrupted) out += "interrupted: there may be more\n";
}

}  // namespace rtgpu
