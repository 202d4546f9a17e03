// What a user of the installed libraries writes: reads a taskset, analyses it and prints a bound a line; then runs it
// in virtual time, and prints the longest responses.
#include "analysis/analysis.h"
#include "rtgpu/error.h"
#include "runtime/runtime.h"
#include "taskset/json.h"

#include <iostream>
#include <string>

namespace {

constexpr auto kTaskset = R"({
  "rtgpu": 1,
  "platform": {"cpus": 1, "gpus": [{"overheads": {"runlist_update": "500us"}}]},
  "tasks": [
    {"name": "high", "period": 20, "priority": 2, "segments": [{"cpu": 1}, {"gpu": {"misc": 1, "exec": 4}}]},
    {"name": "low", "period": 30, "priority": 1, "segments": [{"cpu": 3}]}
  ]
})";

int fail(const rtgpu::Errors& errors) {
  for (const rtgpu::Error& error : errors) std::cerr << to_string(error) << '\n';
  return 1;
}

}  // namespace

int main() {
  const auto loaded = rtgpu::read_taskset(kTaskset);
  if (!loaded) return fail(loaded.errors());

  const auto result = rtgpu::analyze(loaded->taskset, {.policy = rtgpu::Policy::gcaps});
  if (!result) return fail(result.errors());

  for (const rtgpu::TaskResult& task : result->tasks) {
    std::cout << loaded->taskset.tasks[task.task].name << ": "
              << (task.bound ? to_string(*task.bound) : "no bound, " + task.reason) << '\n';
  }

  rtgpu::RuntimeOptions options;
  options.policy = "gcaps";
  options.gpu = loaded->taskset.platform.gpus.front();
  options.virtual_time = true;
  rtgpu::Runtime runtime(options);
  runtime.add_taskset(loaded->taskset);
  runtime.run_for(rtgpu::Duration::milliseconds(60));
  for (const rtgpu::TaskReport& task : runtime.report().tasks) {
    std::cout << task.name << " ran in " << to_string(task.seen.response.max()) << '\n';
  }
  return 0;
}
