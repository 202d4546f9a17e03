#include "tools/format/report.h"

#include "tools/format/printable.h"

#include <algorithm>

#include <fmt/format.h>

namespace rtgpu {

bool DocumentReport::schedulable() const {
  return std::any_of(answers.begin(), answers.end(), [](const Answer& answer) { return answer.schedulable(); });
}

bool DocumentReport::all_refused() const {
  return std::none_of(answers.begin(), answers.end(), [](const Answer& answer) { return bool(answer.result); });
}

Errors DocumentReport::refusals() const {
  Errors all;
  for (const Answer& answer : answers) {
    if (answer.result) continue;
    for (Error error : answer.result.errors()) {
      if (error.place.source.empty()) error.place.source = id.source;
      all.push_back(std::move(error));
    }
  }
  return all;
}

std::string_view trust_label(Variant variant) {
  return variant == Variant::safe ? "upper bound" : "not a guarantee";
}

std::string_view wait_label(const Answer& answer) {
  if (answer.result) return to_string(answer.result->wait);
  switch (answer.options.wait) {
    case WaitChoice::suspend:
      return "suspend";
    case WaitChoice::busy:
      return "busy";
    case WaitChoice::file:
      break;
  }
  return "file";
}

std::string_view search_label(SearchOutcome outcome) {
  switch (outcome) {
    case SearchOutcome::not_needed:
      return "not_needed";
    case SearchOutcome::found:
      return "found";
    case SearchOutcome::none:
      return "none";
    case SearchOutcome::limit_reached:
      return "limit_reached";
  }
  return "?";
}

std::vector<std::string> notes(const LoadedTaskset& loaded) {
  if (loaded.assigned_priorities.empty()) return {};
  return {fmt::format("priorities assigned deadline-monotonically, highest first: {}",
                      fmt::join(loaded.assigned_priorities, ", "))};
}

std::string count_of(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string contents_of(const Taskset& taskset) {
  const auto best_effort = static_cast<std::size_t>(
      std::count_if(taskset.tasks.begin(), taskset.tasks.end(), [](const Task& task) { return task.best_effort; }));
  std::string text = count_of(taskset.tasks.size() - best_effort, "real-time task");
  if (best_effort > 0) text += fmt::format(", {} best-effort", best_effort);
  return text + ", " + count_of(static_cast<std::size_t>(taskset.platform.cpus), "core");
}

std::string sms_of_tasks(const Taskset& taskset, const std::vector<int>& sms) {
  std::string text;
  for (TaskIndex task = 0; task < sms.size(); ++task) {
    if (sms[task] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(taskset.tasks[task].name), sms[task]);
  }
  return text;
}

std::string messages(const Errors& errors) {
  std::string all;
  for (const Error& error : errors) all.append(all.empty() ? "" : "\n").append(to_string(error));
  return all;
}

std::string term_key(Term term) {
  return fmt::format("{}_ns", to_string(term));
}

}  // namespace rtgpu
