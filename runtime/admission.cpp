#include "runtime/admission.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {

std::optional<Duration> Admission::bound(TaskIndex task) const {
  if (!analysis) return std::nullopt;
  for (const TaskResult& result : analysis->tasks) {
    if (result.task == task) return result.bound;
  }
  return std::nullopt;
}

std::string Admission::explain() const {
  std::string text;
  for (const Error& error : errors) text += to_string(error) + '\n';
  if (!analysis) return text;
  for (const TaskResult& result : analysis->tasks) {
    const Task& task = taskset.tasks[result.task];
    if (result.schedulable()) {
      text += fmt::format("{}: at most {} of {}\n", task.name, to_string(*result.bound), to_string(task.deadline));
    } else {
      text += fmt::format("{}: no bound within {}: {}\n", task.name, to_string(task.deadline), result.reason);
    }
  }
  return text;
}

Errors memory_errors(const Taskset& taskset, std::int64_t device_memory) {
  std::int64_t sum = 0;
  std::vector<std::string> parts;
  for (const Task& task : taskset.tasks) {
    if (!task.memory || *task.memory == 0) continue;
    if (__builtin_add_overflow(sum, *task.memory, &sum)) sum = std::numeric_limits<std::int64_t>::max();
    parts.push_back(fmt::format("{} {}", task.name, *task.memory));
  }
  if (sum <= device_memory) return {};
  return {Error{ErrorCode::limit, Place{{}, "/tasks", 0, 0},
                fmt::format("{} bytes of device memory in all ({})", sum, fmt::join(parts, ", ")),
                fmt::format("at most {}: {} less", device_memory, sum - device_memory),
                "Lower the memory of a task, or leave one out."}};
}

Admission admit(Taskset taskset, Policy policy, WaitChoice wait, std::int64_t device_memory,
                const std::vector<std::string>& undeclared) {
  Admission admission;
  admission.taskset = std::move(taskset);
  admission.errors = memory_errors(admission.taskset, device_memory);
  if (!undeclared.empty()) {
    admission.errors.push_back(Error{ErrorCode::missing, Place{{}, "/tasks", 0, 0},
                                     fmt::format("no execution times of {}", fmt::join(undeclared, ", ")),
                                     "segments of every task",
                                     "Declare them: without them nothing can be said of any task."});
    return admission;
  }
  AnalysisOptions options;
  options.policy = policy;
  options.wait = wait;
  Result<AnalysisResult> analysed = analyze(admission.taskset, options);
  if (!analysed) {
    for (Error& error : analysed.errors()) admission.errors.push_back(std::move(error));
    return admission;
  }
  admission.schedulable = admission.errors.empty() && analysed->schedulable;
  admission.analysis = std::move(*analysed);
  return admission;
}

}  // namespace rtgpu
