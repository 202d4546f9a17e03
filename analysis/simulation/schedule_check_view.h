// What the rules of check_schedule() look at, and where they report. Internal to analysis/simulation.
#pragma once

#include "analysis/analysis.h"
#include "analysis/simulation/schedule.h"
#include "analysis/simulation/schedule_check.h"
#include "rtgpu/policy.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rtgpu {

class Findings {
 public:
  void add(ScheduleRule rule, TaskIndex task, Duration when, std::string text);
  bool empty() const { return found_.empty(); }
  std::vector<ScheduleViolation> take() { return std::move(found_); }

 private:
  std::vector<ScheduleViolation> found_;
};

// What the rules need of a task.
struct CheckedTask {
  std::size_t cpu_rank = 0;  // among all tasks; 0 is the highest, best-effort tasks are last
  std::size_t gpu_rank = 0;
  bool busy = false;
  bool spins = false;
};

// A job in one state of one segment: task intervals that follow each other and differ in nothing but the boost.
struct Visit {
  TaskIndex task = kNoTask;
  std::int64_t job = 0;
  std::size_t segment = 0;
  JobState state = JobState::idle;
  Duration begin;
  Duration end;
  // How much of it the job had of its core, of the GPU (without switching), and of its copy engine.
  Duration on_core;
  Duration on_gpu;
  Duration on_engine;
  bool is_cut_off = false;  // by the end of the run
};

// A time in which nothing changes.
struct ScheduleSlice {
  Duration begin;
  Duration end;
  std::vector<const Visit*> visits;  // by task; null: no job
  std::vector<TaskIndex> cores;      // who runs; kNoTask: nobody
  bool by_server = false;            // on the server's core the server does, for that task
  std::vector<TaskIndex> engines;
  TaskIndex gpu = kNoTask;
  bool switching = false;   // to `gpu`
  bool gpu_begins = false;  // an interval of the GPU begins here

  bool is_in(TaskIndex task, JobState state) const { return visits[task] != nullptr && visits[task]->state == state; }
  // The work that executes, if any.
  const Visit* on_gpu() const { return gpu == kNoTask || switching ? nullptr : visits[gpu]; }
};

// An uninterrupted run of work on the GPU.
struct Turn {
  const Visit* visit = nullptr;
  Duration begin;
  Duration last_begin;  // later than `begin` if something that took no time came between
  Duration end;
  Duration done;                // of the work, at its end
  std::size_t last_slice = 0;   // in which it still runs
  bool is_interrupted = false;  // the work goes on later, or never
};

// A schedule whose intervals are well-formed, made ready for the rules.
class ScheduleView {
 public:
  ScheduleView(const Taskset& the_taskset, Policy the_policy, WaitChoice wait, const Schedule& the_schedule,
               const ScheduleCheckOptions& the_options);
  // Slices point to visits.
  ScheduleView(const ScheduleView&) = delete;
  ScheduleView& operator=(const ScheduleView&) = delete;

  const Taskset& taskset;
  Policy policy;
  const Schedule& schedule;
  const ScheduleCheckOptions& options;
  std::vector<CheckedTask> tasks;
  std::vector<Visit> visits;          // by task, then time
  std::vector<ScheduleSlice> slices;  // from the first interval's begin to the last one's end
  std::vector<Turn> turns;            // in the order of time

  const Overheads& overheads() const { return taskset.platform.gpus.front().overheads; }
  const std::string& name(TaskIndex task) const { return taskset.tasks[task].name; }
  const Segment& segment(const Visit& visit) const { return taskset.tasks[visit.task].segments[visit.segment]; }
  // Of a visit in the state gpu.
  const GpuSegment& work(const Visit& visit) const;
  bool is_best_effort(TaskIndex task) const { return taskset.tasks[task].best_effort; }
  bool wants_core(const Visit& visit) const;
  // Under the policy server: its core, and whether it works for a visit.
  bool has_server() const { return policy == Policy::server; }
  std::size_t server_core() const { return static_cast<std::size_t>(taskset.platform.gpus.front().server_cpu); }
  bool is_served(const Visit& visit) const { return has_server() && is_served_in(visit.state); }
  // Each task has SMs of its own: slices and turns say nothing of the GPU.
  bool has_partitions() const { return policy == Policy::federated; }

 private:
  void rank_tasks();
  void make_visits();
  void mark_cut_off();
  void make_slices();
  void make_turns();
  void sum_up();
};

// The visits of a task, or those of one of its jobs.
std::span<const Visit> visits_of(const ScheduleView& view, TaskIndex task);
std::span<const Visit> visits_of(std::span<const Visit> of_task, std::int64_t job);

inline bool is_complete(const JobRecord& job) {
  return !job.completion.is_infinite();
}

// The engine of a copy: with more than one, each direction has its own.
std::size_t engine_of(const CopySegment& copy, const Gpu& gpu);
std::size_t engines_of(const Gpu& gpu);

// The rules.
void check_intervals(const Taskset& taskset, Policy policy, const Schedule& schedule, Findings& findings);
void check_jobs(const ScheduleView& view, Findings& findings);
void check_execution_times(const ScheduleView& view, Findings& findings);
void check_cores(const ScheduleView& view, Findings& findings);
void check_boosts(const ScheduleView& view, Findings& findings);
void check_gpu(const ScheduleView& view, Findings& findings);
void check_partitions(const ScheduleView& view, Findings& findings);
void check_update_mutex(const ScheduleView& view, Findings& findings);
void check_gpu_lock(const ScheduleView& view, Findings& findings);
void check_copies(const ScheduleView& view, Findings& findings);

}  // namespace rtgpu
