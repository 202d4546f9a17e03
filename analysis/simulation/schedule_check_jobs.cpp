// Jobs: their records, and their states in order and without a hole.
#include "analysis/simulation/schedule_check_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// The records of a task by number.
std::vector<JobRecord> records_of(const ScheduleView& view, TaskIndex task) {
  std::vector<JobRecord> records;
  for (const JobRecord& job : view.schedule.jobs) {
    if (job.task == task) records.push_back(job);
  }
  std::ranges::sort(records, {}, &JobRecord::job);
  return records;
}

// --- the records

void check_record(const ScheduleView& view, const JobRecord& job, Findings& findings) {
  const Task& task = view.taskset.tasks[job.task];
  if (job.release < job.nominal_release || job.release - job.nominal_release > task.jitter) {
    findings.add(ScheduleRule::release, job.task, job.release,
                 fmt::format("job {} is released beyond its release jitter", job.job));
  }
  if (job.completion < job.release || (is_complete(job) && job.completion > view.schedule.end)) {
    findings.add(ScheduleRule::job_record, job.task, job.release,
                 fmt::format("job {} completes before its release or after the run", job.job));
  }
  const Duration response = (is_complete(job) ? job.completion : view.schedule.end) - job.nominal_release;
  if (job.missed != (!task.best_effort && response > task.deadline)) {
    findings.add(ScheduleRule::job_record, job.task, job.release,
                 fmt::format("job {} is {}recorded as a miss, with a response of {}", job.job, job.missed ? "" : "not ",
                             to_string(response)));
  }
}

void check_neighbours(const ScheduleView& view, const JobRecord& before, const JobRecord& job, Findings& findings) {
  if (job.nominal_release - before.nominal_release < view.taskset.tasks[job.task].period ||
      job.release < before.release) {
    findings.add(ScheduleRule::release, job.task, job.release,
                 fmt::format("job {} is released less than a period after the one before", job.job));
  }
  if (job.completion < before.completion) {
    findings.add(ScheduleRule::job_record, job.task, job.release,
                 fmt::format("job {} completes before the one before", job.job));
  }
}

void check_records(const ScheduleView& view, std::span<const JobRecord> records, Findings& findings) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (records[i].job != static_cast<std::int64_t>(i)) {
      findings.add(ScheduleRule::job_record, records[i].task, records[i].release,
                   fmt::format("there is no record of job {}, or two", i));
      return;
    }
    check_record(view, records[i], findings);
    if (i > 0) check_neighbours(view, records[i - 1], records[i], findings);
  }
}

// --- the intervals

// A job is in some state from its start to its completion.
void check_coverage(const ScheduleView& view, std::span<const Visit> visits, const JobRecord& job, Duration start,
                    Findings& findings) {
  Duration covered = start;
  for (const Visit& visit : visits) {
    if (visit.begin != covered) {
      findings.add(ScheduleRule::coverage, job.task, covered,
                   fmt::format("job {} is in no state, or in one before its start, between {} and {}", job.job,
                               to_string(covered), to_string(visit.begin)));
    }
    covered = visit.end;
  }
  const Duration end = is_complete(job) ? job.completion : view.schedule.end;
  if (covered != end && start <= end) {
    findings.add(ScheduleRule::coverage, job.task, covered,
                 fmt::format("job {} is in no state, or in one after its completion, between {} and {}", job.job,
                             to_string(covered), to_string(end)));
  }
}

void check_state_order(std::span<const Visit> visits, Findings& findings) {
  // States are enumerated in the order of a segment; those that take no time do not show.
  const auto place = [](const Visit& visit) { return std::tie(visit.segment, visit.state); };
  for (std::size_t i = 1; i < visits.size(); ++i) {
    if (place(visits[i - 1]) < place(visits[i])) continue;
    findings.add(ScheduleRule::state_order, visits[i].task, visits[i].begin,
                 fmt::format("job {} goes back in its segments", visits[i].job));
  }
}

// Every interval belongs to a job that has a record, and jobs come one after another.
void check_jobs_in_order(std::span<const Visit> visits, std::size_t jobs, Findings& findings) {
  for (std::size_t i = 0; i < visits.size(); ++i) {
    const bool is_late = i > 0 && visits[i].job < visits[i - 1].job;
    if (!is_late && visits[i].job < static_cast<std::int64_t>(jobs)) continue;
    findings.add(ScheduleRule::coverage, visits[i].task, visits[i].begin,
                 fmt::format("job {} has no record, or runs after a later one", visits[i].job));
  }
}

}  // namespace

void check_jobs(const ScheduleView& view, Findings& findings) {
  for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
    const std::vector<JobRecord> records = records_of(view, task);
    const std::span<const Visit> visits = visits_of(view, task);
    check_records(view, records, findings);
    check_jobs_in_order(visits, records.size(), findings);
    Duration free_from;  // of the job before
    for (const JobRecord& job : records) {
      const std::span<const Visit> own = visits_of(visits, job.job);
      check_coverage(view, own, job, std::max(job.release, free_from), findings);
      check_state_order(own, findings);
      free_from = job.completion;
    }
  }
}

}  // namespace rtgpu
