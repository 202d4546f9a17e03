#include "tools/format/printable.h"
#include "tools/format/simulation.h"
#include "tools/format/text_table.h"

#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

std::string title(const SimulationReport& report) {
  std::string text = printable(report.id.source);
  if (report.id.one_of_many) text += fmt::format(", document {}", report.id.index);
  return text + ": " + contents_of(report.loaded.taskset);
}

// "counterexample: low takes 20, more than its bound of 15 (published analysis of gcaps)"
std::string counterexample_text(const SimulationReport& report) {
  const Counterexample& known = *report.replayed;
  const Duration seen = replayed_response(report).value_or(Duration());
  return fmt::format("counterexample: {} takes {}, {} its bound of {} ({} analysis of {})\n{}",
                     printable(known.taskset.tasks[known.task].name), to_milliseconds(seen),
                     seen > known.bound ? "more than" : "no more than", to_milliseconds(known.bound),
                     to_string(known.variant), to_string(known.policy), printable(known.why));
}

// "1000 trials from seed 0, sporadic releases until 4000 ms, random execution times"
std::string runs(const SimulationReport& report) {
  if (report.replayed) return counterexample_text(report);
  const std::string trials =
      report.trials == 1 ? fmt::format("trial {}", report.first_trial) : fmt::format("{} trials", report.trials);
  return fmt::format("{} from seed {}, {} releases until {} ms, {} execution times", trials, report.choices.seed,
                     to_string(report.choices.releases), to_milliseconds(report.horizon),
                     report.choices.execution == Execution::worst ? "worst-case" : "random");
}

std::string name_of(const SimulationReport& report, const SimulationAnswer& answer) {
  return fmt::format("{} {}", to_string(answer.policy), to_string(report.wait));
}

std::string verdict(const SimulationAnswer& answer) {
  if (!answer.result) return fmt::format("not simulated: {}", printable(to_string(answer.result.errors().front())));
  const std::int64_t misses = answer.result->misses();
  if (misses == 0) return "no deadline missed";
  return count_of(static_cast<std::size_t>(misses), "deadline") + " missed";
}

// To the nearest microsecond: more says nothing of a mean.
std::string mean_text(const TaskTrials& seen) {
  const std::optional<Duration> mean = mean_response(seen);
  if (!mean) return "-";
  return to_milliseconds(Duration::microseconds((mean->count() + 500) / 1000));
}

// "79.1": the longest response as a share of the deadline, in percent.
std::string percent(Duration response, Duration deadline) {
  // NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
  __extension__ using Int128 = __int128;
  const auto tenths = static_cast<std::int64_t>(Int128{response.count()} * 1000 / deadline.count());
  return fmt::format("{}.{}", tenths / 10, tenths % 10);
}

std::vector<std::string> cells(const Task& task, const TaskTrials& seen, bool many) {
  const bool any = seen.any_job();
  std::vector<std::string> all = {printable(task.name),
                                  std::to_string(task.cpu),
                                  task.best_effort ? "-" : std::to_string(task.priority),
                                  task.best_effort ? "-" : to_milliseconds(task.deadline),
                                  std::to_string(seen.jobs),
                                  task.best_effort ? "-" : std::to_string(seen.misses),
                                  any ? to_milliseconds(seen.max_response) : "-",
                                  any && !task.best_effort ? percent(seen.max_response, task.deadline) : "-",
                                  mean_text(seen)};
  if (many) all.push_back(any ? std::to_string(seen.trial) : "-");
  return all;
}

void add_remark(TextTable& table, const TaskTrials& seen) {
  if (seen.incomplete == 0) return;
  std::string text =
      fmt::format("{} cut off by the end of the run", count_of(static_cast<std::size_t>(seen.incomplete), "job"));
  if (seen.longest_incomplete) text += "; the longest response is of one, which would have taken longer";
  table.add_remark(std::move(text));
}

void append_answer(std::string& out, const SimulationReport& report, const SimulationAnswer& answer) {
  out += fmt::format("\n{}, {}: {}\n", to_string(answer.policy), to_string(report.wait), verdict(answer));
  const Taskset& taskset = report.loaded.taskset;
  if (!answer.result || taskset.tasks.empty()) return;
  const bool many = report.trials > 1;
  std::vector<TextTable::Column> columns = {
      {"task", Align::left},   {"cpu", Align::right},    {"priority", Align::right},  {"deadline", Align::decimal},
      {"jobs", Align::right},  {"misses", Align::right}, {"longest", Align::decimal}, {"% of deadline", Align::decimal},
      {"mean", Align::decimal}};
  if (many) columns.push_back({"in trial", Align::right});
  TextTable table(std::move(columns));
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    const TaskTrials& seen = answer.result->tasks()[task];
    table.add_row(cells(taskset.tasks[task], seen, many));
    add_remark(table, seen);
  }
  table.append_to(out);
  if (!answer.sms.empty()) out += fmt::format("  SMs: {}\n", sms_of_tasks(taskset, answer.sms));
}

std::string conclusion(const SimulationReport& report) {
  const bool yes = report.meets_deadlines();
  std::vector<std::string> names;
  for (const SimulationAnswer& answer : report.answers) {
    if (answer.result && answer.meets_deadlines() == yes) names.push_back(name_of(report, answer));
  }
  if (yes) return fmt::format("no deadline missed under {} (seen, not proved)", fmt::join(names, ", "));
  return fmt::format("deadlines missed under {}", fmt::join(names, ", "));
}

}  // namespace

void append_table(std::string& out, const SimulationReport& report) {
  if (report.id.index > 0) out += '\n';
  out += title(report) + '\n' + runs(report) + '\n';
  for (const std::string& note : notes(report.loaded)) out += printable(note) + '\n';
  for (const SimulationAnswer& answer : report.answers) append_answer(out, report, answer);
  out += fmt::format("\ntimes in ms\n{}\n", conclusion(report));
}

}  // namespace rtgpu
