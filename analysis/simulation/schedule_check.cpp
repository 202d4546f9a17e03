#include "analysis/simulation/schedule_check.h"

#include "analysis/simulation/schedule_check_view.h"

#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

bool has_rules(Policy policy) {
  switch (policy) {
    case Policy::gcaps:
    case Policy::gcaps_wc:
    case Policy::tsg_rr:
    case Policy::mpcp:
    case Policy::fmlp_plus:
    case Policy::stream_priority:
    case Policy::server:
      return true;
    case Policy::federated:
      break;
  }
  return false;
}

}  // namespace

std::string_view to_string(ScheduleRule rule) {
  switch (rule) {
    case ScheduleRule::covered:
      return "covered";
    case ScheduleRule::interval:
      return "interval";
    case ScheduleRule::overlap:
      return "overlap";
    case ScheduleRule::release:
      return "release";
    case ScheduleRule::job_record:
      return "job record";
    case ScheduleRule::coverage:
      return "coverage";
    case ScheduleRule::state_order:
      return "state order";
    case ScheduleRule::execution_time:
      return "execution time";
    case ScheduleRule::core:
      return "core";
    case ScheduleRule::boost:
      return "boost";
    case ScheduleRule::gpu_work:
      return "GPU work";
    case ScheduleRule::gpu_owner:
      return "GPU owner";
    case ScheduleRule::gpu_order:
      return "GPU order";
    case ScheduleRule::gpu_turn:
      return "GPU turn";
    case ScheduleRule::gpu_interruption:
      return "GPU interruption";
    case ScheduleRule::context_switch:
      return "context switch";
    case ScheduleRule::one_holder:
      return "one holder";
    case ScheduleRule::handover:
      return "handover";
    case ScheduleRule::copy_engine:
      return "copy engine";
    case ScheduleRule::copy_order:
      return "copy order";
  }
  return "?";
}

std::string to_string(const ScheduleViolation& violation, const Taskset& taskset) {
  const bool is_known = violation.task < taskset.tasks.size();
  return fmt::format("at {}: {}{}{}: {}", to_string(violation.when), is_known ? taskset.tasks[violation.task].name : "",
                     is_known ? ": " : "", to_string(violation.rule), violation.text);
}

void Findings::add(ScheduleRule rule, TaskIndex task, Duration when, std::string text) {
  constexpr std::size_t kMost = 100;
  if (found_.size() < kMost) found_.push_back({rule, when, task, std::move(text)});
}

std::vector<ScheduleViolation> check_schedule(const Taskset& taskset, Policy policy, WaitChoice wait,
                                              const Schedule& schedule, const ScheduleCheckOptions& options) {
  Findings findings;
  if (!has_rules(policy) || taskset.platform.gpus.size() != 1) {
    findings.add(ScheduleRule::covered, kNoTask, {},
                 fmt::format("nothing is known of {} on {} GPUs", to_string(policy), taskset.platform.gpus.size()));
    return findings.take();
  }
  check_intervals(taskset, policy, schedule, findings);
  if (!findings.empty()) return findings.take();
  const ScheduleView view(taskset, policy, wait, schedule, options);
  check_jobs(view, findings);
  check_execution_times(view, findings);
  check_cores(view, findings);
  check_boosts(view, findings);
  check_gpu(view, findings);
  check_update_mutex(view, findings);
  check_gpu_lock(view, findings);
  check_copies(view, findings);
  return findings.take();
}

}  // namespace rtgpu
