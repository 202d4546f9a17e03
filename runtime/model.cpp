#include "runtime/model.h"

namespace rtgpu {

Task task_of(const TaskSetup& setup) {
  Task task;
  task.name = setup.name;
  task.period = setup.period;
  task.deadline = setup.deadline == Duration() ? setup.period : setup.deadline;
  task.jitter = setup.jitter;
  task.priority = setup.priority;
  task.gpu_priority = setup.gpu_priority.value_or(setup.priority);
  task.cpu = setup.cpu;
  task.wait = setup.wait;
  task.lock_wait = setup.lock_wait;
  task.best_effort = setup.best_effort;
  task.memory = setup.memory;
  task.segments = setup.segments;
  if (task.segments.empty()) task.segments.emplace_back(CpuSegment{});
  return task;
}

TaskSetup setup_of(const Task& task) {
  TaskSetup setup;
  setup.name = task.name;
  setup.period = task.period;
  setup.deadline = task.deadline;
  setup.jitter = task.jitter;
  setup.priority = task.priority;
  setup.gpu_priority = task.gpu_priority;
  setup.cpu = task.cpu;
  setup.wait = task.wait;
  setup.lock_wait = task.lock_wait;
  setup.best_effort = task.best_effort;
  setup.memory = task.memory;
  setup.segments = task.segments;
  return setup;
}

}  // namespace rtgpu
