#include "tools/format/json.h"
#include "tools/format/simulation.h"

#include <string_view>

#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

// Keeps the order of keys.
using Json = nlohmann::ordered_json;

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const std::optional<Duration>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}

void add_error_members(Json& object, const Errors& errors) {
  const Json members = Json::parse("{" + error_members(errors) + "}");
  for (const auto& [key, value] : members.items()) object[key] = value;
}

Json to_json(const Task& task, const TaskTrials& seen) {
  const bool any = seen.any_job();
  Json object;
  object["task"] = task.name;
  object["jobs"] = seen.jobs;
  object["misses"] = seen.misses;
  object["max_response_ns"] = any ? Json(seen.max_response.count()) : Json(nullptr);
  object["mean_response_ns"] = to_json(mean_response(seen));
  object["trial"] = any ? Json(seen.trial) : Json(nullptr);
  object["job"] = any ? Json(seen.job) : Json(nullptr);
  object["deadline_ns"] = task.best_effort ? Json(nullptr) : Json(task.deadline.count());
  object["best_effort"] = task.best_effort;
  object["incomplete"] = seen.incomplete;
  object["max_response_complete"] = !seen.longest_incomplete;
  return object;
}

Json header(const SimulationReport& report, const SimulationAnswer& answer) {
  Json object;
  object["policy"] = to_string(answer.policy);
  object["wait"] = to_string(report.wait);
  return object;
}

Json to_json(const SimulationReport& report, const SimulationAnswer& answer) {
  Json object = header(report, answer);
  if (!answer.result) {
    add_error_members(object, answer.result.errors());
    return object;
  }
  object["misses"] = answer.result->misses();
  const std::vector<Task>& tasks = report.loaded.taskset.tasks;
  for (TaskIndex task = 0; task < answer.sms.size(); ++task) {
    if (answer.sms[task] > 0) object["sms"][tasks[task].name] = answer.sms[task];
  }
  object["tasks"] = Json::array();
  for (TaskIndex task = 0; task < tasks.size(); ++task) {
    object["tasks"].push_back(to_json(tasks[task], answer.result->tasks()[task]));
  }
  return object;
}

Json document_header(const DocumentId& id) {
  Json object;
  object["rtgpu_result"] = 1;
  object["command"] = "simulate";
  object["taskset"] = id.source;
  if (id.one_of_many) object["index"] = id.index;
  return object;
}

Json replayed(const SimulationReport& report) {
  const Counterexample& known = *report.replayed;
  const std::optional<Duration> seen = replayed_response(report);
  Json object;
  object["why"] = known.why;
  object["variant"] = to_string(known.variant);
  object["task"] = known.taskset.tasks[known.task].name;
  object["bound_ns"] = known.bound.count();
  object["observed_ns"] = to_json(seen);
  object["exceeded"] = seen && *seen > known.bound;
  return object;
}

Json to_short_json(const SimulationReport& report, const SimulationAnswer& answer) {
  Json object = header(report, answer);
  if (!answer.result) {
    add_error_members(object, answer.result.errors());
    return object;
  }
  object["misses"] = Json::array();
  object["max_responses_ns"] = Json::array();
  for (const TaskTrials& seen : answer.result->tasks()) {
    object["misses"].push_back(seen.misses);
    object["max_responses_ns"].push_back(seen.any_job() ? Json(seen.max_response.count()) : Json(nullptr));
  }
  return object;
}

}  // namespace

void append_json(std::string& out, const SimulationReport& report) {
  Json object = document_header(report.id);
  object["horizon_ns"] = report.horizon.count();
  if (report.replayed) {
    object["counterexample"] = replayed(report);
  } else {
    object["first_trial"] = report.first_trial;
    object["trials"] = report.trials;
    object["seed"] = report.choices.seed;
    object["releases"] = to_string(report.choices.releases);
    object["execution"] = to_string(report.choices.execution);
  }
  const std::vector<std::string> told = notes(report.loaded);
  if (!told.empty()) object["notes"] = told;
  object["results"] = Json::array();
  for (const SimulationAnswer& answer : report.answers) object["results"].push_back(to_json(report, answer));
  out += json_text(object, report.id.one_of_many ? -1 : 2) + '\n';
}

void append_ndjson(std::string& out, const SimulationReport& report) {
  Json object;
  object["index"] = report.id.index;
  object["results"] = Json::array();
  for (const SimulationAnswer& answer : report.answers) object["results"].push_back(to_short_json(report, answer));
  const std::vector<std::string> told = notes(report.loaded);
  if (!told.empty()) object["notes"] = told;
  out += json_text(object, -1) + '\n';
}

void append_simulation_failure(std::string& out, const DocumentFailure& failure) {
  Json object = document_header(failure.id);
  add_error_members(object, failure.errors);
  out += json_text(object, -1) + '\n';
}

}  // namespace rtgpu
