#include "runtime/machine/realtime.h"

#include "runtime/machine/cpu_set.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {

std::string_view to_string(Scheduler scheduler) {
  switch (scheduler) {
    case Scheduler::fifo:
      return "SCHED_FIFO";
    case Scheduler::rr:
      return "SCHED_RR";
    case Scheduler::deadline:
      return "SCHED_DEADLINE";
    case Scheduler::normal:
      return "SCHED_OTHER";
  }
  return "?";
}

bool RealtimeReport::all_granted() const {
  return std::ranges::all_of(items, [](const RealtimeItem& item) { return item.ok; });
}

Errors RealtimeReport::refusals() const {
  Errors errors;
  for (const RealtimeItem& item : items) {
    if (item.ok) continue;
    std::string found = fmt::format("{}: {}", item.what, item.granted);
    if (!item.reason.empty()) found += fmt::format(" ({})", item.reason);
    errors.push_back({ErrorCode::environment, Place{}, std::move(found), item.asked, item.mend});
  }
  return errors;
}

std::vector<int> usable_cpus() {
  return CpuSet::of_calling_thread().cpus();
}

}  // namespace rtgpu
