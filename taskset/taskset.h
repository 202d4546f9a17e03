// The model: a platform, and sporadic tasks with fixed priorities that alternate between a core and a GPU.
//
// These are plain values. validate() states what a valid one is; the JSON reader applies the same rules, so a model
// built in C++ and one read from a file are the same thing. Not synchronised: share const values freely.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rtgpu {

// Limits of the format; each is checked and named in the error.
inline constexpr std::size_t kMaxTasks = 100'000;
inline constexpr std::size_t kMaxSegments = 10'000;  // of one task
inline constexpr int kMaxCpus = 100'000;
inline constexpr Duration kMaxTime = Duration::seconds(1'000'000);  // 10^6 s, for every time in a file

// What a task does while its own GPU or copy work is pending.
enum class WaitMode : std::uint8_t { suspend, busy };
// What a task does while it waits to be let in.
enum class LockWait : std::uint8_t { suspend, spin };
enum class CopyDirection : std::uint8_t { to_device, to_host };
// What equal priorities mean: an error, or "the earlier task in the file ranks higher".
enum class Ties : std::uint8_t { error, by_order };

std::string_view to_string(WaitMode mode);
std::string_view to_string(LockWait mode);

// Execution time from best to worst case; 0 <= min <= max.
struct ExecutionTime {
  Duration min;
  Duration max;
  friend bool operator==(const ExecutionTime&, const ExecutionTime&) = default;
};

// Runs on the task's core.
struct CpuSegment {
  ExecutionTime time;
  friend bool operator==(const CpuSegment&, const CpuSegment&) = default;
};

// Execution time when the segment has this many SMs to itself.
struct ExecOnSms {
  int sms = 1;
  ExecutionTime time;
  friend bool operator==(const ExecOnSms&, const ExecOnSms&) = default;
};

// The RTGPU description of a kernel (Zou et al., TPDS 2023): total work in SM-time, critical path, and by how much
// two virtual SMs that share an SM slow each other down, in millionths (1'000'000 is no slow-down).
struct ParallelWork {
  ExecutionTime work;
  ExecutionTime span;
  std::int64_t interleave_millionths = 1'000'000;
  friend bool operator==(const ParallelWork&, const ParallelWork&) = default;
};

// `misc` on the task's core, then `exec` on the GPU. At least one of exec, exec_by_sms and parallel is given.
struct GpuSegment {
  ExecutionTime misc;
  std::optional<ExecutionTime> exec;   // on the whole GPU
  std::vector<ExecOnSms> exec_by_sms;  // ascending SM counts, execution times that do not grow
  std::optional<ParallelWork> parallel;
  std::optional<Duration> block;  // the longest thread block; > 0
  int slices = 1;                 // launches the segment is partitioned into; >= 1
  friend bool operator==(const GpuSegment&, const GpuSegment&) = default;
};

// Occupies a copy engine, non-preemptively.
struct CopySegment {
  ExecutionTime time;
  CopyDirection direction = CopyDirection::to_device;
  friend bool operator==(const CopySegment&, const CopySegment&) = default;
};

using Segment = std::variant<CpuSegment, GpuSegment, CopySegment>;

struct Task {
  std::string name;
  Duration period;       // minimum separation of releases; > 0
  Duration deadline;     // relative, 0 < deadline <= period; of a best-effort task: the period, and without meaning
  Duration jitter;       // release jitter; counts against the deadline
  int priority = 0;      // larger is higher; compared between tasks of one class (real-time or best-effort)
  int gpu_priority = 0;  // likewise, on the GPU
  int cpu = 0;           // core the task is pinned to, 0 <= cpu < platform.cpus
  WaitMode wait = WaitMode::suspend;
  LockWait lock_wait = LockWait::suspend;
  bool best_effort = false;
  std::optional<std::int64_t> memory;  // device memory in bytes
  // SMs set aside for its GPU segments, where SMs are partitioned (federated); without, a search sets them aside.
  std::optional<int> sms = {};
  std::vector<Segment> segments;
  friend bool operator==(const Task&, const Task&) = default;
};

// What the GPU and its driver cost. All are 0 unless said.
struct Overheads {
  Duration runlist_update;  // epsilon: one enter or leave under gcaps
  Duration context_switch;  // theta: moving the GPU to another context
  Duration time_slice;      // L: length of a round-robin slice; 0 where it is not known
  Duration launch;          // each launch of a slice after the first
  Duration lock;            // acquiring, handing over or waking
  friend bool operator==(const Overheads&, const Overheads&) = default;
};

struct Gpu {
  std::string name = "gpu0";
  std::optional<int> sms;
  int copy_engines = 1;
  std::optional<std::int64_t> memory;  // bytes
  std::optional<int> stream_priorities;
  int server_cpu = 0;  // under the policy server: the core of the server, 0 <= server_cpu < platform.cpus
  Overheads overheads;
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

struct Platform {
  int cpus = 1;
  std::vector<Gpu> gpus = {Gpu{}};
  friend bool operator==(const Platform&, const Platform&) = default;
};

// Where a generated taskset comes from, so that it can be made again. Utilisations are in millionths, a value for each
// core, and count CPU and GPU time.
struct Origin {
  std::string generator;
  std::uint64_t seed = 0;                    // of the run with an index, else of the taskset itself
  std::optional<std::int64_t> index = {};    // in its run; >= 0
  std::vector<std::string> parameters = {};  // those that differ from the defaults, as key=value
  std::vector<std::int64_t> requested = {};  // as drawn, before tasks were allocated to cores
  std::vector<std::int64_t> achieved = {};   // of the tasks on each core
  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Taskset {
  Platform platform;
  Ties ties = Ties::error;
  std::vector<Task> tasks;
  std::optional<Origin> origin = {};  // of no consequence for any result
  friend bool operator==(const Taskset&, const Taskset&) = default;
};

// Every rule of the model that does not concern the text it was written in. Empty if the taskset is valid. Pointers in
// the errors are JSON pointers into the equivalent document. O(n log n) in tasks and segments.
Errors validate(const Taskset& taskset);

// Assigns the priorities that are missing (`priority_given[i]` is false), deadline-monotonically: shorter deadline
// first, then shorter period, then name. They rank below all given ones of the same class (real-time, best-effort).
// A task whose `gpu_priority_given[i]` is false takes its priority as its GPU priority.
void assign_missing_priorities(Taskset& taskset, const std::vector<bool>& priority_given,
                               const std::vector<bool>& gpu_priority_given);

bool uses_gpu(const Task& task);

// The worst-case CPU and GPU time of each core's tasks over their periods, in millionths, to the nearest. A GPU segment
// whose execution time is not given as `exec` counts with its misc alone.
std::vector<std::int64_t> utilisation_per_cpu(const Taskset& taskset);

// The worst execution time of a GPU segment that has the whole GPU of `sms` SMs to itself (unknown: nullopt): `exec` if
// it is given; otherwise the entry of exec_by_sms with the most SMs that exist; otherwise the bound of RTGPU on all
// SMs, (W * interleave - L) / (2 sms) + L. Does not include launches of slices. nullopt: cannot be told without `sms`.
std::optional<Duration> whole_gpu_exec(const GpuSegment& segment, std::optional<int> sms);

// The execution time of a GPU segment that has `sms` >= 1 SMs of a GPU of `all` SMs to itself: that of the entry of
// exec_by_sms with the most SMs that are not more than `sms`; by RTGPU, from W_min / (2 sms) rounded down to
// (W * interleave - L) / (2 sms) + L rounded up; the smaller where both are known; where neither is, `exec` on all SMs.
// nullopt: nothing is known of it on so few. More SMs never make it longer. Does not include launches of slices.
std::optional<ExecutionTime> gpu_exec_on(const GpuSegment& segment, int sms, int all);

// Whether some time of the taskset has a best case below its worst case. Where none has, best cases are not known: the
// format writes a single number for the worst case.
bool gives_best_cases(const Taskset& taskset);

}  // namespace rtgpu
