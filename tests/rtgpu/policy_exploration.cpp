#include "tests/rtgpu/policy_exploration.h"

#include "rtgpu/policies/federated.h"
#include "rtgpu/policies/fmlp_plus.h"
#include "rtgpu/policies/gcaps.h"
#include "rtgpu/policies/mpcp.h"
#include "rtgpu/policies/server.h"
#include "rtgpu/policies/stream_priority.h"
#include "rtgpu/policies/tsg_rr.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <unordered_set>
#include <utility>

namespace rtgpu::testing {
namespace {

// `P` is a policy, which is copied at every step.
template <class P>
class Exploration {
 public:
  Exploration(const P& policy, PolicySpecification specification, ExplorationLimits limits)
      : start_(policy), specification_(std::move(specification)), limits_(limits) {}

  ExplorationResult explore() {
    Position position;
    position.expected = specification_.start();
    position.segments.assign(start_.task_count(), 0);
    position.boundaries.assign(start_.task_count(), 0);
    visit(start_, position);
    result_.states = seen_.size();
    return result_;
  }

 private:
  struct Position {
    SpecifiedState expected;
    std::vector<std::uint8_t> segments;    // by task: that are behind it
    std::vector<std::uint8_t> boundaries;  // by task: of its exec
    std::uint8_t cancels = 0;
  };
  struct Step {
    PolicyEvent event;
    TaskId task;
  };

  // A state is known by what the policy and the specification remember, and by what is still to come.
  static std::string key_of(const P& policy, const Position& position) {
    std::string key;
    key.reserve(64);
    const auto add = [&](const auto& values) {
      for (const auto value : values) key.push_back(static_cast<char>(value));
      key.push_back('|');
    };
    add(policy.state());
    add(position.expected.requests);
    add(position.expected.work);
    add(position.expected.missed);
    add(std::initializer_list<TaskId>{position.expected.holder, position.expected.context});
    add(position.segments);
    add(position.boundaries);
    key.push_back(static_cast<char>(position.cancels));
    return key;
  }

  bool is_possible(const Position& position, Step step) const {
    if (!specification_.allows(position.expected, step.event, step.task)) return false;
    switch (step.event) {
      case PolicyEvent::enter:
        return position.segments[step.task] < limits_.segments;
      case PolicyEvent::boundary:
        return position.boundaries[step.task] < limits_.boundaries && specification_.wants_boundary(position.expected);
      case PolicyEvent::cancel:
        return position.cancels < limits_.cancels && position.expected.phases[step.task] != Phase::idle;
      default:
        return true;
    }
  }

  static void count(Position& position, Step step) {
    if (step.event == PolicyEvent::boundary) ++position.boundaries[step.task];
    if (step.event == PolicyEvent::cancel) ++position.cancels;
    if (step.event != PolicyEvent::left && step.event != PolicyEvent::cancel) return;
    ++position.segments[step.task];
    position.boundaries[step.task] = 0;
  }

  template <class Act>
  void for_each_step(Act act) {
    for (TaskId task = 0; task < start_.task_count(); ++task) {
      for (std::size_t event = 0; event < kPolicyEvents; ++event) act(Step{static_cast<PolicyEvent>(event), task});
    }
  }

  void visit(const P& policy, const Position& position) {
    const bool is_new = seen_.insert(key_of(policy, position)).second;
    if (!is_new && !limits_.every_path) return;
    check_harmless(policy, position);
    bool is_end = true;
    for_each_step([&](Step step) {
      if (!result_.failure.empty() || !is_possible(position, step)) return;
      is_end = false;
      take(policy, position, step);
    });
    if (is_end) check_end(position);
  }

  void take(const P& policy, const Position& position, Step step) {
    path_.push_back(step);
    ++result_.steps;
    P next_policy = policy;
    Position next = position;
    const Decision decision = apply(next_policy, step.event, step.task);
    const auto outcome = specification_.move_on(next.expected, step.event, step.task, next_policy.gpu().runs);
    count(next, step);
    const std::string found = difference(next_policy, decision, policy.gpu(), specification_, next.expected, outcome);
    if (found.empty()) {
      visit(next_policy, next);
    } else {
      fail(found);
    }
    path_.pop_back();
  }

  // Nobody can do anything more: everybody has finished.
  void check_end(const Position& position) {
    ++result_.ends;
    const bool all_idle = std::ranges::all_of(position.expected.phases, [](Phase p) { return p == Phase::idle; });
    const bool all_done = std::ranges::all_of(position.segments, [&](std::uint8_t n) { return n == limits_.segments; });
    if (!all_idle || !all_done || position.expected.gpu.runs != kNobody) fail("nothing can happen any more");
  }

  // Events out of place, and boundaries that nobody waits for, change nothing; reset leads back to the start.
  void check_harmless(const P& policy, const Position& position) {
    P copy = policy;
    const bool wants_boundary = specification_.wants_boundary(position.expected);
    for_each_step([&](Step step) {
      const bool is_in_place = specification_.allows(position.expected, step.event, step.task);
      if (is_in_place && (step.event != PolicyEvent::boundary || wants_boundary)) return;
      const Decision decision = apply(copy, step.event, step.task);
      const bool is_refused = decision.misuse != Misuse::none;
      if (is_refused == is_in_place || decision.granted != kNobody || decision.gpu_changed) {
        fail("then " + std::string(to_string(step.event)) + " of " + std::to_string(step.task) + " does something");
      }
    });
    if (copy.state() != policy.state()) fail("then events out of place change something");
    copy.reset();
    if (copy.state() != start_.state()) fail("then reset does not lead back to the start");
  }

  void fail(const std::string& what) {
    if (!result_.failure.empty()) return;
    result_.failure = what + "; after";
    for (const Step& step : path_) {
      result_.failure += " " + std::string(to_string(step.event)) + std::to_string(step.task);
    }
  }

  P start_;
  PolicySpecification specification_;
  ExplorationLimits limits_;
  std::unordered_set<std::string> seen_;
  std::vector<Step> path_;
  ExplorationResult result_;
};

template <class P>
ExplorationResult explored(const P& policy, Policy which, const PolicySetup& setup, ExplorationLimits limits) {
  return Exploration<P>(policy, specification_of(which, setup), limits).explore();
}

}  // namespace

PolicySetup setup_of(std::vector<PolicyTask> tasks) {
  PolicySetup setup;
  setup.tasks = std::move(tasks);
  setup.runlist_update = Duration::milliseconds(1);
  setup.context_switch = Duration::microseconds(200);
  setup.time_slice = Duration::milliseconds(1);
  setup.lock = Duration::microseconds(10);
  setup.stream_levels = 2;
  return setup;
}

PolicySpecification specification_of(Policy which, const PolicySetup& setup) {
  return {which, setup, stream_levels(setup.tasks, setup.stream_levels)};
}

ExplorationResult explore(Policy which, const std::vector<PolicyTask>& tasks, ExplorationLimits limits) {
  const PolicySetup setup = setup_of(tasks);
  switch (which) {
    case Policy::gcaps:
      return explored(GcapsPolicy(setup, false), which, setup, limits);
    case Policy::gcaps_wc:
      return explored(GcapsPolicy(setup, true), which, setup, limits);
    case Policy::tsg_rr:
      return explored(TsgRrPolicy(setup), which, setup, limits);
    case Policy::mpcp:
      return explored(MpcpPolicy(setup), which, setup, limits);
    case Policy::fmlp_plus:
      return explored(FmlpPlusPolicy(setup), which, setup, limits);
    case Policy::stream_priority:
      return explored(StreamPriorityPolicy(setup), which, setup, limits);
    case Policy::federated:
      return explored(FederatedPolicy(setup), which, setup, limits);
    case Policy::server:
      return explored(ServerPolicy(setup), which, setup, limits);
  }
  ExplorationResult result;
  result.failure = "no state machine";
  return result;
}

std::string difference(const GpuPolicy& policy, const Decision& decision, const GpuState& gpu_before,
                       const PolicySpecification& specification, const SpecifiedState& expected,
                       const PolicySpecification::Outcome& outcome) {
  if (decision.misuse != Misuse::none) return "the event is refused";
  if (decision.granted != outcome.granted) {
    return "granted " + std::to_string(decision.granted) + " instead of " + std::to_string(outcome.granted);
  }
  for (TaskId task = 0; task < policy.task_count(); ++task) {
    if (policy.phase(task) != expected.phases[task]) return "task " + std::to_string(task) + " is in the wrong phase";
  }
  if (!outcome.choice_is_right || policy.gpu() != expected.gpu) {
    return "the GPU runs " + std::to_string(policy.gpu().runs) + ", expected was " + std::to_string(expected.gpu.runs);
  }
  if (decision.gpu_changed != (policy.gpu() != gpu_before)) return "gpu_changed is wrong";
  if (policy.gpu().runs != kNobody && policy.phase(policy.gpu().runs) != Phase::submitted) {
    return "the GPU runs what is not submitted";
  }
  if (policy.boosted() != specification.boosted(expected)) return "boosted is wrong";
  if (policy.served() != specification.served(expected)) return "served is wrong";
  if (policy.wants_boundary() != specification.wants_boundary(expected)) return "wants_boundary is wrong";
  return {};
}

}  // namespace rtgpu::testing
