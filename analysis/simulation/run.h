// One run of the simulator: its state, and how it moves on. Internal to analysis/simulation.
#pragma once

#include "analysis/simulation/recorder.h"
#include "analysis/simulation/scenario.h"
#include "analysis/simulation/schedule.h"
#include "analysis/simulation/simulator.h"
#include "rtgpu/gpu_policy.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace rtgpu {

// Times inside a run are plain nanoseconds: a run is a few thousand seconds at most, far from the range's end.
using Nanoseconds = std::int64_t;
inline constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

struct SimTimeRange {
  Nanoseconds min = 0;
  Nanoseconds max = 0;
};

enum class SegmentKind : std::uint8_t { cpu, gpu, copy };

struct SimSegment {
  SegmentKind kind = SegmentKind::cpu;
  SimTimeRange on_core;    // cpu, or misc
  SimTimeRange on_device;  // exec or copy
  Nanoseconds launch = 0;  // of each further slice
  Nanoseconds block = 0;   // 0: not given
  std::int64_t slices = 1;
  int copy_engine = 0;
};

// What does not change during a run.
struct SimTask {
  std::size_t core = 0;
  std::uint32_t rank = 0;  // on its core and elsewhere; 0 is the highest
  bool best_effort = false;
  bool busy = false;
  bool spins = false;
  Nanoseconds period = 0;
  Nanoseconds deadline = 0;
  Nanoseconds jitter = 0;
  std::vector<SimSegment> segments;
};

// With one engine all copies share it; with more, each direction has its own.
inline constexpr std::size_t kCopyEngines = 2;
inline int copy_engine_of(const CopySegment& copy, const Gpu& gpu) {
  return gpu.copy_engines > 1 && copy.direction == CopyDirection::to_host ? 1 : 0;
}

// Nominal releases of jobs that wait for the one before them. Grows only past its largest size so far.
class Backlog {
 public:
  bool empty() const { return count_ == 0; }
  void clear() { count_ = 0; }
  void push(Nanoseconds nominal, Nanoseconds actual);
  struct Entry {
    Nanoseconds nominal;
    Nanoseconds actual;
  };
  Entry pop();

 private:
  std::vector<Entry> ring_ = std::vector<Entry>(4);
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

// The state of a task's current job.
struct SimJob {
  JobState state = JobState::idle;
  std::int64_t number = -1;
  std::size_t segment = 0;
  Nanoseconds nominal = 0;
  Nanoseconds actual = 0;
  Nanoseconds on_core_left = 0;  // of the state, where it takes time on the core
  Nanoseconds device_left = 0;   // of exec or copy
  Nanoseconds device_done = 0;   // of exec
  Nanoseconds slice_length = 0;  // longest run of exec between two slice boundaries
  std::uint64_t submission = 0;  // of a copy, or of exec on SMs of the task's own: in order
  // Releases to come.
  std::int64_t next_number = 0;
  Nanoseconds next_nominal = 0;
  Nanoseconds next_actual = 0;
};

class Simulator::Run {
 public:
  Run(const Taskset& taskset, std::unique_ptr<GpuPolicy> policy, Policy which, WaitChoice wait);

  void watch(std::function<void(Duration)> watch) { watch_ = std::move(watch); }
  const Observation& run(const Scenario& scenario, Duration horizon, Schedule* schedule);

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kNoCore = std::numeric_limits<std::size_t>::max();

  void reset(const Scenario& scenario);

  // Releases and jobs: run_jobs.cpp.
  void plan_release(std::uint32_t task);
  void release_due(std::uint32_t task);
  void start_job(std::uint32_t task, Nanoseconds nominal, Nanoseconds actual);
  void begin_segment(std::uint32_t task);
  void end_segment(std::uint32_t task);
  void finish_job(std::uint32_t task);
  Nanoseconds draw(std::uint32_t task, SimTimeRange range, JobPart part) const;
  void count_cut_off();

  // Cores: run_cores.cpp.
  bool wants_core(std::uint32_t task) const;
  bool is_served(std::uint32_t task) const { return server_core_ != kNoCore && is_served_in(jobs_[task].state); }
  bool works_on(std::size_t core) const;
  bool takes_time_on(std::size_t core) const;
  void touch(std::uint32_t task) {
    is_touched_[tasks_[task].core] = 1;
    if (server_core_ != kNoCore) is_touched_[server_core_] = 1;
    any_touched_ = true;
  }
  void dispatch(std::size_t core);
  void settle();
  void step_on(std::size_t core);
  void call(std::uint32_t task, JobState state, Nanoseconds cost);

  // The GPU and the copy engines: run_devices.cpp.
  void apply(const Decision& decision);
  void follow_gpu();
  Nanoseconds next_on_gpu();
  Nanoseconds next_on_partitions() const;
  void complete_exec(std::uint32_t task);
  Nanoseconds to_boundary(std::uint32_t task) const;
  void gpu_due();
  void submit_exec(std::uint32_t task);
  void submit_copy(std::uint32_t task);
  void feed_copy_engine(std::size_t engine);
  bool copies_before(std::uint32_t a, std::uint32_t b) const;
  void copies_due();

  // Time: run.cpp.
  Nanoseconds next_event();
  void advance(Nanoseconds to);
  void handle_due();
  void record();

  std::unique_ptr<GpuPolicy> policy_;
  Boundary boundary_kind_;
  bool has_partitions_;  // of the SMs, one for each task
  bool copies_by_priority_;
  std::size_t server_core_ = kNoCore;  // under the policy server
  std::vector<SimTask> tasks_;
  std::vector<std::vector<std::uint32_t>> on_core_;  // tasks of each core, highest first

  Scenario no_scenario_;  // before the first run
  ScenarioDraws draws_{no_scenario_};
  Nanoseconds now_ = 0;
  Nanoseconds last_release_ = 0;
  std::vector<SimJob> jobs_;
  std::vector<Backlog> backlogs_;
  std::vector<std::uint32_t> running_;  // by core
  std::vector<char> is_touched_;        // by core: has to be dispatched again
  bool any_touched_ = false;

  std::uint32_t on_gpu_ = kNone;
  Nanoseconds switch_left_ = 0;
  Nanoseconds boundary_at_ = kNever;
  std::int64_t turns_ = 0;     // how often work was put on the GPU
  Nanoseconds turn_done_ = 0;  // of running since the start of the turn or its last boundary

  std::vector<std::uint32_t> copying_;  // by engine
  std::uint64_t submissions_ = 0;

  Observation observation_;
  std::function<void(Duration)> watch_;
  std::unique_ptr<Recorder> recorder_;
};

}  // namespace rtgpu
