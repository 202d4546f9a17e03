#include "tools/format/run.h"
#include "tools/format/simulation_report.h"

#include <optional>

#include <nlohmann/json.hpp>

namespace rtgpu {
namespace {

// Keeps the order of keys.
using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<Duration>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}

Json to_json(const Histogram& times) {
  const bool any = times.count() > 0;
  Json object;
  object["count"] = times.count();
  object["p50_ns"] = any ? number_or_null(times.percentile(500)) : Json(nullptr);
  object["p99_ns"] = any ? number_or_null(times.percentile(990)) : Json(nullptr);
  object["p999_ns"] = any ? number_or_null(times.percentile(999)) : Json(nullptr);
  object["max_ns"] = any ? number_or_null(times.max()) : Json(nullptr);
  return object;
}

Json share_of_bound(const TaskReport& task) {
  if (!task.bound || *task.bound <= Duration() || task.seen.response.count() == 0) return nullptr;
  return static_cast<double>(task.seen.response.max().count()) / static_cast<double>(task.bound->count());
}

Json to_json(const TaskReport& task) {
  const TaskStatistics& seen = task.seen;
  const bool any = seen.response.count() > 0;
  Json object;
  object["task"] = task.name;
  object["jobs"] = seen.jobs;
  object["misses"] = seen.misses;
  object["min_response_ns"] = any ? number_or_null(seen.response.min()) : Json(nullptr);
  object["mean_response_ns"] = number_or_null(seen.response.mean());
  object["p999_response_ns"] = any ? number_or_null(seen.response.percentile(999)) : Json(nullptr);
  object["max_response_ns"] = any ? number_or_null(seen.response.max()) : Json(nullptr);
  object["job"] = any ? Json(seen.longest_job) : Json(nullptr);
  object["deadline_ns"] = task.best_effort ? Json(nullptr) : Json(task.deadline.count());
  object["best_effort"] = task.best_effort;
  object["bound_ns"] = number_or_null(task.bound);
  object["observed_over_bound"] = share_of_bound(task);
  object["release_jitter"] = to_json(seen.release_latency);
  object["grant"] = to_json(seen.grant_latency);
  object["completion"] = to_json(seen.completion_latency);
  object["skipped"] = seen.skipped;
  object["aborted"] = seen.aborted;
  object["budget_overruns"] = seen.budget_overruns;
  object["gpu_failures"] = seen.gpu_failures;
  object["faults"] = seen.faults;
  if (seen.faults > 0) object["last_fault"] = seen.last_fault;
  object["thread_died"] = seen.thread_died;
  return object;
}

Json to_json(const RealtimeItem& item) {
  return {{"what", item.what}, {"asked", item.asked},   {"granted", item.granted},
          {"ok", item.ok},     {"reason", item.reason}, {"mend", item.mend}};
}

Json answer_of(const RunResult& result) {
  Json object;
  object["policy"] = to_string(result.report.policy);
  object["wait"] = to_string(result.wait);
  object["device"] = result.device;
  object["device_name"] = result.report.device;
  object["misses"] = result.report.misses();
  object["bounds_exceeded"] = result.exceeded();
  object["device_lost"] = result.report.device_lost;
  const RunOverheads overheads = overheads_of(result.report);
  object["overheads"] = {{"grant", to_json(overheads.grant)}, {"completion", to_json(overheads.completion)}};
  object["tasks"] = Json::array();
  for (std::size_t index = 0; index < result.report.tasks.size(); ++index) {
    const TaskReport& report = result.report.tasks[index];
    Json task = to_json(report);
    if (index < result.declared_bounds.size()) {
      task["declared_bound_ns"] = number_or_null(result.declared_bounds[index]);
    }
    if (result.report.policy == Policy::stream_priority) task["stream_level"] = report.stream_level;
    object["tasks"].push_back(std::move(task));
  }
  return object;
}

}  // namespace

void append_json(std::string& out, const RunResult& result) {
  Json object;
  object["rtgpu_result"] = 1;
  object["command"] = "run";
  object["taskset"] = result.source;
  object["duration_ns"] = result.duration.count();
  object["length_ns"] = result.report.length.count();
  object["virtual_time"] = result.report.virtual_time;
  object["interrupted"] = result.interrupted;
  object["trial"] = result.trial;
  object["seed"] = result.choices.seed;
  object["releases"] = to_string(result.choices.releases);
  object["execution"] = to_string(result.choices.execution);
  object["check_bounds"] = result.check_bounds;
  object["yes"] = result.is_yes();
  if (!result.notes.empty()) object["notes"] = result.notes;
  if (result.report.trace_events_dropped > 0) object["trace_events_dropped"] = result.report.trace_events_dropped;
  object["results"] = Json::array({answer_of(result)});
  object["realtime"] = Json::array();
  for (const RealtimeItem& item : result.report.realtime.items) object["realtime"].push_back(to_json(item));
  out += object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace rtgpu
