#include "taskset/exporters/jobs_csv.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// A real-time task with what its jobs need.
struct JobSource {
  const Task* task = nullptr;
  ExecutionTime cost;
  std::size_t number = 0;  // of the task, from 1
  std::size_t rank = 0;    // of its priority, from 1
};

Result<std::vector<JobSource>> job_sources(const Taskset& taskset) {
  std::vector<JobSource> sources;
  for (std::size_t index = 0; index < taskset.tasks.size(); ++index) {
    const Task& task = taskset.tasks[index];
    if (task.best_effort) continue;
    const Result<ExecutionTime> cost = time_of_all(task, taskset.platform.gpus.front());
    if (!cost) {
      Errors errors = cost.errors();
      errors.front().place.pointer = fmt::format("/tasks/{}", index);
      return errors;
    }
    sources.push_back({&task, *cost, index + 1, 0});
  }
  std::vector<JobSource*> order;
  for (JobSource& source : sources) order.push_back(&source);
  std::stable_sort(order.begin(), order.end(),
                   [](const JobSource* a, const JobSource* b) { return a->task->priority > b->task->priority; });
  std::size_t rank = 0;
  for (JobSource* source : order) source->rank = ++rank;
  return sources;
}

// Infinite if it cannot be told.
Duration hyperperiod_of(const std::vector<JobSource>& sources) {
  Duration common = Duration::nanoseconds(1);
  for (const JobSource& source : sources) {
    if (common.is_infinite()) return common;
    const std::int64_t period = source.task->period.count();
    common = common * (period / std::gcd(common.count(), period));
  }
  return common;
}

std::int64_t count_jobs(const std::vector<JobSource>& sources, Duration hyperperiod) {
  std::int64_t jobs = 0;
  for (const JobSource& source : sources) {
    jobs += std::min(hyperperiod.count() / source.task->period.count(), kMaxExportedJobs + 1);
  }
  return jobs;
}

Error export_error(ErrorCode code, std::string found, std::string expected, std::string advice) {
  return Error{code, {}, std::move(found), std::move(expected), std::move(advice)};
}

void append_jobs(std::string& text, const std::vector<JobSource>& sources, Duration hyperperiod, TimeUnit unit) {
  const auto whole = [length = length_of(unit)](Duration time) { return time.count() / length; };
  std::size_t job = 0;
  for (const JobSource& source : sources) {
    for (Duration release; release < hyperperiod; release += source.task->period) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{}\n", source.number, ++job, whole(release),
                     whole(release + source.task->jitter), whole(source.cost.min), whole(source.cost.max),
                     whole(release + source.task->deadline), source.rank);
    }
  }
}

}  // namespace

Result<Exported> export_jobs_csv(const Taskset& taskset, const ExportOptions& options) {
  const Result<std::vector<JobSource>> sources = job_sources(taskset);
  if (!sources) return sources.errors();
  if (sources->empty()) {
    return export_error(ErrorCode::unsupported, "best-effort tasks only", "at least one real-time task", "");
  }
  const Duration hyperperiod = hyperperiod_of(*sources);
  if (hyperperiod.is_infinite() || count_jobs(*sources, hyperperiod) > kMaxExportedJobs) {
    return export_error(ErrorCode::limit, fmt::format("more than {} jobs in a hyperperiod", kMaxExportedJobs),
                        "at most that many", "Choose periods with a smaller common multiple.");
  }
  std::vector<Duration> times;
  for (const JobSource& source : *sources) {
    const Task& task = *source.task;
    times.insert(times.end(), {task.period, task.deadline, task.jitter, source.cost.min, source.cost.max});
  }
  const Result<TimeUnit> unit = unit_for(times, options);
  if (!unit) return unit.errors();
  Exported exported;
  exported.text = "Task ID, Job ID, Arrival min, Arrival max, Cost min, Cost max, Deadline, Priority\n";
  append_jobs(exported.text, *sources, hyperperiod, *unit);
  exported.notes = lost_properties(taskset);
  exported.notes.push_back(fmt::format("times are in {}", to_string(*unit)));
  exported.notes.emplace_back("cores are left out, and jobs are not preempted there");
  if (std::ranges::any_of(taskset.tasks, uses_gpu)) {
    exported.notes.emplace_back("GPU segments count as time of the job, as if it held its core and had the GPU alone");
  }
  return exported;
}

}  // namespace rtgpu
