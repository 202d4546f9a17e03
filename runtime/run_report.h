// What a run showed.
#pragma once

#include "rtgpu/policy.h"
#include "rtgpu/time.h"
#include "runtime/machine/realtime.h"
#include "runtime/statistics.h"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace rtgpu {

struct TaskReport {
  std::string name;
  bool best_effort = false;
  Duration deadline;
  std::optional<Duration> bound;  // of its response time, as admit() last said
  int stream_level = 0;           // with stream-priority; 0 is the highest
  TaskStatistics seen;

  bool exceeded() const { return bound && seen.response.max() > *bound; }
};

struct RunReport {
  Policy policy = Policy::mpcp;
  std::string device;
  bool virtual_time = false;
  Duration length;
  bool device_lost = false;
  std::uint64_t trace_events_dropped = 0;
  std::vector<TaskReport> tasks;
  RealtimeReport realtime;
  std::vector<std::string> notes;  // levels that tasks share, and the like

  std::int64_t misses() const;
  bool any_bound_exceeded() const;
  // Nothing failed: no miss, no fault, no dead thread, no lost device.
  bool is_clean() const;
};

// A table of the tasks, what went wrong, and what was not granted.
std::string to_string(const RunReport& report);
std::ostream& operator<<(std::ostream& out, const RunReport& report);

}  // namespace rtgpu
