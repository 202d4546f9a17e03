// The cores of a simulated run: partitioned preemptive fixed priorities, with the policy's boost, or its server, above
// them.
#include "analysis/simulation/run.h"

namespace rtgpu {

// Tasks in a state that needs their core want it, and so does one that waits without giving it up.
bool Simulator::Run::wants_core(std::uint32_t task) const {
  if (is_served(task)) return tasks_[task].busy;
  switch (jobs_[task].state) {
    case JobState::idle:
      return false;
    case JobState::enter_waiting:
      return server_core_ == kNoCore ? tasks_[task].spins : tasks_[task].busy;
    case JobState::leave_waiting:
      return tasks_[task].spins;
    case JobState::gpu:
    case JobState::copy:
      return tasks_[task].busy;
    default:
      return true;
  }
}

// Whether what runs on the core is what the job there has to do, and not a wait for the server.
bool Simulator::Run::works_on(std::size_t core) const {
  return running_[core] != kNone && (core == server_core_ || !is_served(running_[core]));
}

bool Simulator::Run::takes_time_on(std::size_t core) const {
  if (!works_on(core)) return false;
  switch (jobs_[running_[core]].state) {
    case JobState::cpu:
    case JobState::entering:
    case JobState::misc:
    case JobState::leaving:
      return true;
    default:
      return false;
  }
}

void Simulator::Run::dispatch(std::size_t core) {
  if (core == server_core_ && policy_->served() != kNobody) {
    running_[core] = policy_->served();
    return;
  }
  const TaskId boosted = policy_->boosted();
  if (boosted != kNobody && tasks_[boosted].core == core && wants_core(boosted)) {
    running_[core] = boosted;
    return;
  }
  running_[core] = kNone;
  for (const std::uint32_t task : on_core_[core]) {
    if (!wants_core(task)) continue;
    running_[core] = task;
    return;
  }
}

// Dispatches until nothing more happens at this moment.
void Simulator::Run::settle() {
  while (any_touched_) {
    any_touched_ = false;
    for (std::size_t core = 0; core < running_.size(); ++core) {
      if (is_touched_[core] == 0) continue;
      is_touched_[core] = 0;
      dispatch(core);
      step_on(core);
    }
  }
}

// Takes the running task to its next state if it has nothing left to do on the core in this one.
void Simulator::Run::step_on(std::size_t core) {
  if (!works_on(core)) return;
  const std::uint32_t task = running_[core];
  SimJob& job = jobs_[task];
  if (takes_time_on(core) && job.on_core_left > 0) return;
  switch (job.state) {
    case JobState::cpu:
      end_segment(task);
      break;
    case JobState::to_enter:
      job.state = JobState::enter_waiting;
      apply(policy_->enter(task));
      break;
    case JobState::entering:
      job.state = JobState::misc;
      job.on_core_left = draw(task, tasks_[task].segments[job.segment].on_core, JobPart::misc);
      apply(policy_->entered(task));
      break;
    case JobState::misc:
      submit_exec(task);
      break;
    case JobState::to_leave:
      job.state = JobState::leave_waiting;
      apply(policy_->leave(task));
      break;
    case JobState::leaving:
      apply(policy_->left(task));
      if (server_core_ == kNoCore) {
        end_segment(task);
      } else {
        job.state = JobState::woken;
      }
      break;
    case JobState::woken:
      end_segment(task);
      break;
    case JobState::to_copy:
      submit_copy(task);
      break;
    case JobState::copied:
      end_segment(task);
      break;
    default:
      return;  // waits, without giving up the core
  }
  ++observation_.events;
  touch(task);
}

// A call that was granted: it takes up to `cost` on the core.
void Simulator::Run::call(std::uint32_t task, JobState state, Nanoseconds cost) {
  SimJob& job = jobs_[task];
  job.state = state;
  job.on_core_left = draw(task, {0, cost}, state == JobState::entering ? JobPart::enter : JobPart::leave);
  touch(task);
}

}  // namespace rtgpu
