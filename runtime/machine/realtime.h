// What a run asks of Linux to be on time, and what it was granted.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

enum class Scheduler : std::uint8_t {
  fifo,      // SCHED_FIFO
  rr,        // SCHED_RR
  deadline,  // SCHED_DEADLINE: the kernel's own priorities, by deadline; no boosts, no pinning
  normal,    // the default of Linux: no real-time scheduling asked for
};
std::string_view to_string(Scheduler scheduler);  // "SCHED_FIFO", ...

struct RealtimeOptions {
  Scheduler scheduler = Scheduler::fifo;
  // Runs even if something that was asked for is refused; it is in the report all the same.
  bool allow_degraded = false;
  // Tasks of cores that the machine does not have run on those that it has. No bound holds then.
  bool share_cores = false;
  bool lock_memory = true;
  std::size_t prefault_stack = 128UL * 1024;
  // OS priority of the highest task of a core; lower ones follow below it. The two above are for boosted tasks and for
  // the runtime's own threads. 1 to 97.
  int highest_priority = 80;
};

// One thing that was asked for.
struct RealtimeItem {
  std::string what = {};     // "priority of camera"
  std::string asked = {};    // "SCHED_FIFO 80"
  std::string granted = {};  // "SCHED_OTHER"
  bool ok = true;
  std::string reason = {};  // why not
  std::string mend = {};    // the command that mends it
};

struct RealtimeReport {
  std::vector<RealtimeItem> items;

  bool all_granted() const;
  // What was refused, as errors of the code `environment`.
  Errors refusals() const;
};

// Things of the process and the machine: memory locking, limits, throttling of real-time tasks. What has to be set is
// set. Affects the whole process. What the machine does not tell is left out; what only matters for how far results can
// be trusted (throttling, preemption of the kernel, CPU frequency) is said and not refused.
std::vector<RealtimeItem> prepare_process(const RealtimeOptions& options);

// The CPUs that this process may use, in ascending order.
std::vector<int> usable_cpus();

// Things of the calling thread: its name (of which Linux keeps 15 bytes), CPU (negative: any), scheduler and priority
// (0: the default scheduler), timer slack and stack.
struct ThreadRequest {
  std::string name = {};
  int cpu = -1;
  int priority = 0;
  // For Scheduler::deadline, which needs all three. The CPU is not set then.
  std::optional<Duration> runtime = {};
  std::optional<Duration> deadline = {};
  std::optional<Duration> period = {};
};
std::vector<RealtimeItem> prepare_thread(const RealtimeOptions& options, const ThreadRequest& request);

}  // namespace rtgpu
