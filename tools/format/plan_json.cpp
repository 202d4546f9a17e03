#include "tools/format/json.h"
#include "tools/format/plan_report.h"

#include <string_view>

#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

// Keeps the order of keys.
using PlanJson = nlohmann::ordered_json;

std::string plan_text(const PlanJson& json, int indent) {
  return json.dump(indent, ' ', false, PlanJson::error_handler_t::replace);
}

void add_plan_errors(PlanJson& object, const Errors& errors) {
  const PlanJson members = PlanJson::parse("{" + error_members(errors) + "}");
  for (const auto& [key, value] : members.items()) object[key] = value;
}

PlanJson plan_header(const DocumentId& id) {
  PlanJson object;
  object["rtgpu_result"] = 1;
  object["command"] = "plan";
  object["taskset"] = id.source;
  if (id.one_of_many) object["index"] = id.index;
  return object;
}

PlanJson now_json(const Taskset& taskset, const Answer& answer) {
  PlanJson object;
  object["policy"] = to_string(answer.options.policy);
  object["wait"] = wait_label(answer);
  object["schedulable"] = answer.schedulable();
  if (!answer.result) {
    add_plan_errors(object, answer.result.errors());
    return object;
  }
  object["failing"] = PlanJson::array();
  for (const TaskResult& task : answer.result->tasks) {
    if (!task.schedulable()) object["failing"].push_back(taskset.tasks[task.task].name);
  }
  return object;
}

PlanJson name_or_null(const Taskset& taskset, std::optional<TaskIndex> task) {
  return task ? PlanJson(taskset.tasks[*task].name) : PlanJson(nullptr);
}

PlanJson margin_json(const Taskset& taskset, const Margin& margin) {
  PlanJson object;
  object["grows"] = margin.grown.overhead ? "overhead" : margin.grown.task ? "task" : "all";
  if (margin.grown.task) object["task"] = taskset.tasks[*margin.grown.task].name;
  if (margin.grown.overhead) object["overhead"] = to_string(*margin.grown.overhead);
  object["factor_millionths"] = margin.factor;
  object["at_least"] = margin.at_least;
  object["fails_first"] = name_or_null(taskset, margin.fails_first);
  return object;
}

PlanJson margins_json(const PlanReport& report) {
  PlanJson list = PlanJson::array();
  for (const PolicyMargins& margins : report.margins) {
    PlanJson object;
    object["policy"] = to_string(margins.policy);
    object["wait"] = to_string(margins.wait);
    object["factors"] = PlanJson::array();
    for (const Margin& margin : margins.margins) object["factors"].push_back(margin_json(report.taskset(), margin));
    list.push_back(std::move(object));
  }
  return list;
}

PlanJson change_json(const Taskset& taskset, const TaskChange& change) {
  PlanJson object;
  object["task"] = taskset.tasks[change.task].name;
  for (const TaskChange::Value& value : change.values) {
    PlanJson step = {{"from", value.before}, {"to", value.after}};
    if (value.what == "sms" && value.before == 0) step["from"] = nullptr;
    if (value.what == "slices") {
      step["segment"] = value.segment;
      object["slices"].push_back(std::move(step));
    } else {
      object[std::string(value.what)] = std::move(step);
    }
  }
  return object;
}

PlanJson kinds_json(const Proposal& proposal) {
  PlanJson list = PlanJson::array();
  for (const ChangeKind kind : proposal.kinds) list.push_back(to_string(kind));
  return list;
}

PlanJson bounds_json(const Proposal& proposal) {
  PlanJson list = PlanJson::array();
  for (const TaskResult& task : proposal.result.tasks) {
    PlanJson object;
    object["task"] = proposal.taskset.tasks[task.task].name;
    object["bound_ns"] = task.bound ? PlanJson(task.bound->count()) : PlanJson(nullptr);
    object["deadline_ns"] = proposal.taskset.tasks[task.task].deadline.count();
    list.push_back(std::move(object));
  }
  return list;
}

PlanJson proposal_json(const PlanReport& report, std::size_t place) {
  const Proposal& proposal = report.proposals.proposals[place];
  PlanJson object;
  object["policy"] = to_string(proposal.policy);
  object["wait"] = to_string(proposal.result.wait);
  object["changes"] = kinds_json(proposal);
  object["changed_tasks"] = proposal.changed_tasks;
  object["fewest"] = proposal.fewest;
  object["tasks"] = PlanJson::array();
  for (const TaskChange& change : task_changes(report.taskset(), proposal.taskset)) {
    object["tasks"].push_back(change_json(report.taskset(), change));
  }
  object["bounds"] = bounds_json(proposal);
  object["file"] = report.files.empty() ? PlanJson(nullptr) : PlanJson(report.files[place]);
  return object;
}

}  // namespace

void append_json(std::string& out, const PlanReport& report) {
  PlanJson object = plan_header(report.now.id);
  const std::vector<std::string> told = notes(report.now.loaded);
  if (!told.empty()) object["notes"] = told;
  object["schedulable"] = report.now.schedulable();
  object["search"] = search_end(report);
  object["policies"] = PlanJson::array();
  for (const Answer& answer : report.now.answers) object["policies"].push_back(now_json(report.taskset(), answer));
  object["margins"] = margins_json(report);
  object["proposals"] = PlanJson::array();
  for (std::size_t place = 0; place < report.proposals.proposals.size(); ++place) {
    object["proposals"].push_back(proposal_json(report, place));
  }
  out += plan_text(object, report.now.id.one_of_many ? -1 : 2) + '\n';
}

void append_ndjson(std::string& out, const PlanReport& report) {
  PlanJson object;
  object["index"] = report.now.id.index;
  object["schedulable"] = report.now.schedulable();
  object["search"] = search_end(report);
  object["margins"] = PlanJson::array();
  for (const PolicyMargins& margins : report.margins) {
    PlanJson factors = PlanJson::array();
    for (const Margin& margin : margins.margins) factors.push_back(margin.factor);
    object["margins"].push_back({{"policy", to_string(margins.policy)}, {"factors_millionths", std::move(factors)}});
  }
  object["proposals"] = PlanJson::array();
  for (const Proposal& proposal : report.proposals.proposals) {
    object["proposals"].push_back({{"policy", to_string(proposal.policy)},
                                   {"changes", kinds_json(proposal)},
                                   {"changed_tasks", proposal.changed_tasks}});
  }
  const std::vector<std::string> told = notes(report.now.loaded);
  if (!told.empty()) object["notes"] = told;
  out += plan_text(object, -1) + '\n';
}

void append_plan_failure(std::string& out, const DocumentFailure& failure) {
  PlanJson object = plan_header(failure.id);
  add_plan_errors(object, failure.errors);
  out += plan_text(object, -1) + '\n';
}

}  // namespace rtgpu
