// What each task of a recorded schedule did at every moment, as a reader of a timeline wants to see it: the states of
// its jobs, divided by whether they had the core, the GPU or the copy engine that they needed.
#pragma once

#include "analysis/simulation/schedule.h"
#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rtgpu {

enum class Activity : std::uint8_t {
  cpu,         // a CPU segment runs
  misc,        // misc of a GPU segment runs
  call,        // an enter or a leave call runs
  preempted,   // needs its core, which runs another task
  lock_wait,   // waits to be let in, or to leave
  gpu,         // its work runs on the GPU
  gpu_switch,  // the GPU moves to its context
  gpu_wait,    // its work is with the GPU, which does something else
  copy,        // its copy runs
  copy_wait,   // its copy waits for the copy engine
};
inline constexpr std::size_t kActivityCount = 10;

// "cpu", "misc", "enter or leave call", "preempted", "waits for the lock", ...
std::string_view to_string(Activity activity);

struct ActivityInterval {
  TaskIndex task = kNoTask;
  std::int64_t job = 0;
  std::size_t segment = 0;
  Activity activity = Activity::cpu;
  JobState state = JobState::idle;  // where it begins
  bool holds_core = false;          // runs on its core, waits busily there, or spins
  bool boosted = false;
  bool by_server = false;  // done by the server, on its core
  Duration begin;
  Duration end;
};

// The intervals of each of `tasks` tasks, by begin; neighbours that are alike are one, with `by_state` only if their
// states are. Linear in the schedule.
std::vector<std::vector<ActivityInterval>> activities(const Schedule& schedule, std::size_t tasks,
                                                      bool by_state = false);

}  // namespace rtgpu
