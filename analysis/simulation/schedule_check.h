// Checks a recorded schedule against the rules of the model and of its GPU access policy.
//
// The checker shares nothing with the simulator and asks no policy object: it looks at the intervals alone, so that it
// can find fault with either. Where several things happen at one moment it accepts every order of them.
#pragma once

#include "analysis/analysis.h"
#include "analysis/simulation/schedule.h"
#include "rtgpu/policy.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

enum class ScheduleRule : std::uint8_t {
  covered,           // the taskset has one GPU, and for federated a partition of its SMs
  interval,          // an interval is not empty, lies in the run and names what exists; its state fits its segment
  overlap,           // a task, core, GPU or copy engine does one thing at a time
  release,           // jobs are released a period apart, within their release jitter
  job_record,        // the record of a job agrees with itself and with the others of its task
  coverage,          // a task's intervals cover each job from its start to its completion, one job after the other
  state_order,       // a job goes through its segments, and through the states of each, in order
  execution_time,    // a part of a job takes no more than its worst case, and no less than its best case
  core,              // the highest task that wants a core has it
  boost,             // a task runs above all priorities where the policy says so, and nowhere else
  gpu_work,          // the GPU runs and moves to work that has been submitted, and work ends when it is done
  gpu_owner,         // the GPU runs what the policy says, and idles only where that says so
  gpu_order,         // work is taken in the order of the policy
  gpu_turn,          // no work runs on while the policy lets another one in
  gpu_interruption,  // work is interrupted only for whom, and where, the policy says so
  context_switch,    // moving to another context takes the context switch, and happens when the context changes
  one_holder,        // the lock, or the mutex of the updates, has one holder at a time, and one if somebody waits
  handover,          // it goes to the waiter that is first in the order of the policy
  copy_engine,       // a copy has its engine without a break until its end; an engine with copies does not idle
  copy_order,        // copies are taken in the order of the policy
};
std::string_view to_string(ScheduleRule rule);

struct ScheduleViolation {
  ScheduleRule rule = ScheduleRule::covered;
  Duration when;
  TaskIndex task = kNoTask;  // kNoTask: no single one
  std::string text;          // a sentence that names tasks by their names
};
// "at 12ms: camera: core: runs on core 1, which it does not want"
std::string to_string(const ScheduleViolation& violation, const Taskset& taskset);

struct ScheduleCheckOptions {
  // Parts of jobs may take less than their best case.
  bool below_best_case = false;
  // Enter and leave calls may take less than their cost.
  bool shorter_calls = true;
};

// The violations that were found, at most a hundred and in no particular order; empty if the schedule is legal. If
// intervals are malformed, only that is reported. For a valid taskset. The schedule's intervals may be in any order.
// Exec in slices is taken to be cut into equal ones. O(m (t + log m)) for m moments at which something changes and t
// tasks.
std::vector<ScheduleViolation> check_schedule(const Taskset& taskset, Policy policy, WaitChoice wait,
                                              const Schedule& schedule, const ScheduleCheckOptions& options = {});

}  // namespace rtgpu
