#include "taskset/validate.h"

#include "taskset/json_report.h"
#include "taskset/json_text.h"

#include <algorithm>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// Where in the equivalent document a value is: /tasks/2 or /tasks/2/segments/1/gpu.
struct Where {
  std::string_view list;
  std::size_t index = 0;
  std::string_view inner_list = {};
  std::size_t inner_index = 0;
  std::string_view tail = {};

  std::string pointer(std::string_view key) const {
    std::string text = list.empty() ? "" : fmt::format("{}/{}", list, index);
    if (!inner_list.empty()) text += fmt::format("{}/{}{}", inner_list, inner_index, tail);
    return text.append(key);
  }
};

std::string show(Duration time) {
  return time == Duration() ? "0" : to_string(time);
}
std::string show(const ExecutionTime& time) {
  return fmt::format("min {}, max {}", show(time.min), show(time.max));
}
std::string show_range(Duration low) {
  return fmt::format("a time {} 0, at most {}", low == Duration() ? "of at least" : "above", show(kMaxTime));
}

// Applies the rules that concern one value or one task.
class Checker {
 public:
  Checker(const Taskset& taskset, const RuleScope& scope, RuleErrors& out)
      : taskset_(taskset), scope_(scope), out_(out) {}

  void check();

 private:
  bool sound(std::size_t task) const { return scope_.sound.empty() || scope_.sound[task]; }
  void fail(const Where& where, std::string_view key, ErrorCode code, std::string found, std::string expected,
            std::string advice = "");

  void check_range(const Where& where, std::string_view key, std::int64_t value, const IntRange& range);
  void check_time(const Where& where, std::string_view key, Duration time, Duration least = {});
  void check_time(const Where& where, std::string_view key, const ExecutionTime& time);
  void check_name(const Where& where, const std::string& name);
  void check_cpu(const Where& where, std::string_view key, int cpu);

  void check_gpu(const Gpu& gpu, std::size_t index);
  void check_overheads(const Overheads& overheads, const Where& where);
  void check_tasks();
  void check_task(const Task& task, std::size_t index);
  void check_deadline(const Task& task, const Where& where);
  void check_segments(const Task& task, std::size_t index);
  void check_segment(const CpuSegment& segment, const Where& where);
  void check_segment(const GpuSegment& segment, const Where& where);
  void check_segment(const CopySegment& segment, const Where& where);
  void check_by_sms(const GpuSegment& segment, const Where& where);
  void check_parallel(const ParallelWork& parallel, const Where& where);

  void check_origin(const Origin& origin);
  void check_utilisations(const std::vector<std::int64_t>& values, std::string_view key);
  void check_gpu_names();
  void check_task_names();
  void check_sms();
  void check_unique(const std::vector<std::pair<std::string_view, std::size_t>>& names, std::string_view list);
  void check_priorities(bool best_effort);
  void check_gpu_priorities();
  void report_tie(std::size_t task, std::size_t other, std::string_view key, int priority);

  const Taskset& taskset_;
  const RuleScope& scope_;
  RuleErrors& out_;
};

void Checker::fail(const Where& where, std::string_view key, ErrorCode code, std::string found, std::string expected,
                   std::string advice) {
  ++out_.count;
  if (out_.errors.size() >= kMaxKeptErrors) return;
  Place place;
  place.pointer = where.pointer(key);
  out_.errors.push_back(Error{code, std::move(place), std::move(found), std::move(expected), std::move(advice)});
}

void Checker::check_range(const Where& where, std::string_view key, std::int64_t value, const IntRange& range) {
  if (range.holds(value)) return;
  fail(where, key, ErrorCode::value, std::to_string(value), describe(range));
}

void Checker::check_time(const Where& where, std::string_view key, Duration time, Duration least) {
  if (time > kMaxTime) return fail(where, key, ErrorCode::limit, show(time), show_range(least));
  if (time < least) fail(where, key, ErrorCode::value, show(time), show_range(least));
}

void Checker::check_time(const Where& where, std::string_view key, const ExecutionTime& time) {
  if (time.min < Duration()) return check_time(where, key, time.min);
  if (time.max < Duration() || time.max > kMaxTime) return check_time(where, key, time.max);
  if (time.min > time.max) fail(where, key, ErrorCode::conflict, show(time), "min not above max");
}

void Checker::check_name(const Where& where, const std::string& name) {
  if (name.empty()) return fail(where, "/name", ErrorCode::value, "\"\"", "a name that is not empty");
  if (!is_utf8(name)) fail(where, "/name", ErrorCode::value, "bytes that are not UTF-8", "a name in UTF-8");
}

void Checker::check() {
  if (taskset_.tasks.size() > kMaxTasks) {
    return fail({}, "/tasks", ErrorCode::limit, fmt::format("{} tasks", taskset_.tasks.size()),
                fmt::format("at most {} tasks", kMaxTasks));
  }
  if (scope_.cpus) check_range({}, "/platform/cpus", taskset_.platform.cpus, kCpuCountRange);
  if (scope_.gpus) {
    const std::vector<Gpu>& gpus = taskset_.platform.gpus;
    if (gpus.empty()) fail({}, "/platform/gpus", ErrorCode::value, "an empty array", "at least one GPU");
    for (std::size_t i = 0; i < gpus.size(); ++i) check_gpu(gpus[i], i);
    check_gpu_names();
  }
  check_tasks();
  if (taskset_.origin) check_origin(*taskset_.origin);
  if (taskset_.ties == Ties::by_order) return;
  check_priorities(false);
  check_priorities(true);
  check_gpu_priorities();
}

void Checker::check_gpu(const Gpu& gpu, std::size_t index) {
  const Where where{"/platform/gpus", index};
  check_name(where, gpu.name);
  if (gpu.sms) check_range(where, "/sms", *gpu.sms, kSmsRange);
  check_range(where, "/copy_engines", gpu.copy_engines, kCopyEnginesRange);
  if (gpu.memory) check_range(where, "/memory", *gpu.memory, kMemoryRange);
  if (gpu.stream_priorities) {
    check_range(where, "/stream_priorities", *gpu.stream_priorities, kStreamPrioritiesRange);
  }
  check_cpu(where, "/server_cpu", gpu.server_cpu);
  check_overheads(gpu.overheads, where);
}

void Checker::check_cpu(const Where& where, std::string_view key, int cpu) {
  const int cpus = taskset_.platform.cpus;
  if (!scope_.cpus || !kCpuCountRange.holds(cpus) || IntRange{0, cpus - 1}.holds(cpu)) return;
  fail(where, key, ErrorCode::value, std::to_string(cpu), describe(IntRange{0, cpus - 1}),
       fmt::format("Cores are counted from 0; platform.cpus is {}.", cpus));
}

void Checker::check_overheads(const Overheads& overheads, const Where& where) {
  check_time(where, "/overheads/runlist_update", overheads.runlist_update);
  check_time(where, "/overheads/context_switch", overheads.context_switch);
  check_time(where, "/overheads/time_slice", overheads.time_slice);
  check_time(where, "/overheads/launch", overheads.launch);
  check_time(where, "/overheads/lock", overheads.lock);
}

void Checker::check_tasks() {
  const std::size_t count = taskset_.tasks.size();
  if (scope_.tasks && count == 0) fail({}, "/tasks", ErrorCode::value, "an empty array", "at least one task");
  for (std::size_t i = 0; i < count; ++i) {
    if (sound(i)) check_task(taskset_.tasks[i], i);
  }
  check_task_names();
  if (scope_.gpus) check_sms();
}

void Checker::check_task(const Task& task, std::size_t index) {
  const Where where{"/tasks", index};
  check_name(where, task.name);
  check_time(where, "/period", task.period, Duration::nanoseconds(1));
  check_deadline(task, where);
  check_time(where, "/jitter", task.jitter);
  check_range(where, "/priority", task.priority, kPriorityRange);
  check_range(where, "/gpu_priority", task.gpu_priority, kPriorityRange);
  check_cpu(where, "/cpu", task.cpu);
  if (task.memory) check_range(where, "/memory", *task.memory, kMemoryRange);
  if (task.sms) check_range(where, "/sms", *task.sms, kSmsRange);
  check_segments(task, index);
}

void Checker::check_deadline(const Task& task, const Where& where) {
  if (task.period < Duration::nanoseconds(1)) return;
  if (task.best_effort) {
    if (task.deadline == task.period) return;
    return fail(where, "/deadline", ErrorCode::conflict, show(task.deadline),
                "no deadline other than the period, as the task is best-effort");
  }
  if (task.deadline < Duration::nanoseconds(1)) {
    return check_time(where, "/deadline", task.deadline, Duration::nanoseconds(1));
  }
  if (task.deadline > task.period) {
    fail(where, "/deadline", ErrorCode::conflict, show(task.deadline),
         fmt::format("a deadline of at most the period, {}", show(task.period)));
  }
}

void Checker::check_segments(const Task& task, std::size_t index) {
  const std::size_t count = task.segments.size();
  if (count == 0) {
    fail({"/tasks", index}, "/segments", ErrorCode::value, "an empty array", "at least one segment");
  } else if (count > kMaxSegments) {
    return fail({"/tasks", index}, "/segments", ErrorCode::limit, fmt::format("{} segments", count),
                fmt::format("at most {} segments", kMaxSegments));
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::visit(
        [&](const auto& segment) {
          check_segment(segment, {"/tasks", index, "/segments", i});
        },
        task.segments[i]);
  }
}

void Checker::check_segment(const CpuSegment& segment, const Where& where) {
  check_time(where, "/cpu", segment.time);
}

void Checker::check_segment(const CopySegment& segment, const Where& where) {
  check_time(where, "/copy/time", segment.time);
}

void Checker::check_segment(const GpuSegment& segment, const Where& segment_where) {
  Where where = segment_where;
  where.tail = "/gpu";
  check_time(where, "/misc", segment.misc);
  if (segment.exec) check_time(where, "/exec", *segment.exec);
  if (!segment.exec_by_sms.empty()) check_by_sms(segment, where);
  if (segment.parallel) check_parallel(*segment.parallel, where);
  if (!segment.exec && segment.exec_by_sms.empty() && !segment.parallel) {
    fail(where, "", ErrorCode::missing, "neither exec nor work", "exec, or work and span, or both");
  }
  if (segment.block) check_time(where, "/block", *segment.block, Duration::nanoseconds(1));
  check_range(where, "/slices", segment.slices, kSlicesRange);
}

void Checker::check_by_sms(const GpuSegment& segment, const Where& where) {
  if (segment.exec) {
    fail(where, "/exec", ErrorCode::conflict, "both one execution time and times by SM count", "only one of them");
  }
  const ExecOnSms* last = nullptr;
  for (const ExecOnSms& entry : segment.exec_by_sms) {
    const std::string key = fmt::format("/exec/by_sms/{}", entry.sms);
    check_range(where, key, entry.sms, kSmsRange);
    check_time(where, key, entry.time);
    if (last != nullptr && entry.sms <= last->sms) {
      fail(where, key, ErrorCode::conflict, fmt::format("{} SMs after {} SMs", entry.sms, last->sms),
           "ascending SM counts");
    } else if (last != nullptr && (entry.time.max > last->time.max || entry.time.min > last->time.min)) {
      fail(where, key, ErrorCode::conflict, show(entry.time),
           fmt::format("no longer execution than on {} SMs ({})", last->sms, show(last->time)));
    }
    last = &entry;
  }
}

void Checker::check_parallel(const ParallelWork& parallel, const Where& where) {
  check_time(where, "/work", parallel.work);
  check_time(where, "/span", parallel.span);
  if (parallel.span.max > parallel.work.max || parallel.span.min > parallel.work.min) {
    fail(where, "/span", ErrorCode::conflict, show(parallel.span),
         fmt::format("a critical path not longer than all work ({})", show(parallel.work)));
  }
  if (!kInterleaveMillionths.holds(parallel.interleave_millionths)) {
    fail(where, "/interleave", ErrorCode::value, fmt::format("{} millionths", parallel.interleave_millionths),
         "a number from 1 to 1000");
  }
}

void Checker::check_origin(const Origin& origin) {
  if (origin.generator.empty() || !is_utf8(origin.generator)) {
    fail({}, "/origin/generator", ErrorCode::value, in_quotes(origin.generator), "the name of a generator");
  }
  for (std::size_t i = 0; i < origin.parameters.size(); ++i) {
    if (is_utf8(origin.parameters[i])) continue;
    fail({"/origin/parameters", i}, "", ErrorCode::value, "bytes that are not UTF-8", "text in UTF-8");
  }
  if (origin.index) check_range({}, "/origin/index", *origin.index, kIndexRange);
  check_utilisations(origin.requested, "/origin/requested_utilisation");
  check_utilisations(origin.achieved, "/origin/achieved_utilisation");
}

void Checker::check_utilisations(const std::vector<std::int64_t>& values, std::string_view key) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (kUtilisationMillionths.holds(values[i])) continue;
    fail({key, i}, "", ErrorCode::value, fmt::format("{} millionths", values[i]), "a number from 0 to 1000000");
  }
}

void Checker::check_gpu_names() {
  std::vector<std::pair<std::string_view, std::size_t>> names;
  const std::vector<Gpu>& gpus = taskset_.platform.gpus;
  for (std::size_t i = 0; i < gpus.size(); ++i) names.emplace_back(gpus[i].name, i);
  check_unique(names, "/platform/gpus");
}

void Checker::check_task_names() {
  std::vector<std::pair<std::string_view, std::size_t>> names;
  names.reserve(taskset_.tasks.size());
  for (std::size_t i = 0; i < taskset_.tasks.size(); ++i) {
    const std::string& name = taskset_.tasks[i].name;
    if (!name.empty()) names.emplace_back(name, i);
  }
  check_unique(names, "/tasks");
}

// SMs that are set aside belong to one task each.
void Checker::check_sms() {
  if (taskset_.platform.gpus.size() != 1 || !taskset_.platform.gpus.front().sms) return;
  const std::int64_t all = *taskset_.platform.gpus.front().sms;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < taskset_.tasks.size(); ++i) {
    const Task& task = taskset_.tasks[i];
    if (!sound(i) || !task.sms || !kSmsRange.holds(*task.sms) || !uses_gpu(task)) continue;
    const bool did_fit = sum <= all;
    sum += *task.sms;
    if (!did_fit || sum <= all) continue;
    fail({"/tasks", i}, "/sms", ErrorCode::conflict,
         fmt::format("{}, which makes {} with those of earlier tasks", *task.sms, sum),
         fmt::format("no more than the {} SMs of the GPU in all (/platform/gpus/0/sms)", all));
  }
}

void Checker::check_unique(const std::vector<std::pair<std::string_view, std::size_t>>& names, std::string_view list) {
  auto sorted = names;
  std::sort(sorted.begin(), sorted.end());
  std::size_t first = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first != sorted[first].first) {
      first = i;
      continue;
    }
    fail({list, sorted[i].second}, "/name", ErrorCode::conflict,
         fmt::format("{}, also the name of {}/{}", in_quotes(sorted[i].first), list, sorted[first].second),
         "a name of its own");
  }
}

// Calls report(task, other) for each task whose priority an earlier one of the sorted list has: (priority, task).
template <class Report>
void find_ties(std::vector<std::pair<int, std::size_t>>& ranks, Report report) {
  std::sort(ranks.begin(), ranks.end());
  std::size_t first = 0;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    if (ranks[i].first == ranks[first].first) {
      report(ranks[i].second, ranks[first].second);
    } else {
      first = i;
    }
  }
}

void Checker::check_priorities(bool best_effort) {
  std::vector<std::pair<int, std::size_t>> ranks;
  for (std::size_t i = 0; i < taskset_.tasks.size(); ++i) {
    const Task& task = taskset_.tasks[i];
    if (sound(i) && task.best_effort == best_effort) ranks.emplace_back(task.priority, i);
  }
  find_ties(ranks, [&](std::size_t task, std::size_t other) {
    report_tie(task, other, "/priority", taskset_.tasks[task].priority);
  });
}

void Checker::check_gpu_priorities() {
  std::vector<std::pair<int, std::size_t>> ranks;
  const std::vector<Task>& tasks = taskset_.tasks;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (sound(i) && !tasks[i].best_effort && uses_gpu(tasks[i])) ranks.emplace_back(tasks[i].gpu_priority, i);
  }
  find_ties(ranks, [&](std::size_t task, std::size_t other) {
    // A tie of the priorities is reported already, and most GPU priorities are just those.
    if (tasks[task].priority == tasks[other].priority) return;
    report_tie(task, other, "/gpu_priority", tasks[task].gpu_priority);
  });
}

void Checker::report_tie(std::size_t task, std::size_t other, std::string_view key, int priority) {
  fail({"/tasks", task}, key, ErrorCode::conflict,
       fmt::format("{}, also the {} of {} (/tasks/{})", priority, key.substr(1), in_quotes(taskset_.tasks[other].name),
                   other),
       fmt::format("a {} of its own", key.substr(1)), R"(Set "ties": "by-order" to let the earlier task rank higher.)");
}

}  // namespace

std::string describe(const IntRange& range) {
  return fmt::format("a whole number from {} to {}", range.low, range.high);
}

RuleErrors check_rules(const Taskset& taskset, const RuleScope& scope) {
  RuleErrors found;
  Checker(taskset, scope, found).check();
  return found;
}

Errors validate(const Taskset& taskset) {
  RuleErrors found = check_rules(taskset, RuleScope{});
  if (found.count > found.errors.size()) found.errors.push_back(more_errors(found.count - found.errors.size()));
  return std::move(found.errors);
}

}  // namespace rtgpu
