#include "taskset/importers/gcaps_csv.h"

#include "taskset/generators/drawn_tasks.h"
#include "taskset/importers/csv.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr std::array<std::string_view, 4> kGcapsHeader = {"taskid", "workload", "period", "wcet"};
constexpr std::array<std::int64_t, 2> kCpuWorkloads = {0, 1};
constexpr std::array<std::int64_t, 5> kGpuWorkloads = {2, 3, 4, 5, 8};
// The case study runs the task of this number without a deadline, on a core of its own.
constexpr std::int64_t kBestEffortTask = 6;

class GcapsTable {
 public:
  explicit GcapsTable(FileValues& values) : values_(values) {}

  void read(std::string_view text) {
    const std::vector<CsvRow> rows = read_csv(text, kGcapsHeader.size(), values_);
    if (!check_header(rows)) return;
    for (std::size_t row = 1; row < rows.size(); ++row) read_task(rows[row]);
  }

  Taskset& taskset() { return taskset_; }
  std::vector<std::string> notes() const;

 private:
  bool check_header(const std::vector<CsvRow>& rows) {
    const auto matches = [](const FileValue& field, std::string_view name) { return field.text == name; };
    if (!rows.empty() &&
        std::equal(rows[0].fields.begin(), rows[0].fields.end(), kGcapsHeader.begin(), kGcapsHeader.end(), matches)) {
      if (rows.size() == 1)
        values_.reject({"", rows[0].line, 1}, ErrorCode::missing, "no task", "a line for each task");
      return true;
    }
    if (!values_.sound()) return false;
    const FileValue at = rows.empty() ? FileValue{"", 1, 1} : rows[0].fields[0];
    values_.reject(at, ErrorCode::syntax, rows.empty() ? "no table" : "another header",
                   fmt::format("the header {}", fmt::join(kGcapsHeader, ",")));
    return false;
  }

  void read_task(const CsvRow& row) {
    if (row.fields.size() > kGcapsHeader.size()) {
      return values_.reject(row.fields[kGcapsHeader.size()], ErrorCode::value,
                            fmt::format("{} fields", row.fields.size()), fmt::format("{}", kGcapsHeader.size()));
    }
    const std::int64_t id = values_.integer(row.fields[0], "taskid", kIndexRange);
    if (!ids_.insert(id).second) {
      values_.reject(row.fields[0], ErrorCode::conflict, fmt::format("the taskid {} a second time", id),
                     "a number of its own for each task");
    }
    const bool on_gpu = uses_gpu_of(row.fields[1]);
    Task task;
    task.name = fmt::format("task{}", id);
    task.period = values_.time(row.fields[2], "period", Rounding::down, Duration::nanoseconds(1));
    task.deadline = task.period;
    const Duration wcet = values_.time(row.fields[3], "wcet", Rounding::up);
    if (on_gpu) {
      GpuSegment segment;
      segment.exec = ExecutionTime{wcet, wcet};
      task.segments = {segment};
      ++gpu_tasks_;
    } else {
      task.segments = {CpuSegment{{wcet, wcet}}};
    }
    taskset_.tasks.push_back(std::move(task));
  }

  bool uses_gpu_of(const FileValue& field) {
    const std::int64_t workload = values_.integer(field, "workload", kIndexRange);
    if (std::ranges::find(kGpuWorkloads, workload) != kGpuWorkloads.end()) return true;
    if (std::ranges::find(kCpuWorkloads, workload) == kCpuWorkloads.end()) {
      values_.reject(field, ErrorCode::value, value_as(field, "workload"),
                     fmt::format("{} (on a core) or {} (on the GPU)", fmt::join(kCpuWorkloads, ", "),
                                 fmt::join(kGpuWorkloads, ", ")));
    }
    return false;
  }

  FileValues& values_;
  Taskset taskset_;
  std::set<std::int64_t> ids_;
  std::size_t gpu_tasks_ = 0;
};

std::vector<std::string> GcapsTable::notes() const {
  std::vector<std::string> notes = {
      "priorities are assigned rate-monotonically, cores worst-fit in the order of the file"};
  if (gpu_tasks_ > 0) {
    notes.push_back(fmt::format(
        "the format does not divide the time of a task: all of it is exec of one GPU segment ({} tasks)", gpu_tasks_));
  }
  if (ids_.contains(kBestEffortTask)) {
    notes.push_back(
        fmt::format("the case study runs task{} as best-effort, on a core of its own; here it is like the others",
                    kBestEffortTask));
  }
  return notes;
}

}  // namespace

Result<Imported> import_gcaps_csv(std::string_view text, const std::string& source, const ImportOptions& options) {
  FileValues values(source, TimeUnit::ms);
  GcapsTable table(values);
  table.read(text);
  if (!values.sound()) return values.take();
  assign_rate_monotonic(table.taskset());
  place_in_order(table.taskset(), options.cpus);
  return imported({std::move(table.taskset())}, table.notes(), source);
}

}  // namespace rtgpu
