#include "tests/support/build.h"

#include "taskset/json.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace rtgpu::testing {

Taskset load_case(const std::string& name) {
  const std::string path = std::string(RTGPU_TEST_DATA) + "/" + name;
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Result<LoadedTaskset> loaded = read_taskset(text, path);
  if (!loaded) throw std::runtime_error(to_string(loaded.errors().front()));
  return std::move(loaded->taskset);
}

Segment cpu(Duration worst) {
  return CpuSegment{{worst, worst}};
}

Segment gpu(Duration misc, Duration exec) {
  GpuSegment segment;
  segment.misc = {misc, misc};
  segment.exec = ExecutionTime{exec, exec};
  return segment;
}

Task task(const std::string& name, Duration period, std::vector<Segment> segments, int core) {
  Task made;
  made.name = name;
  made.period = period;
  made.deadline = period;
  made.cpu = core;
  made.segments = std::move(segments);
  return made;
}

Taskset make_taskset(std::vector<Task> tasks) {
  Taskset taskset;
  taskset.tasks = std::move(tasks);
  int priority = static_cast<int>(taskset.tasks.size());
  for (Task& made : taskset.tasks) {
    made.priority = priority;
    made.gpu_priority = priority;
    --priority;
    taskset.platform.cpus = std::max(taskset.platform.cpus, made.cpu + 1);
  }
  return taskset;
}

Taskset with_own_sms(Taskset taskset) {
  int users = 0;
  for (Task& made : taskset.tasks) {
    if (!uses_gpu(made)) continue;
    made.sms = 1;
    ++users;
    for (Segment& segment : made.segments) {
      auto* work = std::get_if<GpuSegment>(&segment);
      if (work == nullptr || !work->exec) continue;
      work->exec_by_sms = {{1, *work->exec}};
      work->exec.reset();
    }
  }
  taskset.platform.gpus.front().sms = std::max(users, 1);
  return taskset;
}

Taskset runnable(Taskset taskset, Policy policy) {
  return policy == Policy::federated ? with_own_sms(std::move(taskset)) : taskset;
}

}  // namespace rtgpu::testing
