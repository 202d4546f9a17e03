#include "tools/format/json.h"

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

// Keeps the order of keys.
using Json = nlohmann::ordered_json;

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void set_unless_empty(Json& object, const char* key, std::string_view text) {
  if (!text.empty()) object[key] = text;
}

Json to_json(const Error& error) {
  Json object;
  object["code"] = to_string(error.code);
  set_unless_empty(object, "source", error.place.source);
  set_unless_empty(object, "pointer", error.place.pointer);
  if (error.place.line > 0) object["line"] = error.place.line;
  if (error.place.column > 0) object["column"] = error.place.column;
  set_unless_empty(object, "found", error.found);
  set_unless_empty(object, "expected", error.expected);
  set_unless_empty(object, "advice", error.advice);
  object["message"] = to_string(error);
  return object;
}

Json to_json(const Errors& errors) {
  Json list = Json::array();
  for (const Error& error : errors) list.push_back(to_json(error));
  return list;
}

Json terms(const TaskResult& result) {
  if (!result.bound) return nullptr;
  Json object;
  for (std::size_t i = 0; i < kTermCount; ++i) object[term_key(static_cast<Term>(i))] = result.terms[i].count();
  return object;
}

Json contributions(const Taskset& taskset, const TaskResult& result) {
  Json list = Json::array();
  for (const Contribution& part : result.contributions) {
    Json object;
    object["term"] = to_string(part.term);
    object["task"] = part.task == kNoTask ? Json(nullptr) : Json(taskset.tasks[part.task].name);
    object["jobs"] = part.jobs;
    object["amount_ns"] = part.amount.count();
    list.push_back(std::move(object));
  }
  return list;
}

Json to_json(const Taskset& taskset, const TaskResult& result, bool explain) {
  const Task& task = taskset.tasks[result.task];
  Json object;
  object["task"] = task.name;
  object["schedulable"] = result.schedulable();
  object["outcome"] = to_string(result.outcome);
  object["bound_ns"] = result.bound ? Json(result.bound->count()) : Json(nullptr);
  object["deadline_ns"] = task.deadline.count();
  set_unless_empty(object, "reason", result.reason);
  object["terms"] = terms(result);
  if (explain) object["contributions"] = contributions(taskset, result);
  return object;
}

// Of the tasks that use the GPU, best-effort ones included.
Json stream_levels(const Taskset& taskset, const AnalysisResult& result) {
  Json object = Json::object();
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (uses_gpu(taskset.tasks[task])) object[taskset.tasks[task].name] = result.stream_levels[task];
  }
  return object;
}

void add_sm_partition(Json& object, const Taskset& taskset, const SmPartition& partition) {
  object["sm_search"] = search_label(partition.search);
  object["sm_search_method"] = to_string(partition.method);
  object["sms"] = Json::object();
  for (TaskIndex task = 0; task < taskset.tasks.size(); ++task) {
    if (partition.sms[task] > 0) object["sms"][taskset.tasks[task].name] = partition.sms[task];
  }
}

void add_result(Json& object, const Taskset& taskset, const AnalysisResult& result, bool explain) {
  object["schedulable"] = result.schedulable;
  object["jitter"] = to_string(result.jitter);
  object["gpu_priorities"] = result.gpu_priority_search == SearchOutcome::found ? "search" : "file";
  object["gpu_priority_search"] = search_label(result.gpu_priority_search);
  object["gpu_priority_order"] = Json::array();
  for (const TaskIndex task : result.gpu_priority_order) {
    object["gpu_priority_order"].push_back(taskset.tasks[task].name);
  }
  if (!result.stream_levels.empty()) object["stream_levels"] = stream_levels(taskset, result);
  if (!result.sm_partition.sms.empty()) add_sm_partition(object, taskset, result.sm_partition);
  object["tasks"] = Json::array();
  for (const TaskResult& task : result.tasks) object["tasks"].push_back(to_json(taskset, task, explain));
}

Json to_json(const Taskset& taskset, const Answer& answer) {
  Json object;
  object["policy"] = to_string(answer.options.policy);
  object["wait"] = wait_label(answer);
  object["variant"] = to_string(answer.options.variant);
  object["label"] = trust_label(answer.options.variant);
  if (answer.result) {
    add_result(object, taskset, *answer.result, answer.options.explain);
  } else {
    object["schedulable"] = false;
    object["error"] = to_json(answer.result.errors().front());
  }
  return object;
}

Json header(std::string_view source) {
  Json object;
  object["rtgpu_result"] = 1;
  object["command"] = "analyze";
  object["taskset"] = source;
  return object;
}

void add_errors(Json& object, const Errors& errors) {
  object["error"] = to_json(errors.front());
  if (errors.size() > 1) object["errors"] = to_json(errors);
}

}  // namespace

void append_json(std::string& out, const DocumentReport& report) {
  const bool line = report.id.one_of_many;
  Json object = header(report.id.source);
  if (line) object["index"] = report.id.index;
  const std::vector<std::string> told = notes(report.loaded);
  if (!told.empty()) object["notes"] = told;
  object["results"] = Json::array();
  for (const Answer& answer : report.answers) object["results"].push_back(to_json(report.loaded.taskset, answer));
  out += dump(object, line ? -1 : 2);
  out += '\n';
}

void append_json(std::string& out, const DocumentFailure& failure) {
  Json object = header(failure.id.source);
  object["index"] = failure.id.index;
  add_errors(object, failure.errors);
  out += dump(object, -1);
  out += '\n';
}

std::string error_members(const Errors& errors) {
  Json object;
  add_errors(object, errors);
  const std::string text = dump(object, -1);
  return text.substr(1, text.size() - 2);
}

std::string json_string(const std::string& text) {
  return dump(Json(text), -1);
}

}  // namespace rtgpu
