#include "tools/format/simulation_report.h"

#include <algorithm>
#include <variant>

namespace rtgpu {
namespace {

bool uses_device(const Task& task) {
  return std::ranges::any_of(task.segments,
                             [](const Segment& segment) { return !std::holds_alternative<CpuSegment>(segment); });
}

}  // namespace

bool SimulationReport::meets_deadlines() const {
  return std::ranges::any_of(answers, [](const SimulationAnswer& answer) { return answer.meets_deadlines(); });
}

bool SimulationReport::all_refused() const {
  return std::ranges::none_of(answers, [](const SimulationAnswer& answer) { return bool(answer.result); });
}

Errors SimulationReport::refusals() const {
  Errors all;
  for (const SimulationAnswer& answer : answers) {
    if (answer.result) continue;
    for (Error error : answer.result.errors()) {
      if (error.place.source.empty()) error.place.source = id.source;
      all.push_back(std::move(error));
    }
  }
  return all;
}

WaitLabel wait_label(const Taskset& taskset, WaitChoice choice) {
  if (choice == WaitChoice::suspend) return WaitLabel::suspend;
  if (choice == WaitChoice::busy) return WaitLabel::busy;
  bool any_busy = false;
  bool any_suspend = false;
  for (const Task& task : taskset.tasks) {
    if (task.best_effort || !uses_device(task)) continue;
    (task.wait == WaitMode::busy ? any_busy : any_suspend) = true;
  }
  if (any_busy && any_suspend) return WaitLabel::mixed;
  return any_busy ? WaitLabel::busy : WaitLabel::suspend;
}

std::optional<Duration> replayed_response(const SimulationReport& report) {
  if (!report.replayed || !report.answers.front().result) return std::nullopt;
  return report.answers.front().result->tasks()[report.replayed->task].max_response;
}

std::optional<Duration> mean_response(const TaskTrials& task) {
  if (task.jobs == 0 || task.total_response.is_infinite()) return std::nullopt;
  const std::int64_t total = task.total_response.count();
  const std::int64_t rest = total % task.jobs;
  return Duration::nanoseconds(total / task.jobs + (rest >= task.jobs - rest ? 1 : 0));
}

std::string_view to_string(Releases releases) {
  return releases == Releases::periodic ? "periodic" : "sporadic";
}

std::string_view to_string(Execution execution) {
  return execution == Execution::worst ? "worst" : "random";
}

}  // namespace rtgpu
