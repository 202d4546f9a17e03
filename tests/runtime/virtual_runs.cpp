#include "tests/runtime/virtual_runs.h"

#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

namespace rtgpu::testing {
namespace {

TaskId id_of(const Runtime& runtime, const std::string& task) {
  const std::vector<Task>& tasks = runtime.taskset().tasks;
  for (TaskId id = 0; id < tasks.size(); ++id) {
    if (tasks[id].name == task) return id;
  }
  throw std::invalid_argument("no task " + task);
}

bool is_left_out(TraceKind kind) {
  return kind == TraceKind::boost || kind == TraceKind::unboost || kind == TraceKind::dispatch;
}

}  // namespace

Gpu plain_gpu() {
  Gpu gpu;
  gpu.stream_priorities = 2;
  gpu.overheads.time_slice = Duration::milliseconds(1);
  return gpu;
}

RuntimeOptions virtual_options(const std::string& policy, const Gpu& gpu) {
  RuntimeOptions options;
  options.policy = policy;
  options.gpu = gpu;
  options.virtual_time = true;
  options.keep_trace = true;
  return options;
}

TaskSetup setup(const std::string& name, Duration period, int priority, std::vector<Segment> segments, int core) {
  TaskSetup made;
  made.name = name;
  made.period = period;
  made.priority = priority;
  made.cpu = core;
  made.segments = std::move(segments);
  return made;
}

std::vector<std::string> events_of(const Runtime& runtime, const std::string& task) {
  const TaskId id = id_of(runtime, task);
  std::vector<std::string> events;
  for (const TraceEvent& event : runtime.trace().events) {
    if (event.task != id || is_left_out(event.kind)) continue;
    events.push_back(std::string(to_string(event.kind)) + "@" + to_string(Duration::nanoseconds(event.time_ns)));
  }
  return events;
}

std::vector<std::string> times_of(const Runtime& runtime, const std::string& task, TraceKind kind) {
  const TaskId id = id_of(runtime, task);
  std::vector<std::string> times;
  for (const TraceEvent& event : runtime.trace().events) {
    if (event.task == id && event.kind == kind) times.push_back(to_string(Duration::nanoseconds(event.time_ns)));
  }
  return times;
}

std::string refusal_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const SetupError& error) {
    return error.what();
  }
  return {};
}

const TaskStatistics& seen_of(const RunReport& report, const std::string& task) {
  for (const TaskReport& each : report.tasks) {
    if (each.name == task) return each.seen;
  }
  throw std::invalid_argument("no task " + task);
}

void use_gpu(Job& job) {
  job.gpu("work", [](Stream) {});
}

void use_gpu_well(Job& job) {
  EXPECT_EQ(job.gpu("work", [](Stream) {}), GpuStatus::ok);
}

}  // namespace rtgpu::testing
