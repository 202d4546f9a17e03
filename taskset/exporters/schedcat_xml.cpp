#include "taskset/exporters/schedcat_xml.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// What SchedCAT is told of a task.
struct SchedcatTask {
  const Task* task = nullptr;
  std::size_t number = 0;  // from 1
  Duration wcet;
  std::size_t sections = 0;
  Duration longest_section;
};

Result<SchedcatTask> schedcat_task(const Task& task, std::size_t number, const Gpu& gpu) {
  SchedcatTask told{&task, number, {}, 0, {}};
  for (const Segment& segment : task.segments) {
    if (const auto* on_gpu = std::get_if<GpuSegment>(&segment)) {
      const Result<ExecutionTime> time = gpu_time(*on_gpu, gpu);
      if (!time) return time.errors();
      ++told.sections;
      told.longest_section = std::max(told.longest_section, time->max);
    }
  }
  const Result<ExecutionTime> all = time_of_all(task, gpu);
  if (!all) return all.errors();
  told.wcet = all->max;
  return told;
}

Result<std::vector<SchedcatTask>> schedcat_tasks(const Taskset& taskset) {
  std::vector<SchedcatTask> tasks;
  for (std::size_t index = 0; index < taskset.tasks.size(); ++index) {
    const Task& task = taskset.tasks[index];
    if (task.best_effort) continue;
    const Result<SchedcatTask> told = schedcat_task(task, index + 1, taskset.platform.gpus.front());
    if (!told) {
      Errors errors = told.errors();
      errors.front().place.pointer = fmt::format("/tasks/{}", index);
      return errors;
    }
    tasks.push_back(*told);
  }
  return tasks;
}

void append_taskset(std::string& text, const std::vector<SchedcatTask>& tasks, TimeUnit unit) {
  const auto whole = [length = length_of(unit)](Duration time) { return time.count() / length; };
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "<taskset>\n");
  for (const SchedcatTask& each : tasks) {
    const Task& task = *each.task;
    fmt::format_to(out, R"(  <task id="{}" period="{}" wcet="{}")", each.number, whole(task.period), whole(each.wcet));
    if (task.deadline != task.period) fmt::format_to(out, R"( deadline="{}")", whole(task.deadline));
    fmt::format_to(out, R"( partition="{}")", task.cpu);
    if (each.sections == 0) {
      fmt::format_to(out, "/>\n");
      continue;
    }
    fmt::format_to(out,
                   ">\n    <resources>\n      <requirement res_id=\"0\" max_reads=\"0\" max_writes=\"{}\" "
                   "max_read_length=\"0\" max_write_length=\"{}\"/>\n    </resources>\n  </task>\n",
                   each.sections, whole(each.longest_section));
  }
  fmt::format_to(out, "</taskset>\n");
}

void add_times(std::vector<Duration>& times, const std::vector<SchedcatTask>& tasks) {
  for (const SchedcatTask& each : tasks) {
    times.insert(times.end(), {each.task->period, each.task->deadline, each.wcet, each.longest_section});
  }
}

std::vector<std::string> schedcat_notes(std::span<const Taskset> tasksets, TimeUnit unit) {
  std::vector<std::string> notes = {fmt::format("times are in {}", to_string(unit)),
                                    "priorities, best cases and ways to wait are left out"};
  std::set<std::string> lost;
  bool gpu = false;
  bool jitter = false;
  for (const Taskset& taskset : tasksets) {
    for (const std::string& each : lost_properties(taskset)) lost.insert(each);
    gpu = gpu || std::ranges::any_of(taskset.tasks, uses_gpu);
    jitter = jitter || std::ranges::any_of(taskset.tasks, [](const Task& task) { return task.jitter != Duration(); });
  }
  notes.insert(notes.end(), lost.begin(), lost.end());
  if (gpu) notes.emplace_back("the GPU is the resource 0; of each task every section has the length of the longest");
  if (jitter) notes.emplace_back("release jitter is left out");
  return notes;
}

}  // namespace

Result<Exported> export_schedcat_xml(std::span<const Taskset> tasksets, const ExportOptions& options) {
  std::vector<std::vector<SchedcatTask>> all;
  std::vector<Duration> times;
  for (const Taskset& taskset : tasksets) {
    Result<std::vector<SchedcatTask>> tasks = schedcat_tasks(taskset);
    if (!tasks) return tasks.errors();
    add_times(times, *tasks);
    all.push_back(*std::move(tasks));
  }
  const Result<TimeUnit> unit = unit_for(times, options);
  if (!unit) return unit.errors();
  Exported exported;
  exported.text = "<?xml version=\"1.0\"?>\n";
  if (all.size() > 1) exported.text += "<testpoint>\n";
  for (const auto& tasks : all) append_taskset(exported.text, tasks, *unit);
  if (all.size() > 1) exported.text += "</testpoint>\n";
  exported.notes = schedcat_notes(tasksets, *unit);
  return exported;
}

}  // namespace rtgpu
