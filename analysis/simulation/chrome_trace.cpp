#include "analysis/simulation/chrome_trace.h"

#include "analysis/simulation/activity.h"
#include "taskset/json_text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// The processes of the trace: groups of lanes.
constexpr int kTasks = 1;
constexpr int kCores = 2;
constexpr int kDevices = 3;
// The lanes of the devices.
constexpr std::int64_t kGpuLane = 1;
constexpr std::int64_t kFirstCopyLane = 2;
constexpr std::int64_t kFirstExtraLane = 100;
constexpr std::int64_t kFirstPartitionLane = 1000;  // of the SMs of a task

std::string json_of(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// Nanoseconds as microseconds.
std::string microseconds(Duration time) {
  const std::int64_t count = time.count();
  return fmt::format("{}{}.{:03}", count < 0 ? "-" : "", std::abs(count / 1000), std::abs(count % 1000));
}

// Arguments of an event that are there only if all are.
void append(std::string& arguments, const std::string& more) {
  if (!arguments.empty() && !more.empty()) arguments += ',';
  arguments += more;
}

class TraceWriter {
 public:
  TraceWriter(std::ostream& out, const Schedule& schedule, const Taskset& taskset, const ChromeTraceExtras& extras)
      : out_(out), schedule_(schedule), taskset_(taskset), extras_(extras) {
    for (const Task& task : taskset.tasks) names_.push_back(json_of(task.name));
  }

  void write(const std::string& title) {
    std::string other = R"("title":)" + json_of(title);
    append(other, extras_.other_data);
    if (extras_.exact) append(other, fmt::format(R"("end_ns":{})", schedule_.end.count()));
    out_ << R"({"displayTimeUnit":"ns","otherData":{)" << other << R"(},"traceEvents":[)";
    name_lanes();
    write_activities();
    write_devices();
    write_jobs();
    for (const ChromeInstant& each : extras_.instants) {
      instant(json_of(each.name), "run", each.task, each.when, each.arguments);
    }
    write_spans();
    out_ << "\n]}\n";
  }

 private:
  void event(const std::string& text) {
    out_ << (first_ ? "\n" : ",\n") << text;
    first_ = false;
  }

  void name_process(int process, std::string_view name) {
    event(fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"tid":0,"args":{{"name":"{}"}}}})", process, name));
    event(fmt::format(R"({{"name":"process_sort_index","ph":"M","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})",
                      process));
  }

  void name_lane(int process, std::int64_t lane, std::string_view json_name) {
    event(fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", process, lane,
                      json_name));
    event(fmt::format(R"({{"name":"thread_sort_index","ph":"M","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                      process, lane, lane));
  }

  void name_lanes() {
    name_process(kTasks, "Tasks");
    name_process(kCores, "Cores");
    name_process(kDevices, "GPU");
    for (std::size_t task = 0; task < names_.size(); ++task) {
      name_lane(kTasks, lane_of(task), names_[task]);
    }
    std::vector<bool> used(static_cast<std::size_t>(taskset_.platform.cpus), false);
    for (const Task& task : taskset_.tasks) used[static_cast<std::size_t>(task.cpu)] = true;
    for (const CoreInterval& run : schedule_.cores) used[static_cast<std::size_t>(run.core)] = true;
    for (std::size_t core = 0; core < used.size(); ++core) {
      if (used[core]) name_lane(kCores, lane_of(core), fmt::format("\"core {}\"", core));
    }
    if (schedule_.sm_partitions) {
      for (std::size_t task = 0; task < names_.size(); ++task) {
        if (!uses_gpu(taskset_.tasks[task])) continue;
        name_lane(kDevices, partition_lane(task), json_of("SMs of " + taskset_.tasks[task].name));
      }
    } else {
      name_lane(kDevices, kGpuLane, json_of(taskset_.platform.gpus.front().name));
    }
    int engines = 0;
    for (const CopyInterval& copy : schedule_.copies) engines = std::max(engines, copy.engine + 1);
    for (int engine = 0; engine < engines; ++engine) {
      name_lane(kDevices, kFirstCopyLane + engine, fmt::format("\"copy engine {}\"", engine));
    }
  }

  static std::int64_t lane_of(std::size_t index) { return static_cast<std::int64_t>(index) + 1; }
  static std::int64_t partition_lane(std::size_t task) { return kFirstPartitionLane + static_cast<std::int64_t>(task); }

  void complete(std::string_view json_name, std::string_view category, int process, std::int64_t lane, Duration begin,
                Duration end, std::string_view arguments) {
    event(fmt::format(R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})",
                      json_name, category, process, lane, microseconds(begin), microseconds(end - begin), arguments));
  }

  // A task's lane, and what it does on its core in the core's lane.
  void write_activities() {
    for (const auto& of_task : activities(schedule_, names_.size(), extras_.exact)) {
      for (const ActivityInterval& each : of_task) write_activity(each);
    }
  }

  void write_activity(const ActivityInterval& each) {
    const std::string state = fmt::format("\"{}\"", to_string(each.activity));
    std::string arguments = fmt::format(R"("job":{},"segment":{})", each.job, each.segment);
    if (each.boosted) arguments += R"(,"boosted":true)";
    if (each.holds_core && waits(each)) arguments += R"(,"holds_core":true)";
    if (each.by_server) arguments += R"(,"by_server":true)";
    if (extras_.exact) arguments += fmt::format(R"(,"task":{},"job_state":"{}")", each.task, to_string(each.state));
    complete(state, "task", kTasks, lane_of(each.task), each.begin, each.end, arguments);
    arguments.append(R"(,"state":)").append(state);
    if (each.by_server) write_on_core(each, taskset_.platform.gpus.front().server_cpu, arguments);
    if (each.holds_core) write_on_core(each, taskset_.tasks[each.task].cpu, arguments);
  }

  void write_on_core(const ActivityInterval& each, int core, std::string arguments) {
    if (extras_.exact) arguments += fmt::format(R"(,"core":{})", core);
    complete(names_[each.task], "core", kCores, core + 1, each.begin, each.end, arguments);
  }

  static bool waits(const ActivityInterval& each) {
    const bool works =
        each.activity == Activity::cpu || each.activity == Activity::misc || each.activity == Activity::call;
    return each.by_server || !works;
  }

  void write_devices() {
    for (const GpuInterval& each : schedule_.gpu) {
      const std::string name = each.switching ? "\"context switch\"" : names_[each.task];
      std::string arguments = each.switching ? R"("to":)" + names_[each.task] : "";
      if (extras_.exact) append(arguments, fmt::format(R"("task":{},"switching":{})", each.task, each.switching));
      const std::int64_t lane = schedule_.sm_partitions ? partition_lane(each.task) : kGpuLane;
      complete(name, "gpu", kDevices, lane, each.begin, each.end, arguments);
    }
    for (const CopyInterval& each : schedule_.copies) {
      const std::string arguments =
          extras_.exact ? fmt::format(R"("task":{},"engine":{})", each.task, each.engine) : "";
      complete(names_[each.task], "copy", kDevices, kFirstCopyLane + each.engine, each.begin, each.end, arguments);
    }
  }

  void write_spans() {
    std::map<std::string, std::int64_t> lanes;
    for (const ChromeSpan& each : extras_.spans) {
      const auto [lane, is_new] =
          lanes.try_emplace(each.lane, kFirstExtraLane + static_cast<std::int64_t>(lanes.size()));
      if (is_new) name_lane(kDevices, lane->second, json_of(each.lane));
      complete(names_[each.task], each.category, kDevices, lane->second, each.begin, each.end, each.arguments);
    }
  }

  void instant(std::string_view json_name, std::string_view category, TaskIndex task, Duration at,
               std::string_view arguments) {
    event(fmt::format(R"({{"name":{},"cat":"{}","ph":"i","s":"t","pid":{},"tid":{},"ts":{},"args":{{{}}}}})", json_name,
                      category, kTasks, lane_of(task), microseconds(at), arguments));
  }

  // The record of a job.
  std::string record_of(const JobRecord& job) const {
    std::string record = fmt::format(R"(,"task":{},"nominal_ns":{},"release_ns":{},"missed":{})", job.task,
                                     job.nominal_release.count(), job.release.count(), job.missed);
    if (!job.completion.is_infinite()) record += fmt::format(R"(,"completion_ns":{})", job.completion.count());
    return record;
  }

  void write_jobs() {
    for (const JobRecord& job : schedule_.jobs) {
      const Task& task = taskset_.tasks[job.task];
      const std::string arguments = fmt::format(R"("job":{})", job.job);
      const auto mark = [&](std::string_view json_name, Duration at, std::string_view text) {
        instant(json_name, "job", job.task, at, text);
      };
      mark(R"("release")", job.nominal_release, extras_.exact ? arguments + record_of(job) : arguments);
      if (job.release != job.nominal_release) mark(R"("release after jitter")", job.release, arguments);
      const Duration deadline = job.nominal_release + task.deadline;
      if (!task.best_effort) mark(R"("deadline")", deadline, arguments);
      if (job.missed) mark(R"("deadline missed")", deadline, arguments);
      if (!job.completion.is_infinite()) {
        const Duration response = job.completion - job.nominal_release;
        mark(R"("completion")", job.completion, arguments + fmt::format(R"(,"response_ns":{})", response.count()));
      }
    }
  }

  std::ostream& out_;
  const Schedule& schedule_;
  const Taskset& taskset_;
  const ChromeTraceExtras& extras_;
  std::vector<std::string> names_;  // of the tasks, as JSON
  bool first_ = true;
};

}  // namespace

void write_chrome_trace(std::ostream& out, const Schedule& schedule, const Taskset& taskset, const std::string& title,
                        const ChromeTraceExtras& extras) {
  TraceWriter(out, schedule, taskset, extras).write(title);
}

}  // namespace rtgpu
