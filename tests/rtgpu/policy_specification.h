// The policies as policies.md tells them, in a few lines each and without regard to speed: for every event, what has to
// happen. Shares nothing with the state machines.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/policy.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rtgpu::testing {

enum class PolicyEvent : std::uint8_t { enter, entered, submit, boundary, complete, leave, left, cancel };
inline constexpr std::size_t kPolicyEvents = 8;
std::string_view to_string(PolicyEvent event);

Decision apply(GpuPolicy& policy, PolicyEvent event, TaskId task);

// Where a system of tasks is.
struct SpecifiedState {
  std::vector<Phase> phases;
  TaskId holder = kNobody;       // of the lock or the mutex; whom the server serves
  std::vector<TaskId> requests;  // for it, in the order of asking; under mpcp also the rest of an interrupted exec
  GpuState gpu;
  std::vector<TaskId> work;          // tsg-rr, stream-priority: waiting work in order of arrival
  TaskId context = kNobody;          // tsg-rr: where the GPU is, also while it idles
  std::vector<std::uint8_t> missed;  // gcaps: by best-effort task with work: turns of others that ended since its own
};

class PolicySpecification {
 public:
  PolicySpecification(Policy policy, PolicySetup setup, std::vector<int> levels);

  SpecifiedState start() const;
  // Whether an event is in place.
  bool allows(const SpecifiedState& state, PolicyEvent event, TaskId task) const;
  struct Outcome {
    TaskId granted = kNobody;     // who may run its call now
    bool choice_is_right = true;  // gcaps, gcaps-wc: whether the GPU may run what the policy chose
  };
  // Moves on by an event that is in place. What the GPU runs follows from it, except which of several best-effort tasks
  // under gcaps and gcaps-wc: there the policy's choice `runs` is taken over if it is right.
  Outcome move_on(SpecifiedState& state, PolicyEvent event, TaskId task, TaskId runs) const;

  TaskId boosted(const SpecifiedState& state) const;
  TaskId served(const SpecifiedState& state) const;
  bool wants_boundary(const SpecifiedState& state) const;

 private:
  bool has_mutex() const { return policy_ == Policy::gcaps || policy_ == Policy::gcaps_wc; }
  bool has_lock() const { return policy_ == Policy::mpcp || policy_ == Policy::fmlp_plus; }
  bool has_server() const { return policy_ == Policy::server; }
  // Who was let in keeps others out until it has left.
  bool admits_one() const { return has_lock() || has_server(); }
  bool has_own_sms() const { return policy_ == Policy::federated; }
  bool ranks_above(TaskId a, TaskId b) const;
  bool goes_before(TaskId waiter, TaskId holder) const;
  std::optional<std::size_t> first_request(const SpecifiedState& state) const;
  std::optional<std::size_t> first_work(const SpecifiedState& state) const;

  TaskId hold(SpecifiedState& state, PolicyEvent event, TaskId task) const;
  void release(SpecifiedState& state, PolicyEvent event, TaskId task) const;
  void serve_in_turn(SpecifiedState& state, PolicyEvent event, TaskId task) const;
  void serve_by_level(SpecifiedState& state, PolicyEvent event, TaskId task) const;
  TaskId real_time_owner(const SpecifiedState& state) const;
  bool choose(SpecifiedState& state, PolicyEvent event, TaskId task, TaskId runs) const;
  bool is_right_best_effort(const SpecifiedState& state, PolicyEvent event, TaskId task, TaskId runs) const;
  void count_missed_turns(SpecifiedState& state, PolicyEvent event, TaskId task) const;
  bool has_other_best_effort_work(const SpecifiedState& state, TaskId task) const;

  Policy policy_;
  PolicySetup setup_;
  std::vector<int> levels_;
};

}  // namespace rtgpu::testing
