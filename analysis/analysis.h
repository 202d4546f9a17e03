// What an analysis is asked and what it answers.
#pragma once

#include "rtgpu/policy.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

// `safe`: no legal schedule of the policy exceeds the bound. `published`: the recurrence as its paper prints it, for
// comparison; it is not a guarantee.
enum class Variant : std::uint8_t { safe, published };

// How tasks wait: as each one says, or all alike.
enum class WaitChoice : std::uint8_t { file, suspend, busy };

// How all GPU-using real-time tasks of an analysed set wait.
enum class WaitLabel : std::uint8_t { suspend, busy, mixed };

// What stands for R_h in the jitter of a higher-priority task's suspended work: its bound, or its deadline.
enum class JitterSource : std::uint8_t { response, deadline };

// `file`: GPU priorities as the taskset says. `search`: if those fail, Audsley's assignment of separate GPU priorities.
enum class GpuPriorities : std::uint8_t { file, search };

// How the search for GPU priorities, or for a partition of the SMs, ended.
enum class SearchOutcome : std::uint8_t {
  not_needed,     // not asked for, or what is given passes; of SMs: all are given
  found,          // what the result has was found, and passes
  none,           // none was found; the result is that of the given priorities, or of SMs that do not suffice
  limit_reached,  // undecided; likewise
};

// How a partition of the SMs came about.
enum class SmSearch : std::uint8_t {
  not_needed,  // all tasks that use the GPU name their SMs
  heuristic,   // tasks that miss their deadlines were given SMs, one after another
  exact,       // every partition was tried, or excluded
};
std::string_view to_string(SmSearch search);  // "given", "heuristic", "exact"

// The SMs that each task has to itself.
struct SmPartition {
  std::vector<int> sms;  // by task of the taskset; 0: it does not use the GPU
  SearchOutcome search = SearchOutcome::not_needed;
  SmSearch method = SmSearch::not_needed;
};

// The parts that every bound is the sum of.
enum class Term : std::uint8_t {
  own,               // the task's own execution, and its release jitter
  cpu_preemption,    // higher-priority tasks on its core
  cpu_blocking,      // lower-priority tasks, locks and updates that hold its core
  gpu_preemption,    // higher-priority work on the GPU
  gpu_blocking,      // lower-priority work on the GPU that is not preempted
  gpu_interleaving,  // work the GPU is shared with in turns
  copy,              // copies of others
  overhead,          // the task's own updates, switches, locks and launches
};
inline constexpr std::size_t kTermCount = 8;

std::string_view to_string(Variant variant);      // "safe", "published"
std::string_view to_string(WaitLabel label);      // "suspend", "busy", "mixed"
std::string_view to_string(JitterSource source);  // "response", "deadline"
std::string_view to_string(Term term);            // "own", "cpu_preemption", ...

using TaskIndex = std::size_t;  // position in Taskset::tasks
inline constexpr TaskIndex kNoTask = std::numeric_limits<TaskIndex>::max();

// One summand of a bound: `jobs` times what task `task` costs each time.
struct Contribution {
  Term term = Term::own;
  TaskIndex task = kNoTask;  // whom it is charged to; the analysed task itself for its own parts
  std::int64_t jobs = 1;
  Duration amount;  // in all
};

enum class Outcome : std::uint8_t {
  bound,                // a fixed point at or below the deadline
  not_schedulable,      // the recurrence passes the deadline
  unknown,              // depends on a task that has no bound
  limit_reached,        // the stated amount of work was not enough
  overflow,             // a sum passes 2^63-1 ns
  assumption_violated,  // the taskset has something that the analysis does not cover
};
std::string_view to_string(Outcome outcome);  // "bound", "not schedulable", ...

struct TaskResult {
  TaskIndex task = kNoTask;
  Outcome outcome = Outcome::unknown;
  // The bound on the response time, counted from the nominal release. Present for Outcome::bound, and with
  // beyond_deadline also for a fixed point between deadline and period (Outcome::not_schedulable).
  std::optional<Duration> bound;
  std::array<Duration, kTermCount> terms{};  // add up to the bound exactly; all 0 where there is none
  std::vector<Contribution> contributions;   // non-zero summands of the terms, if asked for
  std::string reason;                        // why there is no bound at or below the deadline; else empty

  bool schedulable() const { return outcome == Outcome::bound; }
};

struct AnalysisOptions {
  Policy policy = Policy::gcaps;
  Variant variant = Variant::safe;
  WaitChoice wait = WaitChoice::file;
  JitterSource jitter = JitterSource::response;
  GpuPriorities gpu_priorities = GpuPriorities::file;
  bool beyond_deadline = false;
  bool explain = false;  // fill in contributions
};

struct AnalysisResult {
  Policy policy = Policy::gcaps;
  Variant variant = Variant::safe;
  WaitLabel wait = WaitLabel::suspend;
  JitterSource jitter = JitterSource::response;  // as used: `deadline` after a search
  SearchOutcome gpu_priority_search = SearchOutcome::not_needed;
  bool schedulable = false;                   // every real-time task has a bound at or below its deadline
  std::vector<TaskIndex> gpu_priority_order;  // real-time tasks, highest GPU priority first
  std::vector<TaskResult> tasks;              // real-time tasks, in the order of the taskset
  // stream-priority: by task of the taskset, the stream level that its GPU priority is mapped to; 0 is the highest.
  std::vector<int> stream_levels;
  SmPartition sm_partition;  // federated: as used; of other policies empty
};

// How much work one analysis may do, in evaluations of a single charge (a few seconds).
inline constexpr std::int64_t kMaxChargeEvaluations = 500'000'000;

// Runs one analysis on a valid taskset (see validate()). An error (ErrorCode::unsupported) if there is no such analysis
// or it does not cover the taskset. Deterministic; thread-safe. Work is bounded by kMaxChargeEvaluations: tasks left
// over when it is spent have the outcome `limit_reached`. Throws std::logic_error if a result contradicts itself, which
// is a defect of this library.
Result<AnalysisResult> analyze(const Taskset& taskset, const AnalysisOptions& options);

// One analysis that exists.
struct AnalysisEntry {
  Policy policy;
  Variant variant;
  std::string_view source;   // paper, section, equations
  bool gpu_priority_search;  // whether GpuPriorities::search is available
};

// Every analysis there is, in the order of policies, `safe` before `published`. Both wait modes and any mixture are
// covered by each.
std::span<const AnalysisEntry> analyses();

// Why `options` name no analysis, with what there is instead; nullopt if they name one.
std::optional<Error> availability_error(Policy policy, Variant variant);

}  // namespace rtgpu
