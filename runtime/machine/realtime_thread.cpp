#include "runtime/machine/cpu_set.h"
#include "runtime/machine/realtime.h"
#include "runtime/machine/realtime_items.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace rtgpu {
namespace {

constexpr int kDeadlinePolicy = 6;  // SCHED_DEADLINE, which not every C library names

// The kernel's struct sched_attr in its first version; times in nanoseconds.
struct KernelScheduling {
  std::uint32_t size = 0;
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

void set_name(const std::string& name) {
  constexpr std::size_t kLongest = 15;
  pthread_setname_np(pthread_self(), name.substr(0, kLongest).c_str());
}

RealtimeItem set_cpu(const ThreadRequest& request) {
  CpuSet one;
  one.add(request.cpu);
  const int error = one.apply_to_calling_thread();
  return cpu_item(request.name, request.cpu, error, CpuSet::of_calling_thread().cpus());
}

RealtimeItem unset_cpu(const ThreadRequest& request) {
  return {fmt::format("CPU of {}", request.name),
          "any, for SCHED_DEADLINE",
          "any",
          true,
          "Linux does not let threads of SCHED_DEADLINE be pinned",
          {}};
}

std::string deadline_text(const KernelScheduling& scheduling) {
  const auto text = [](std::uint64_t time) {
    return to_string(Duration::nanoseconds(static_cast<std::int64_t>(time)));
  };
  return fmt::format("SCHED_DEADLINE {} / {} / {}", text(scheduling.runtime), text(scheduling.deadline),
                     text(scheduling.period));
}

std::string scheduling_text(int policy, int priority) {
  switch (policy) {
    case SCHED_FIFO:
      return fmt::format("SCHED_FIFO {}", priority);
    case SCHED_RR:
      return fmt::format("SCHED_RR {}", priority);
    case SCHED_OTHER:
      return "SCHED_OTHER";
    default:
      return fmt::format("scheduler {}", policy);
  }
}

// What is in force for the calling thread.
std::string scheduling_in_force() {
  const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  if (policy == kDeadlinePolicy) {
    KernelScheduling scheduling;
    syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0);
    return deadline_text(scheduling);
  }
  sched_param parameters{};
  sched_getparam(0, &parameters);
  return scheduling_text(policy, parameters.sched_priority);
}

RealtimeItem set_priority(const RealtimeOptions& options, const ThreadRequest& request) {
  int policy = SCHED_OTHER;
  if (request.priority != 0) policy = options.scheduler == Scheduler::rr ? SCHED_RR : SCHED_FIFO;
  sched_param parameters{};
  parameters.sched_priority = request.priority;
  const int error = sched_setscheduler(0, policy, &parameters) == 0 ? 0 : errno;
  return priority_item(request.name, {scheduling_text(policy, request.priority), scheduling_in_force(), error});
}

RealtimeItem set_deadline(const ThreadRequest& request) {
  if (!request.runtime || !request.deadline || !request.period) {
    return {fmt::format("priority of {}", request.name),
            "SCHED_DEADLINE",
            scheduling_in_force(),
            false,
            "SCHED_DEADLINE needs a runtime, a deadline and a period",
            "Declare all three for this thread, or choose another scheduler."};
  }
  KernelScheduling scheduling;
  scheduling.size = sizeof scheduling;
  scheduling.policy = kDeadlinePolicy;
  scheduling.runtime = static_cast<std::uint64_t>(request.runtime->count());
  scheduling.deadline = static_cast<std::uint64_t>(request.deadline->count());
  scheduling.period = static_cast<std::uint64_t>(request.period->count());
  const int error = syscall(SYS_sched_setattr, 0, &scheduling, 0) == 0 ? 0 : errno;
  return priority_item(request.name, {deadline_text(scheduling), scheduling_in_force(), error});
}

RealtimeItem set_timer_slack(const ThreadRequest& request) {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  return timer_slack_item(request.name, prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL));
}

// By the frame, not by a variable: those can be elsewhere under a sanitizer.
[[gnu::noinline]] std::uintptr_t stack_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

// Touches the stack from here down to `lowest`. Frames are less than a page long, so every page is met.
[[gnu::noinline]] int touch_stack(std::uintptr_t lowest) {
  std::array<volatile unsigned char, 2048> part;  // NOLINT(cppcoreguidelines-pro-type-member-init): one byte is enough
  part[0] = 1;
  const int below = stack_pointer() > lowest ? touch_stack(lowest) : 0;
  // Read afterwards, so that the frame has to be there during the call.
  return below + part[0];
}

RealtimeItem prefault_stack(const ThreadRequest& request, std::size_t asked) {
  // Below what is touched, room for the call itself and for signal handlers stays free.
  constexpr std::size_t kMargin = 32UL * 1024;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack_item(request.name, asked, 0);
  void* lowest = nullptr;
  std::size_t size = 0;
  std::size_t guard = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  const std::uintptr_t here = stack_pointer();
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(lowest) + guard + kMargin;
  const std::size_t touched = std::min<std::size_t>(asked, here > end ? here - end : 0);
  touch_stack(here - touched);
  return stack_item(request.name, asked, touched);
}

}  // namespace

std::vector<RealtimeItem> prepare_thread(const RealtimeOptions& options, const ThreadRequest& request) {
  std::vector<RealtimeItem> items;
  set_name(request.name);
  const bool by_deadline = options.scheduler == Scheduler::deadline && request.priority != 0;
  if (request.cpu >= 0) items.push_back(by_deadline ? unset_cpu(request) : set_cpu(request));
  if (options.prefault_stack > 0) items.push_back(prefault_stack(request, options.prefault_stack));
  items.push_back(set_timer_slack(request));
  items.push_back(by_deadline ? set_deadline(request) : set_priority(options, request));
  return items;
}

}  // namespace rtgpu
