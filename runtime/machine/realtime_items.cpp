#include "runtime/machine/realtime_items.h"

#include "rtgpu/time.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rtgpu {
namespace {

std::string message(int error) {
  return std::generic_category().message(error);
}

std::string bytes(rlim_t count) {
  constexpr rlim_t kKibibyte = 1024;
  if (count == RLIM_INFINITY) return "unlimited";
  return count % kKibibyte == 0 ? fmt::format("{} KiB", count / kKibibyte) : fmt::format("{} bytes", count);
}

std::string limits_line(std::string_view item, std::string_view value) {
  return fmt::format("add the line \"USER - {} {}\" to /etc/security/limits.d/rtgpu.conf and log in again", item,
                     value);
}

// A whole number, perhaps with white space behind it, as files of /proc hold it.
std::optional<std::int64_t> number(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\n");
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<RealtimeItem> highest_priority_item(int highest) {
  constexpr int kLowest = 1;
  constexpr int kMost = 97;
  if (highest >= kLowest && highest <= kMost) return std::nullopt;
  return RealtimeItem{"highest priority of a task",
                      fmt::format("{}", highest),
                      "none",
                      false,
                      "Linux has the real-time priorities 1 to 99, and the runtime needs two above those of the tasks",
                      fmt::format("Choose highest_priority from {} to {}.", kLowest, kMost)};
}

RealtimeItem memory_lock_item(int error, rlim_t limit, bool privileged) {
  RealtimeItem item{"memory", "locked", "locked", true, {}, {}};
  const bool limited = limit != RLIM_INFINITY && !privileged;
  const std::string mend = fmt::format("Run `ulimit -l unlimited` before, or {}.", limits_line("memlock", "unlimited"));
  if (error != 0) {
    item.granted = "not locked: a page fault can delay a job";
    item.ok = false;
    item.reason = limited
                      ? fmt::format("RLIMIT_MEMLOCK is {}, and the process does not have CAP_IPC_LOCK", bytes(limit))
                      : message(error);
    item.mend = limited ? mend : "Free memory, or do without locking.";
  } else if (limited) {
    item.granted = fmt::format("locked, up to {}", bytes(limit));
    item.reason = "RLIMIT_MEMLOCK holds for memory that is allocated later, too, and for stacks of threads";
    item.mend = mend;
  }
  return item;
}

RealtimeItem scheduling_allowed_item(Scheduler scheduler, int priority, int error, rlim_t limit, bool privileged) {
  const bool has_priority = scheduler != Scheduler::deadline;
  RealtimeItem item{"real-time scheduling",
                    has_priority ? fmt::format("{}, up to priority {}", to_string(scheduler), priority)
                                 : std::string(to_string(scheduler)),
                    "allowed",
                    error == 0,
                    {},
                    {}};
  if (error == 0) return item;
  item.granted = "not allowed";
  if (error != EPERM) {
    item.reason = message(error);
    item.mend = "Choose another scheduler or priority.";
  } else if (!has_priority && !privileged) {
    item.reason = "the process does not have CAP_SYS_NICE";
    item.mend = "Run `setcap cap_sys_nice+ep PROGRAM`, or run it as root.";
  } else if (!privileged && limit != RLIM_INFINITY && limit < static_cast<rlim_t>(std::max(priority, 0))) {
    item.reason = fmt::format("RLIMIT_RTPRIO is {}, and the process does not have CAP_SYS_NICE", limit);
    item.mend = fmt::format("Run `ulimit -r {}` before, {}, or run `setcap cap_sys_nice+ep PROGRAM`.", priority,
                            limits_line("rtprio", fmt::format("{}", priority)));
  } else {
    item.reason = "the limits of the process allow it, so its container or control group does not";
    item.mend =
        "Start the container with --cap-add=sys_nice, or give the control group real-time execution "
        "(cpu.rt_runtime_us).";
  }
  return item;
}

RealtimeItem execution_limit_item(rlim_t soft, rlim_t hard) {
  RealtimeItem item{"limit of real-time execution without a wait", "none", "none", true, {}, {}};
  const rlim_t limit = std::min(soft, hard);
  if (limit == RLIM_INFINITY) return item;
  item.granted = fmt::format("{}us", limit);
  item.ok = false;
  item.reason = "RLIMIT_RTTIME is set: a thread that executes so long gets a signal that ends the process";
  item.mend = fmt::format("Run `ulimit -R unlimited` before{}.",
                          hard == RLIM_INFINITY ? "" : ", as root, since the hard limit is set, too");
  return item;
}

std::optional<RealtimeItem> throttling_item(std::string_view runtime_us, std::string_view period_us) {
  const std::optional<std::int64_t> runtime = number(runtime_us);
  const std::optional<std::int64_t> period = number(period_us);
  if (!runtime || !period || *period <= 0) return std::nullopt;
  RealtimeItem item{"throttling of real-time threads", "off, or not reached", "off", true, {}, {}};
  if (*runtime < 0 || *runtime >= *period) return item;
  item.granted = fmt::format("on: {} of each {}", to_string(Duration::microseconds(*runtime)),
                             to_string(Duration::microseconds(*period)));
  item.ok = *runtime > 0;
  item.reason = "real-time threads of a CPU may together not execute longer than that; then others run";
  item.mend = "Run `sysctl -w kernel.sched_rt_runtime_us=-1` as root.";
  return item;
}

std::optional<RealtimeItem> preemption_item(std::string_view realtime, std::string_view version) {
  if (realtime.empty() && version.empty()) return std::nullopt;
  RealtimeItem item{"preemption of the kernel", "PREEMPT_RT", "PREEMPT_RT", true, {}, {}};
  const auto has = [&](std::string_view word) { return version.find(word) != std::string_view::npos; };
  if (number(realtime) == 1 || has("PREEMPT_RT") || has("PREEMPT RT")) return item;
  item.granted = has("PREEMPT_DYNAMIC") ? "PREEMPT_DYNAMIC" : has("PREEMPT") ? "PREEMPT" : "none in kernel code";
  item.reason = "system calls and interrupts of others can delay a task longer than on a kernel with PREEMPT_RT";
  item.mend = "Install a kernel with PREEMPT_RT.";
  return item;
}

std::optional<RealtimeItem> governor_item(const std::vector<std::string>& governors) {
  std::vector<std::string> kinds = governors;
  std::ranges::sort(kinds);
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  if (kinds.empty()) return std::nullopt;
  RealtimeItem item{
      "frequency governor of the CPUs", "performance", fmt::format("{}", fmt::join(kinds, ", ")), true, {}, {}};
  if (item.granted == item.asked) return item;
  item.reason = "execution times depend on the frequency, which is not fixed";
  item.mend = "Run `cpupower frequency-set -g performance` as root.";
  return item;
}

RealtimeItem cpu_item(std::string_view thread, int cpu, int error, const std::vector<int>& granted) {
  RealtimeItem item{fmt::format("CPU of {}", thread),
                    fmt::format("{}", cpu),
                    fmt::format("{}", fmt::join(granted, ", ")),
                    error == 0 && granted == std::vector<int>{cpu},
                    {},
                    {}};
  if (item.ok) return item;
  if (error == EINVAL) {
    item.reason = "the machine does not have this CPU, or the process may not use it";
    item.mend = "Choose a CPU that `taskset -p $$` and the control group (cpuset.cpus) allow.";
  } else {
    item.reason = error != 0 ? message(error) : "the control group changed it";
    item.mend = "Allow the process to choose its CPUs.";
  }
  return item;
}

RealtimeItem priority_item(std::string_view thread, const SchedulingAnswer& answer) {
  RealtimeItem item{fmt::format("priority of {}", thread),
                    answer.asked,
                    answer.granted,
                    answer.error == 0 && answer.asked == answer.granted,
                    {},
                    {}};
  if (item.ok) return item;
  switch (answer.error) {
    case EPERM:
      item.reason = "the process is not permitted to";
      item.mend = "See \"real-time scheduling\".";
      break;
    case EBUSY:
      item.reason = "the CPUs do not have so much execution time left for SCHED_DEADLINE";
      item.mend = "Ask for less runtime in each period.";
      break;
    case 0:
      item.reason = "something else changed it";
      item.mend = "Let nothing else set the scheduler of this thread.";
      break;
    default:
      item.reason = message(answer.error);
      item.mend = "Choose another scheduler or priority.";
  }
  return item;
}

RealtimeItem stack_item(std::string_view thread, std::size_t asked, std::size_t touched) {
  RealtimeItem item{fmt::format("stack of {}", thread),
                    fmt::format("{} present", bytes(asked)),
                    fmt::format("{} present", bytes(std::min(asked, touched))),
                    touched >= asked,
                    {},
                    {}};
  if (item.ok) return item;
  item.reason = "the stack of the thread is not larger";
  item.mend = "Ask for a smaller prefault_stack, or raise the size of stacks (`ulimit -s`).";
  return item;
}

RealtimeItem timer_slack_item(std::string_view thread, long slack_ns) {
  // Linux gives real-time threads 0, whatever they ask for.
  RealtimeItem item{fmt::format("timer slack of {}", thread),
                    "1ns at most",
                    slack_ns < 0 ? "not known" : to_string(Duration::nanoseconds(slack_ns)),
                    slack_ns <= 1,
                    {},
                    {}};
  if (item.ok) return item;
  item.reason = "the kernel kept it: timers can be late by that";
  item.mend = "Use a real-time scheduler.";
  return item;
}

}  // namespace rtgpu
