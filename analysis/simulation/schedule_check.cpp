#include "analysis/simulation/schedule_check.h"

#include "analysis/search/sm_partition.h"
#include "analysis/simulation/schedule_check_view.h"

#include <utility>

#include <fmt/format.h>

namespace rtgpu {
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

namespace {

std::vector<ScheduleViolation> check_on_gpu(const Taskset& taskset, Policy policy, WaitChoice wait,
                                            const Schedule& schedule, const ScheduleCheckOptions& options) {
  Findings findings;
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

std::vector<ScheduleViolation> not_covered(std::string text) {
  Findings findings;
  findings.add(ScheduleRule::covered, kNoTask, {}, std::move(text));
  return findings.take();
}

}  // namespace

std::vector<ScheduleViolation> check_schedule(const Taskset& taskset, Policy policy, WaitChoice wait,
                                              const Schedule& schedule, const ScheduleCheckOptions& options) {
  if (taskset.platform.gpus.size() != 1) {
    return not_covered(
        fmt::format("nothing is known of {} on {} GPUs", to_string(policy), taskset.platform.gpus.size()));
  }
  if (policy != Policy::federated) return check_on_gpu(taskset, policy, wait, schedule, options);
  const Result<PartitionedTaskset> partitioned = on_sm_partition(taskset, wait);
  if (!partitioned) return not_covered(to_string(partitioned.errors().front()));
  return check_on_gpu(partitioned->taskset, policy, wait, schedule, options);
}

}  // namespace rtgpu
