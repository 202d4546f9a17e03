// The vocabulary of the trace: what a run records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rtgpu {

enum class TraceKind : std::uint8_t {
  // Of a job, on its core.
  release,      // value: the nominal release in ns; time: the actual one. Recorded when the job starts
  start,        // its first code runs
  cpu,          // a CPU segment begins
  arrive,       // a GPU segment is next
  enter,        // asks to be let in
  grant,        // may run its enter call
  inside,       // the enter call has ended: misc begins
  submit,       // its work is with the GPU
  end,          // its work is done
  leave,        // asks to leave
  leave_grant,  // may run its leave call
  left,         // the leave call has ended
  copy_arrive,  // a copy segment is next
  copy_submit,  // value: the copy engine
  copy_end,     // its copy is done
  complete,     // value: 1 if it was aborted
  miss,         // value: the deadline, as a time of the run, in ns
  overrun,      // value: Overrun
  error,        // value: GpuStatus; -1: the job's own code failed
  boost,        // runs above all of its core
  unboost,
  // Of a device.
  context_switch,  // moving to the task's context begins
  begin,           // the task's work begins, or goes on
  preempt,         // the task's work is interrupted
  slice,           // a slice of the task's work, or a turn, has ended
  copy_begin,      // value: the copy engine
  // Of a core; segment: the core. In virtual time; on a real machine it follows from the priorities.
  dispatch,  // the task has the core from now on; kNobody: no task
};
inline constexpr std::size_t kTraceKindCount = 27;
std::string_view to_string(TraceKind kind);  // "release", "leave grant", ...

struct TraceEvent {
  std::int64_t time_ns = 0;
  std::uint64_t order = 0;  // among those of one time
  std::int64_t job = 0;
  std::int64_t value = 0;
  std::uint32_t task = 0;
  std::uint16_t segment = 0;
  TraceKind kind = TraceKind::release;
};

}  // namespace rtgpu
