// What the answers of Linux mean: the items of a report, from what a call returned or a file says. Pure functions.
#pragma once

#include "runtime/machine/realtime.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <vector>

namespace rtgpu {

// Refused unless `highest` is 1 to 97.
std::optional<RealtimeItem> highest_priority_item(int highest);

// `error`: what mlockall() failed with, or 0. `limit`: RLIMIT_MEMLOCK. `privileged`: CAP_IPC_LOCK.
RealtimeItem memory_lock_item(int error, rlim_t limit, bool privileged);

// `error`: what a thread got that asked for the scheduler at this priority, or 0. `limit`: RLIMIT_RTPRIO. `privileged`:
// CAP_SYS_NICE.
RealtimeItem scheduling_allowed_item(Scheduler scheduler, int priority, int error, rlim_t limit, bool privileged);

// RLIMIT_RTTIME, in microseconds.
RealtimeItem execution_limit_item(rlim_t soft, rlim_t hard);

// What sched_rt_runtime_us and sched_rt_period_us say, in microseconds; nothing to say if they are not numbers.
std::optional<RealtimeItem> throttling_item(std::string_view runtime_us, std::string_view period_us);

// What /sys/kernel/realtime and /proc/version say; either can be empty.
std::optional<RealtimeItem> preemption_item(std::string_view realtime, std::string_view version);

// The frequency governors of the CPUs, as far as they are known.
std::optional<RealtimeItem> governor_item(const std::vector<std::string>& governors);

// The following are things of a thread of this name.

// `error`: what setting the affinity failed with, or 0. `granted`: the CPUs that it may use now.
RealtimeItem cpu_item(std::string_view thread, int cpu, int error, const std::vector<int>& granted);

// What was asked of the scheduler, what is in force now, and the error, or 0, between them.
struct SchedulingAnswer {
  std::string asked;
  std::string granted;
  int error = 0;
};
RealtimeItem priority_item(std::string_view thread, const SchedulingAnswer& answer);

// Bytes of the stack.
RealtimeItem stack_item(std::string_view thread, std::size_t asked, std::size_t touched);

// `slack_ns`: negative if it is not known.
RealtimeItem timer_slack_item(std::string_view thread, long slack_ns);

}  // namespace rtgpu
