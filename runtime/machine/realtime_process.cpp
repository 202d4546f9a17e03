#include "runtime/machine/realtime.h"
#include "runtime/machine/realtime_items.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <linux/capability.h>
#include <optional>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// Empty if it cannot be read.
std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string first_line(const std::string& path) {
  const std::string text = contents(path);
  return text.substr(0, text.find('\n'));
}

rlimit limits_of(__rlimit_resource resource) {
  rlimit limits{RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(resource, &limits);
  return limits;
}

bool has_capability(unsigned number) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (syscall(SYS_capget, &header, data.data()) != 0) return false;
  constexpr unsigned kBits = 32;
  return (data.at(number / kBits).effective >> (number % kBits) & 1U) != 0;
}

// What Linux answers if a thread asks for this priority. Asked by a thread of its own: limits, capabilities, control
// groups and containers all have a say.
int try_priority(Scheduler scheduler, int priority) {
  int error = 0;
  std::thread([&] {
    sched_param parameters{};
    parameters.sched_priority = priority;
    const int policy = scheduler == Scheduler::rr ? SCHED_RR : SCHED_FIFO;
    if (sched_setscheduler(0, policy, &parameters) != 0) error = errno;
  }).join();
  return error;
}

RealtimeItem scheduling_allowed(const RealtimeOptions& options) {
  const bool privileged = has_capability(CAP_SYS_NICE);
  if (options.scheduler == Scheduler::deadline) {
    return scheduling_allowed_item(options.scheduler, 0, privileged ? 0 : EPERM, 0, privileged);
  }
  const int priority = options.highest_priority + 2;
  return scheduling_allowed_item(options.scheduler, priority, try_priority(options.scheduler, priority),
                                 limits_of(RLIMIT_RTPRIO).rlim_cur, privileged);
}

RealtimeItem lock_memory() {
  const int error = mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno;
  return memory_lock_item(error, limits_of(RLIMIT_MEMLOCK).rlim_cur, has_capability(CAP_IPC_LOCK));
}

std::vector<std::string> governors() {
  std::vector<std::string> known;
  for (const int cpu : usable_cpus()) {
    std::string governor = first_line(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
    if (!governor.empty()) known.push_back(std::move(governor));
  }
  return known;
}

}  // namespace

std::vector<RealtimeItem> prepare_process(const RealtimeOptions& options) {
  std::vector<RealtimeItem> items;
  const auto say = [&](std::optional<RealtimeItem> item) {
    if (item) items.push_back(std::move(*item));
  };
  if (options.scheduler != Scheduler::normal) {
    std::optional<RealtimeItem> out_of_range = highest_priority_item(options.highest_priority);
    if (out_of_range) {
      say(std::move(out_of_range));
    } else {
      say(scheduling_allowed(options));
    }
    const rlimit execution = limits_of(RLIMIT_RTTIME);
    say(execution_limit_item(execution.rlim_cur, execution.rlim_max));
    say(throttling_item(first_line("/proc/sys/kernel/sched_rt_runtime_us"),
                        first_line("/proc/sys/kernel/sched_rt_period_us")));
    say(preemption_item(first_line("/sys/kernel/realtime"), first_line("/proc/version")));
    say(governor_item(governors()));
  }
  if (options.lock_memory) say(lock_memory());
  return items;
}

}  // namespace rtgpu
