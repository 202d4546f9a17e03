#include "tools/format/csv.h"
#include "tools/format/run.h"
#include "tools/format/simulation_report.h"

#include <optional>
#include <string_view>
#include <vector>

namespace rtgpu {
namespace {

struct Field {
  std::string_view column;
  std::string value;
};

std::string nanoseconds(const std::optional<Duration>& time) {
  return time ? std::to_string(time->count()) : std::string();
}

// Percentile and maximum.
void add_times(std::vector<Field>& fields, std::string_view percentile, std::string_view max, const Histogram& times) {
  const bool any = times.count() > 0;
  fields.push_back({percentile, any ? nanoseconds(times.percentile(999)) : std::string()});
  fields.push_back({max, any ? nanoseconds(times.max()) : std::string()});
}

std::vector<Field> fields_of(const RunResult& result, const TaskReport& task) {
  const TaskStatistics& seen = task.seen;
  const bool any = seen.response.count() > 0;
  std::vector<Field> fields = {
      {"taskset", result.source},
      {"policy", std::string(to_string(result.report.policy))},
      {"wait", std::string(to_string(result.wait))},
      {"task", task.name},
      {"jobs", std::to_string(seen.jobs)},
      {"misses", std::to_string(seen.misses)},
      {"min_response_ns", any ? nanoseconds(seen.response.min()) : std::string()},
      {"mean_response_ns", nanoseconds(seen.response.mean())},
  };
  add_times(fields, "p999_response_ns", "max_response_ns", seen.response);
  fields.push_back({"deadline_ns", task.best_effort ? std::string() : nanoseconds(task.deadline)});
  fields.push_back({"bound_ns", nanoseconds(task.bound)});
  fields.push_back({"observed_over_bound", any ? observed_over_bound(task.bound, seen.response.max()) : std::string()});
  add_times(fields, "p999_release_jitter_ns", "max_release_jitter_ns", seen.release_latency);
  add_times(fields, "p999_grant_ns", "max_grant_ns", seen.grant_latency);
  add_times(fields, "p999_completion_ns", "max_completion_ns", seen.completion_latency);
  fields.push_back({"skipped", std::to_string(seen.skipped)});
  fields.push_back({"aborted", std::to_string(seen.aborted)});
  fields.push_back({"gpu_failures", std::to_string(seen.gpu_failures)});
  fields.push_back({"faults", std::to_string(seen.faults)});
  return fields;
}

}  // namespace

void append_csv(std::string& out, const RunResult& result) {
  const char* separator = "";
  for (const Field& field : fields_of(result, TaskReport{})) {
    out.append(separator).append(field.column);
    separator = ",";
  }
  out += '\n';
  for (const TaskReport& task : result.report.tasks) {
    separator = "";
    for (const Field& field : fields_of(result, task)) {
      out += separator;
      append_csv_field(out, field.value);
      separator = ",";
    }
    out += '\n';
  }
}

}  // namespace rtgpu
