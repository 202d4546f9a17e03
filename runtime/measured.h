// A taskset with what a run measured of the machine: the bounds of a real machine.
//
// The model knows no latency of timers and wake-ups, and no time that the kernel, a hypervisor or the runtime's own
// threads take. Here these are made part of the taskset, with what was measured during the run as their worst case, so
// that the analysis counts them. The bounds hold as far as the machine was no worse than in that run.
#pragma once

#include "rtgpu/time.h"
#include "runtime/execution_log.h"
#include "runtime/latency_sampler.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rtgpu {

// What the machine took in a run, in the worst case that was seen. What takes longer than LatencySampler::kNoted is
// lost time; the latencies are without it.
struct MeasuredOverheads {
  std::vector<Duration> wake_up;            // by core: of its highest task, from what it waited for to going on
  std::vector<std::vector<Lateness>> lost;  // by core: when the CPU did not let its highest thread run
  std::vector<Duration> overshoot;          // by task: execution of a job beyond what its segments declare
  Duration device_latency;                  // from an event of the emulated device to its being noticed
  Duration device_handling;                 // CPU time that an event takes, on some core
  // Of a device that is looked at now and then, in place of that: what the device's thread executed.
  ExecutionLog device_execution;
  std::vector<Lateness> device_lost;  // events that were noticed later
  bool complete = true;               // every lost time could be noted
};

// "waking up takes up to 0.085 ms, ...": for a reader. `window` is what lost time is said for.
std::string describe(const MeasuredOverheads& measured, Duration window);

// The tasks of `taskset`, in its order and under the same names, with the overheads in their times; after them, for
// each core, tasks of the highest priority that stand for lost time and for the device's thread. For a valid taskset.
Taskset with_overheads(const Taskset& taskset, const MeasuredOverheads& measured);

}  // namespace rtgpu
