#include "analysis/falsification/shapes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

namespace rtgpu {
namespace {

bool happens(Random& random, int percent) {
  return random.between(0, 99) < percent;
}

Duration up_to(Random& random, Duration limit) {
  return Duration::nanoseconds(random.between(0, std::max<std::int64_t>(limit.count(), 0)));
}

Duration worst_case_on_core(const Segment& segment) {
  if (const auto* cpu = std::get_if<CpuSegment>(&segment)) return cpu->time.max;
  if (const auto* gpu = std::get_if<GpuSegment>(&segment)) return gpu->misc.max;
  return {};
}

Duration worst_case_on_device(const Segment& segment, std::optional<int> sms) {
  if (const auto* copy = std::get_if<CopySegment>(&segment)) return copy->time.max;
  if (const auto* gpu = std::get_if<GpuSegment>(&segment)) return whole_gpu_exec(*gpu, sms).value_or(Duration());
  return {};
}

int percent_of(Random& random, int most) {
  return static_cast<int>(random.between(0, most));
}

}  // namespace

Shapes::Shapes(const Taskset& taskset, std::span<const Claim> claims, bool below_best_case)
    : taskset_(taskset), claims_(claims), below_best_case_(below_best_case) {
  for (const Task& task : taskset.tasks) {
    Outline outline;
    for (const Segment& segment : task.segments) {
      outline.demand += worst_case_on_core(segment);
      if (std::holds_alternative<CpuSegment>(segment)) continue;
      outline.requests.push_back(outline.demand);
      outline.demand += worst_case_on_device(segment, taskset.platform.gpus.front().sms);
    }
    outline.bound = outline.demand;
    outlines_.push_back(std::move(outline));
    anchor_ = std::max(anchor_, task.period * 2);
  }
  for (const Claim& claim : claims) outlines_[claim.task].bound = claim.bound;
}

Scenario Shapes::random(Random& random) const {
  Scenario scenario = synchronous_scenario(taskset_.tasks.size());
  scenario.seed = random.bits();
  scenario.below_best_case = below_best_case_;
  const bool sporadic = happens(random, 60);
  const bool shortened = happens(random, 60);
  for (TaskIndex task = 0; task < taskset_.tasks.size(); ++task) {
    TaskScenario& choices = scenario.tasks[task];
    choices.offset = up_to(random, taskset_.tasks[task].period);
    choices.gap_chance = sporadic && happens(random, 60) ? percent_of(random, 600) : 0;
    choices.longest_gap = taskset_.tasks[task].period;
    choices.jitter_chance = percent_of(random, 1000);
    choices.shorten_chance = shortened ? percent_of(random, 400) : 0;
  }
  return scenario;
}

// The first release of a task that has one at `moment`, or as close before it as that goes.
Duration Shapes::offset_before(TaskIndex task, Duration moment) const {
  const std::int64_t period = taskset_.tasks[task].period.count();
  return Duration::nanoseconds(((moment.count() % period) + period) % period);
}

// A moment of a job of the task, from its release: that, one of its requests, or just around one.
Duration Shapes::moment_of(TaskIndex task, Random& random) const {
  const std::vector<Duration>& requests = outlines_[task].requests;
  if (requests.empty() || happens(random, 40)) return {};
  return requests[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(requests.size()) - 1))];
}

// Places the releases of a task so that its work comes when a job of `with`, released at the anchor, can meet it.
void Shapes::align(Scenario& scenario, TaskIndex task, TaskIndex with, Random& random) const {
  const Duration target = anchor_ + moment_of(with, random);
  Duration release = target;
  switch (random.between(0, 4)) {
    case 0:  // released together
      break;
    case 1:  // as late as its bound allows: its work is at its end then
      release = target - std::max(outlines_[task].bound - outlines_[task].demand, Duration());
      break;
    case 2:  // its request comes just before
      release = target - moment_of(task, random) - Duration::nanoseconds(1);
      break;
    case 3:  // the same moment
      release = target - moment_of(task, random);
      break;
    default:  // almost done by then
      release = target - outlines_[task].demand + Duration::nanoseconds(1);
      break;
  }
  scenario.tasks[task].offset = offset_before(task, release);
}

Scenario Shapes::predicted(Random& random) const {
  Scenario scenario = synchronous_scenario(taskset_.tasks.size());
  scenario.seed = random.bits();
  scenario.below_best_case = below_best_case_;
  const auto place = random.between(0, static_cast<std::int64_t>(claims_.size()) - 1);
  const TaskIndex with = claims_[static_cast<std::size_t>(place)].task;
  const int shortened = happens(random, 40) ? percent_of(random, 300) : 0;
  for (TaskIndex task = 0; task < taskset_.tasks.size(); ++task) {
    TaskScenario& choices = scenario.tasks[task];
    choices.longest_gap = taskset_.tasks[task].period;
    choices.jitter_chance = happens(random, 50) ? 500 : 0;
    choices.shorten_chance = task == with ? 0 : shortened;
    if (task != with) align(scenario, task, with, random);
  }
  scenario.tasks[with].offset = offset_before(with, anchor_);
  return scenario;
}

void Shapes::change_task(Scenario& scenario, TaskIndex task, Random& random) const {
  TaskScenario& choices = scenario.tasks[task];
  const Duration period = taskset_.tasks[task].period;
  switch (random.between(0, 6)) {
    case 0:
      choices.offset = up_to(random, period);
      break;
    case 1:
    case 2: {  // a little earlier or later
      const Duration step = up_to(random, Duration::nanoseconds(period.count() / (happens(random, 50) ? 20 : 200)));
      choices.offset = offset_before(task, happens(random, 50) ? choices.offset + step : choices.offset - step);
      break;
    }
    case 3: {
      const auto other = static_cast<TaskIndex>(random.between(0, static_cast<std::int64_t>(outlines_.size()) - 1));
      align(scenario, task, other, random);
      break;
    }
    case 4:
      choices.shorten_chance = happens(random, 50) ? 0 : percent_of(random, 600);
      break;
    case 5:
      choices.gap_chance = happens(random, 50) ? 0 : percent_of(random, 600);
      choices.longest_gap = happens(random, 50) ? period : Duration::nanoseconds(1 + period.count() / 10);
      break;
    default:
      choices.jitter_chance = happens(random, 50) ? 0 : percent_of(random, 1000);
      break;
  }
}

Scenario Shapes::changed(const Scenario& scenario, Random& random) const {
  Scenario next = scenario;
  if (happens(random, 25)) next.seed = random.bits();
  const std::int64_t changes = random.between(1, 3);
  for (std::int64_t change = 0; change < changes; ++change) {
    const auto last = static_cast<std::int64_t>(taskset_.tasks.size()) - 1;
    change_task(next, static_cast<TaskIndex>(random.between(0, last)), random);
  }
  return next;
}

}  // namespace rtgpu
