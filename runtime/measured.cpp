#include "runtime/measured.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool is_device_segment(const Segment& segment) {
  return !std::holds_alternative<CpuSegment>(segment);
}

// What waking up costs is charged where the task waits: its core is free meanwhile, and a lock stays held.
void charge_segment(Segment& segment, Duration wake_up, Duration overshoot, const MeasuredOverheads& measured) {
  if (auto* cpu = std::get_if<CpuSegment>(&segment)) {
    cpu->time.max += overshoot;
  } else if (auto* copy = std::get_if<CopySegment>(&segment)) {
    copy->time.max += measured.device_latency + wake_up;
  } else {
    auto& gpu = std::get<GpuSegment>(segment);
    gpu.misc.max += overshoot;
    const Duration late = (measured.device_latency + wake_up) * gpu.slices;
    if (gpu.exec) gpu.exec->max += late;
    for (ExecOnSms& exec : gpu.exec_by_sms) exec.time.max += late;
  }
}

bool uses_device(const Task& task) {
  return std::ranges::any_of(task.segments, is_device_segment);
}

// Time within a job's response that is nobody's work: it counts as work of the first segment.
void charge_first(Segment& segment, Duration time) {
  if (auto* cpu = std::get_if<CpuSegment>(&segment)) {
    cpu->time.max += time;
  } else if (auto* copy = std::get_if<CopySegment>(&segment)) {
    copy->time.max += time;
  } else {
    std::get<GpuSegment>(segment).misc.max += time;
  }
}

// Events of the device for a job: work begins, each slice and the work end; likewise for copies.
std::int64_t device_events(const Task& task) {
  std::int64_t events = 0;
  for (const Segment& segment : task.segments) {
    const auto* gpu = std::get_if<GpuSegment>(&segment);
    if (is_device_segment(segment)) events += 2 + (gpu != nullptr ? gpu->slices : 1);
  }
  return events;
}

Task machine_task(std::string name, int core, int priority, Duration period, Duration time) {
  Task task;
  task.name = std::move(name);
  task.period = period;
  task.deadline = period;
  task.priority = priority;
  task.gpu_priority = priority;
  task.cpu = core;
  task.segments = {CpuSegment{{Duration(), time}}};
  return task;
}

class Charger {
 public:
  Charger(Taskset taskset, const MeasuredOverheads& measured) : charged_(std::move(taskset)), measured_(measured) {}

  Taskset charge() {
    for (std::size_t task = 0; task < charged_.tasks.size(); ++task) charge_task(task);
    Overheads& overheads = charged_.platform.gpus.front().overheads;
    const Duration slowest = measured_.wake_up.empty() ? Duration() : *std::ranges::max_element(measured_.wake_up);
    overheads.lock += slowest;
    add_machine_tasks();
    return std::move(charged_);
  }

 private:
  void charge_task(std::size_t index) {
    Task& task = charged_.tasks[index];
    const Duration wake_up = measured_.wake_up.at(static_cast<std::size_t>(task.cpu));
    task.jitter += wake_up;
    if (uses_device(task)) charge_first(task.segments.front(), lost_elsewhere(task));
    for (Segment& segment : task.segments) {
      charge_segment(segment, wake_up, measured_.overshoot.at(index), measured_);
    }
  }

  // Others that have the device, or are before this task in its queue, may lose time on their cores.
  Duration lost_elsewhere(const Task& task) const {
    Duration lost = lost_in_window(measured_.device_lost, task.deadline);
    for (std::size_t core = 0; core < measured_.lost.size(); ++core) {
      if (core != static_cast<std::size_t>(task.cpu)) lost += lost_in_window(measured_.lost[core], task.deadline);
    }
    return lost;
  }

  // Above all others of their cores. A task of each core for lost time: as much as was lost in any window as long as
  // the longest deadline there. And one for each task that uses the device, for the device's thread: on which core it
  // runs is not known. Where that thread looks at the device now and then, a task for all that it executes.
  void add_machine_tasks() {
    int next_priority = 1;
    for (const Task& task : charged_.tasks) next_priority = std::max(next_priority, task.priority + 1);
    std::set<int> cores;
    for (const Task& task : charged_.tasks) cores.insert(task.cpu);
    const std::size_t count = charged_.tasks.size();
    for (const int core : cores) {
      const Duration window = longest_deadline(core);
      const Duration lost = lost_in_window(measured_.lost.at(static_cast<std::size_t>(core)), window);
      if (lost > Duration())
        add(machine_task(fmt::format("time lost on core {}", core), core, next_priority++, window, lost));
      if (!measured_.device_execution.empty()) {
        const Duration time = measured_.device_execution.most_in_window(window);
        if (time == Duration()) continue;
        add(machine_task(fmt::format("looking at the device on core {}", core), core, next_priority++, window, time));
        continue;
      }
      for (std::size_t task = 0; task < count; ++task) {
        const Duration time = measured_.device_handling * device_events(charged_.tasks[task]);
        if (time == Duration()) continue;
        add(machine_task(fmt::format("device events of {} on core {}", charged_.tasks[task].name, core), core,
                         next_priority++, charged_.tasks[task].period, time));
      }
    }
  }

  void add(Task task) { charged_.tasks.push_back(std::move(task)); }

  Duration longest_deadline(int core) const {
    Duration longest = Duration::nanoseconds(1);
    for (const Task& task : charged_.tasks) {
      if (task.cpu == core) longest = std::max(longest, task.deadline);
    }
    return longest;
  }

  Taskset charged_;
  const MeasuredOverheads& measured_;
};

}  // namespace

std::string describe(const MeasuredOverheads& measured, Duration window) {
  const auto text = [](Duration time) { return to_milliseconds(Duration::microseconds((time.count() + 999) / 1000)); };
  Duration wake_up;
  for (const Duration each : measured.wake_up) wake_up = std::max(wake_up, each);
  Duration lost;
  for (const auto& of_core : measured.lost) lost = std::max(lost, lost_in_window(of_core, window));
  Duration overshoot;
  for (const Duration each : measured.overshoot) overshoot = std::max(overshoot, each);
  if (!measured.device_execution.empty()) {
    return fmt::format(
        "waking up {} ms, noticing what the device did {} ms, looking at it for {} ms in any {} ms, a job beyond its "
        "declared execution {} ms, time lost on a core in any {} ms {} ms",
        text(wake_up), text(measured.device_latency), text(measured.device_execution.most_in_window(window)),
        text(window), text(overshoot), text(window), text(lost));
  }
  return fmt::format(
      "waking up {} ms, noticing an event of the device {} ms, handling one {} ms, a job beyond its declared execution "
      "{} ms, time lost on a core in any {} ms {} ms",
      text(wake_up), text(measured.device_latency), text(measured.device_handling), text(overshoot), text(window),
      text(lost));
}

Taskset with_overheads(const Taskset& taskset, const MeasuredOverheads& measured) {
  return Charger(taskset, measured).charge();
}

}  // namespace rtgpu
