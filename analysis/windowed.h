// Response times of jobs that alternate between their core and a device: bounds from windows.
//
// The response of a job is a sequence of windows: on its core ("host": from the release, or from the end of its last
// device work, until it has handed in the next), with the GPU (or waiting for it), with a copy engine. In each window
// the job is delayed only by what uses the resource of that window. Interference of a group of work in the whole
// response is at most
//   (a) what can run in a window as long as the whole response, and
//   (b) the sum of what can run in each of the windows in which it can delay the job,
// so the smaller of the two may be charged, group by group.
//
// Groups of one task may be joined. An instant is charged to one group, and a job of that task has only so many
// instants that are charged to it, wherever: in a window, in the sum of the windows and in the whole response, its
// groups together are charged no more than that for each of its jobs. Misc of a task on the same core, for instance,
// delays the job in core windows and, as part of holding the GPU, in GPU windows, but at any instant only in one of
// them.
//
// Why the least fixed points bound the response. Let t0 be the start of the interval of higher-priority activity on the
// core that contains the job's release (the release itself if there is none). In [t0, completion) every instant is one
// of: own execution; execution of a group; a blocking that is a constant of its window. For every t < completion - t0
// the job is not complete at t0 + t, so t < own + constants + sum of the groups' work in [t0, t0 + t); as the right
// side is monotone in t and holds for every prefix, no fixed point lies below completion - t0. The same argument holds
// for a single window, with the start of the higher-priority activity on that window's resource in place of t0, and for
// a prefix of the job. Where the job keeps others off the resource just before the window begins, activity that starts
// then goes on into the window: arrivals count from there.
//
// Some windows meet a blocker: something of lower priority that has the resource when the job comes for it, and that
// lets go once and for all before the job goes on. So each window meets at most one, none is met twice, and of each
// there are as many as jobs of its task: in several windows together the job meets the longest of those there are.
//
// Work that takes no time still needs the resource for an instant, and what arrives at that very instant goes first.
#pragma once

#include "analysis/analysis.h"
#include "analysis/fixed_point.h"
#include "rtgpu/time.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace rtgpu {

enum class WindowKind : std::uint8_t { host, gpu, copy };

// Set of window kinds.
class WindowKinds {
 public:
  constexpr WindowKinds() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): one kind is a set of kinds.
  constexpr WindowKinds(WindowKind kind) : bits_(1U << static_cast<unsigned>(kind)) {}
  constexpr WindowKinds operator|(WindowKinds other) const { return WindowKinds(bits_ | other.bits_); }
  constexpr bool intersects(WindowKinds other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool contains(WindowKind kind) const { return (bits_ & (1U << static_cast<unsigned>(kind))) != 0; }

 private:
  explicit constexpr WindowKinds(unsigned bits) : bits_(bits) {}
  unsigned bits_ = 0;
};
constexpr WindowKinds operator|(WindowKind a, WindowKind b) {
  return WindowKinds(a) | WindowKinds(b);
}

struct Window {
  WindowKind kind = WindowKind::host;
  Duration own;            // the job's own demand in it
  Duration tail;           // the last part of `own`, which once begun is not delayed any more
  std::int64_t units = 0;  // how many units of a group with a unit can delay the job in it
  Duration blocking;       // constants; filled by WindowedRecurrence::block()
  // How long before it begins the job may have kept others off the resource: what became ready then comes in it.
  Duration lead = {};
  bool meets_blocker = false;
};

// What may have a resource when the job comes for it. A job of `task` has it, up to `times` times for at most `length`
// each, within `latest` of its release: in an interval of length t there are those of ceil((t + latest) / period) jobs.
struct Blocker {
  Term term = Term::own;
  TaskIndex task = kNoTask;
  Duration length;
  std::int64_t times = 1;
  Duration period;
  Duration latest;
};

// One activity of a task a job: at most ceil((t + jitter) / period) times `cost` in a window of length t.
//
// Two jitters are right. In any window: the latest completion after the release, less the cost (what a job leaves for
// the window starts that much later than its release at the latest, or is smaller by as much as it starts later). In a
// window that begins when none of the work is ready, as windows extended to the start of higher-priority activity do:
// the latest time after the release at which the work becomes ready.
struct JobStream {
  Duration cost;
  Duration period;
  Duration on_host;    // jitter in a core window
  Duration on_device;  // jitter in a window with the GPU or a copy engine
  Duration whole;      // jitter in the whole response
};

// All that the groups of one task may be charged together: at most ceil((t + carry) / period) times `cost` in any
// window of length t.
struct Joint {
  Duration cost;
  Duration period;
  Duration carry;
};
inline constexpr std::size_t kNoJoint = std::numeric_limits<std::size_t>::max();
inline constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

// Work of one task that delays the job in windows of some kinds.
struct Group {
  Term term = Term::own;
  TaskIndex task = kNoTask;
  WindowKinds kinds;
  std::size_t first_stream = 0;
  std::size_t stream_count = 0;
  // All streams together, seen as one: the same work with another jitter. Infinite cost: no such view.
  JobStream together{Duration::infinite(), Duration::nanoseconds(1), {}, {}, {}};
  // In a window of `units` u the group delays the job by at most u times this.
  Duration unit = Duration::infinite();
  std::size_t joint = kNoJoint;  // the place in `joints`
};

// What bounds a job.
struct WindowedRecurrence {
  std::vector<Window> windows;
  std::vector<Constant> constants;  // blocking and overhead, for the explanation; their sum is in the windows
  std::vector<JobStream> streams;
  std::vector<Group> groups;
  std::vector<Joint> joints;
  std::vector<Blocker> blockers;  // longest first

  // Memory for whoever fills it in, without meaning afterwards.
  struct Scratch {
    std::vector<std::size_t> first_group;
    std::vector<TaskIndex> tasks;
    std::vector<TaskIndex> other_tasks;
    std::vector<char> marks;
  };
  Scratch scratch;

  void clear();
  // A constant delay in a window.
  void block(std::size_t window, Term term, TaskIndex task, std::int64_t times, Duration each);
  // Starts a group; its streams are added after it.
  Group& add_group(Term term, TaskIndex task, WindowKinds kinds) {
    Group& group = groups.emplace_back();
    group.term = term;
    group.task = task;
    group.kinds = kinds;
    group.first_stream = streams.size();
    return group;
  }
  // Adds a stream to the last group. Zero costs are left out.
  void add_stream(const JobStream& stream) {
    if (stream.cost == Duration()) return;
    streams.push_back(stream);
    ++groups.back().stream_count;
  }
  // Sees the streams of the last group together as well, for a job that is complete by `response`: whatever the order
  // of its parts, what it leaves for a window that begins anywhere starts by then, less all of its cost.
  void add_together(Duration period, Duration response);
};

struct WindowedSolution {
  std::vector<Duration>
      lengths;  // by window, alone, with its tail; infinite where there is no bound at or below the cap
  std::vector<Duration> completions;  // by window: of the job up to its end, from the release (jitter apart); likewise
  std::vector<Duration> charged;      // by group, in the whole response
  std::vector<std::int64_t> met;      // by blocker, how many of them, in the whole response
};

// What of a solution is wanted: times alone are quicker.
enum class SolutionParts : std::uint8_t {
  all,
  times,            // without `charged` and `met`
  last_completion,  // of `completions` the last alone
};

// The work of a stream in a window that mostly grows: a division only where it grows by more than a period.
class GrowingWork {
 public:
  // cost * ceil((t + offset) / period) for a window of length t, now 0.
  GrowingWork(Duration cost, Duration period, Duration offset) : cost_(cost), period_(period) {
    if (offset == Duration()) return;
    if (offset <= period) {
      work_ = cost;
      last_ = period - offset;
    } else {
      start_late(offset);
    }
  }

  // In a window of length `length`; no less than before.
  Duration in(Duration length) {
    if (length > last_) step_to(length);
    return work_;
  }

 private:
  void start_late(Duration offset);
  void step_to(Duration length) {
    const Duration beyond = length - last_;
    const std::int64_t jobs = beyond <= period_ ? 1 : ceil_div(beyond, period_);
    work_ += cost_ * jobs;
    last_ += period_ * jobs;
  }

  Duration cost_;
  Duration period_;
  Duration work_;
  Duration last_;  // the longest window in which it is no more than `work_`
};

// Solves recurrences one after another, in the same memory. One thread at a time.
class WindowedSolver {
 public:
  // The bounds of every prefix of the job that are at or below `cap`.
  void solve(const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget, WindowedSolution& solution,
             SolutionParts parts = SolutionParts::all);

  // A lower bound of the last completion that solve() finds, infinite if that is above the cap: in each window every
  // stream that counts there is taken to come once. Much quicker.
  Duration early_completion(const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget);

 private:
  class Solving;
  class EarlyCompletion;

  // The groups that count in windows of one kind, and their streams with the jitters that are right there.
  struct ViewedGroup {
    std::size_t place = 0;  // in the recurrence
    std::size_t first = 0;  // of its streams in the view, of which the last may be all together
    std::size_t end = 0;
    bool has_together = false;
    std::size_t joint = kNoJoint;
    Duration unit;
    Duration delay;  // in the last window looked at
  };
  struct View {
    WindowKind kind = WindowKind::host;
    Duration offset;  // to the length of the window
    std::vector<ViewedGroup> groups;
    std::vector<GrowingWork> at_start;  // streams, then joints
    std::vector<GrowingWork> now;
    Duration length;  // of the window that `now` is for
  };

  std::vector<View> views_;
  std::size_t view_count_ = 0;
  View whole_;                              // of the whole response
  std::vector<Duration> by_windows_;        // by group: the sum of its delays in the windows so far
  std::vector<Duration> joint_by_windows_;  // by joint, likewise
  std::vector<Duration> joint_sums_;        // by joint: of the groups in what is summed up at the moment
};

// As WindowedSolver::solve().
void solve(const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget, WindowedSolution& solution,
           SolutionParts parts = SolutionParts::all);

}  // namespace rtgpu
