#include "taskset/importers/jobs_csv.h"

#include "taskset/importers/csv.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::size_t kJobColumns = 8;
constexpr IntRange kAnyInteger{std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};

struct CsvJob {
  Duration release;  // the earliest
  Duration jitter;
  ExecutionTime cost;
  Duration deadline;  // from the earliest release
  std::int64_t priority = 0;
  FileValue release_at;
  FileValue deadline_at;
};

class JobTable {
 public:
  explicit JobTable(FileValues& values) : values_(values) {}

  void read(std::string_view text);
  // Of jobs that were read without an error.
  Taskset make_taskset();
  std::vector<std::string> notes(int cpus) const;

 private:
  void read_job(const CsvRow& row);
  Task task_of(std::int64_t id, std::vector<CsvJob>& jobs);
  Duration period_of(std::int64_t id, const std::vector<CsvJob>& jobs);
  void rank(Taskset& taskset);

  FileValues& values_;
  std::map<std::int64_t, std::vector<CsvJob>> tasks_;  // by number
  std::set<std::pair<std::int64_t, std::int64_t>> jobs_;
  std::size_t single_jobs_ = 0;
  bool job_priorities_ = false;
};

void JobTable::read(std::string_view text) {
  const std::vector<CsvRow> rows = read_csv(text, kJobColumns, values_);
  if (rows.empty()) {
    if (values_.sound()) values_.reject({"", 1, 1}, ErrorCode::syntax, "no table", "a header and a line for each job");
    return;
  }
  const FileValue& first = rows[0].fields[0];
  if (first.text.find_first_not_of("-0123456789") == std::string_view::npos) {
    values_.reject(
        first, ErrorCode::syntax, fmt::format("{} on the first line", value_as(first, "task")),
        "a header, such as Task ID, Job ID, Arrival min, Arrival max, Cost min, Cost max, Deadline, Priority");
  }
  if (rows.size() == 1) values_.reject({"", rows[0].line, 1}, ErrorCode::missing, "no job", "a line for each job");
  for (std::size_t row = 1; row < rows.size(); ++row) read_job(rows[row]);
}

void JobTable::read_job(const CsvRow& row) {
  const std::vector<FileValue>& fields = row.fields;
  const std::int64_t task = values_.integer(fields[0], "task", kIndexRange);
  const std::int64_t number = values_.integer(fields[1], "job", kIndexRange);
  if (!jobs_.emplace(task, number).second) {
    values_.reject(fields[1], ErrorCode::conflict, fmt::format("job {} of task {} a second time", number, task),
                   "a number of its own for each job of a task");
  }
  CsvJob job;
  job.release = values_.time(fields[2], "earliest release", Rounding::down);
  const Duration latest = values_.time(fields[3], "latest release", Rounding::up);
  job.cost.min = values_.time(fields[4], "least cost", Rounding::down);
  job.cost.max = values_.time(fields[5], "greatest cost", Rounding::up);
  const Duration deadline = values_.time(fields[6], "deadline", Rounding::down);
  job.priority = values_.integer(fields[7], "priority", kAnyInteger);
  job.release_at = fields[2];
  job.deadline_at = fields[6];
  if (!values_.sound()) return;
  if (latest < job.release) {
    values_.reject(fields[3], ErrorCode::conflict, value_as(fields[3], "latest release"),
                   fmt::format("at least the earliest, {}", fields[2].text));
  }
  if (job.cost.max < job.cost.min) {
    values_.reject(fields[5], ErrorCode::conflict, value_as(fields[5], "greatest cost"),
                   fmt::format("at least the least, {}", fields[4].text));
  }
  if (deadline <= job.release) {
    values_.reject(fields[6], ErrorCode::conflict, value_as(fields[6], "deadline"),
                   fmt::format("a time after the release, {}", fields[2].text), "Deadlines of jobs are absolute.");
  }
  job.jitter = latest - job.release;
  job.deadline = deadline - job.release;
  tasks_[task].push_back(job);
}

Duration JobTable::period_of(std::int64_t id, const std::vector<CsvJob>& jobs) {
  Duration period = Duration::infinite();
  for (std::size_t next = 1; next < jobs.size(); ++next) {
    const Duration apart = jobs[next].release - jobs[next - 1].release;
    if (apart == Duration()) {
      values_.reject(jobs[next].release_at, ErrorCode::unsupported,
                     fmt::format("two jobs of task {} released at once", id), "a time between any two of them",
                     "Jobs that are parts of one, as of a graph, have no counterpart.");
      return Duration::infinite();
    }
    period = std::min(period, apart);
  }
  return period;
}

Task JobTable::task_of(std::int64_t id, std::vector<CsvJob>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const CsvJob& a, const CsvJob& b) { return a.release < b.release; });
  const auto tightest = std::min_element(jobs.begin(), jobs.end(),
                                         [](const CsvJob& a, const CsvJob& b) { return a.deadline < b.deadline; });
  Task task;
  task.name = fmt::format("task{}", id);
  task.deadline = tightest->deadline;
  task.period = jobs.size() == 1 ? task.deadline : period_of(id, jobs);
  if (jobs.size() == 1) ++single_jobs_;
  if (task.deadline > task.period) {
    values_.reject(
        tightest->deadline_at, ErrorCode::unsupported,
        fmt::format("a deadline {} after the release, as the shortest of task {}", to_string(task.deadline), id),
        fmt::format("at most the shortest distance of its releases, {}", to_string(task.period)));
  }
  ExecutionTime cost = jobs.front().cost;
  for (const CsvJob& job : jobs) {
    task.jitter = std::max(task.jitter, job.jitter);
    cost.min = std::min(cost.min, job.cost.min);
    cost.max = std::max(cost.max, job.cost.max);
    job_priorities_ = job_priorities_ || job.priority != jobs.front().priority;
  }
  task.segments = {CpuSegment{cost}};
  return task;
}

// Of the file where each task has one for all of its jobs.
void JobTable::rank(Taskset& taskset) {
  std::vector<std::int64_t> priorities;
  for (const auto& [id, jobs] : tasks_) priorities.push_back(jobs.front().priority);
  std::vector<std::size_t> order(priorities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return priorities[a] < priorities[b]; });
  int priority = static_cast<int>(order.size());
  for (const std::size_t task : order) taskset.tasks[task].priority = taskset.tasks[task].gpu_priority = priority--;
}

Taskset JobTable::make_taskset() {
  Taskset taskset;
  if (tasks_.size() > kMaxTasks) {
    values_.reject({}, ErrorCode::limit, fmt::format("{} tasks", tasks_.size()), fmt::format("at most {}", kMaxTasks));
    return taskset;
  }
  for (auto& [id, jobs] : tasks_) taskset.tasks.push_back(task_of(id, jobs));
  if (job_priorities_) {
    const std::vector<bool> none(taskset.tasks.size());
    assign_missing_priorities(taskset, none, none);
  } else {
    rank(taskset);
  }
  return taskset;
}

std::vector<std::string> JobTable::notes(int cpus) const {
  std::vector<std::string> notes = {
      "jobs become sporadic tasks: their offsets are left out",
      fmt::format(
          "jobs have no core and are not preempted there; here tasks are placed on {} {} worst-fit, and preempt", cpus,
          cpus == 1 ? "core" : "cores")};
  if (job_priorities_) {
    notes.emplace_back("priorities differ between jobs of a task: replaced by deadline-monotonic ones of the tasks");
  }
  if (single_jobs_ > 0) {
    notes.push_back(fmt::format("{} of {} tasks have a single job: their deadline is taken as their period",
                                single_jobs_, tasks_.size()));
  }
  return notes;
}

}  // namespace

Result<Imported> import_jobs_csv(std::string_view text, const std::string& source, const ImportOptions& options) {
  FileValues values(source, options.unit);
  JobTable table(values);
  table.read(text);
  if (!values.sound()) return values.take();
  Taskset taskset = table.make_taskset();
  if (!values.sound()) return values.take();
  place_in_order(taskset, options.cpus);
  return imported({std::move(taskset)}, table.notes(options.cpus), source);
}

}  // namespace rtgpu
