#include "tests/runtime/trace_of_schedule.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace rtgpu::testing {
namespace {

constexpr std::int64_t kNoEngine = -1;

// What comes first at one moment: that something ends, then releases, completions, and what begins.
enum Turn : std::uint64_t { ends, released, completed, begins, device_begins };

TraceKind kind_of(JobState state) {
  // The runtime has no server that would wake a task: anything stands for that.
  constexpr TraceKind kWoken = TraceKind::leave_grant;
  constexpr std::array<TraceKind, kJobStateCount> kKinds{TraceKind::complete,
                                                         TraceKind::cpu,
                                                         TraceKind::arrive,
                                                         TraceKind::enter,
                                                         TraceKind::grant,
                                                         TraceKind::inside,
                                                         TraceKind::submit,
                                                         TraceKind::end,
                                                         TraceKind::leave,
                                                         TraceKind::leave_grant,
                                                         kWoken,
                                                         TraceKind::copy_arrive,
                                                         TraceKind::copy_submit,
                                                         TraceKind::copy_end};
  return kKinds.at(static_cast<std::size_t>(state));
}

class Writer {
 public:
  void add(Duration at, Turn turn, TraceKind kind, TaskIndex task, std::int64_t job = 0, std::size_t segment = 0,
           std::int64_t value = 0) {
    trace_.events.push_back(
        {at.count(), turn, job, value, static_cast<std::uint32_t>(task), static_cast<std::uint16_t>(segment), kind});
  }

  void add(const TaskInterval& each) {
    if (each.state == JobState::to_leave) {
      add(each.begin, Turn::begins, TraceKind::submit, each.task, each.job, each.segment);
    }
    add(each.begin, Turn::begins, kind_of(each.state), each.task, each.job, each.segment, kNoEngine);
    if (!each.boosted) return;
    add(each.end, Turn::ends, TraceKind::unboost, each.task);
    add(each.begin, Turn::device_begins, TraceKind::boost, each.task);
  }

  void add(const CoreInterval& each) {
    const auto core = static_cast<std::size_t>(each.core);
    add(each.end, Turn::ends, TraceKind::dispatch, UINT32_MAX, 0, core);
    add(each.begin, Turn::begins, TraceKind::dispatch, each.task, 0, core);
  }

  void add(const GpuInterval& each) {
    add(each.end, Turn::ends, TraceKind::preempt, each.task);
    add(each.begin, Turn::device_begins, each.switching ? TraceKind::context_switch : TraceKind::begin, each.task);
  }

  void add(const CopyInterval& each) {
    // Of no job, so that the state of the task's own does not change.
    add(each.end, Turn::ends, TraceKind::copy_end, each.task, -1, 0, each.engine);
    add(each.begin, Turn::device_begins, TraceKind::copy_begin, each.task, 0, 0, each.engine);
  }

  void add(const JobRecord& each) {
    add(each.release, Turn::released, TraceKind::release, each.task, each.job, 0, each.nominal_release.count());
    if (!each.completion.is_infinite()) {
      add(each.completion, Turn::completed, TraceKind::complete, each.task, each.job);
    }
  }

  Trace trace_until(Duration end) {
    std::ranges::stable_sort(trace_.events, [](const TraceEvent& a, const TraceEvent& b) {
      return std::tuple(a.time_ns, a.order) < std::tuple(b.time_ns, b.order);
    });
    trace_.end = end;
    return trace_;
  }

 private:
  Trace trace_;
};

}  // namespace

Trace trace_of(const Schedule& schedule, bool dispatches) {
  Writer writer;
  for (const JobRecord& each : schedule.jobs) writer.add(each);
  for (const TaskInterval& each : schedule.tasks) writer.add(each);
  for (const GpuInterval& each : schedule.gpu) writer.add(each);
  for (const CopyInterval& each : schedule.copies) writer.add(each);
  if (dispatches) {
    for (const CoreInterval& each : schedule.cores) writer.add(each);
  }
  return writer.trace_until(schedule.end);
}

}  // namespace rtgpu::testing
