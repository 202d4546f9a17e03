#include "tests/analysis/naive_windowed.h"

#include <algorithm>

namespace rtgpu::testing {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;
using Time = std::optional<Int128>;  // nullopt: without limit

Time time_of(Duration duration) {
  if (duration.is_infinite()) return std::nullopt;
  return duration.count();
}

Time sum_of(Time a, Time b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

Time smaller(Time a, Time b) {
  if (!a) return b;
  if (!b) return a;
  return std::min(*a, *b);
}

Time larger(Time a, Time b) {
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

std::optional<std::int64_t> nanoseconds(Time time) {
  if (!time) return std::nullopt;
  return static_cast<std::int64_t>(*time);
}

Time work(const JobStream& stream, Duration jitter, Int128 length) {
  const Time cost = time_of(stream.cost);
  const Time carry = time_of(jitter);
  if (!cost || !carry) return std::nullopt;
  const Int128 period = stream.period.count();
  return *cost * ((length + *carry + period - 1) / period);
}

// Which of the three jitters is right.
using Jitter = Duration JobStream::*;

Time work(const WindowedRecurrence& recurrence, const Group& group, Jitter jitter, Int128 length) {
  Time sum = 0;
  for (std::size_t i = 0; i < group.stream_count; ++i) {
    const JobStream& stream = recurrence.streams[group.first_stream + i];
    sum = sum_of(sum, work(stream, stream.*jitter, length));
  }
  return smaller(sum, work(group.together, group.together.*jitter, length));
}

Int128 counted_in(const Window& window, Int128 length) {
  const bool counts_end = window.tail > Duration() || window.own == Duration();
  return window.lead.count() + length + (counts_end ? 1 : 0);
}

// What a group adds to a window that has lasted for `length` when its tail begins. Work that arrives at that very
// instant still goes first, as it does where the job needs the resource for no more than an instant.
Time delay(const WindowedRecurrence& recurrence, const Group& group, const Window& window, Int128 length) {
  if (!group.kinds.contains(window.kind)) return 0;
  const Int128 counted = counted_in(window, length);
  const Jitter jitter = window.kind == WindowKind::host ? &JobStream::on_host : &JobStream::on_device;
  Time units;
  if (!group.unit.is_infinite()) units = Int128{group.unit.count()} * window.units;
  return smaller(work(recurrence, group, jitter, counted), units);
}

Time work(const Joint& joint, Int128 length) {
  if (joint.cost == Duration()) return 0;
  return work(JobStream{joint.cost, joint.period, joint.carry, {}, {}}, joint.carry, length);
}

// All groups: `amount` of each, and no more than `most` of those that are joined.
template <class Amount, class Most>
Time sum_of_groups(const WindowedRecurrence& recurrence, Amount amount, Most most) {
  Time sum = 0;
  for (const Group& group : recurrence.groups) {
    if (group.joint == kNoJoint) sum = sum_of(sum, amount(group));
  }
  for (std::size_t joint = 0; joint < recurrence.joints.size(); ++joint) {
    Time together = 0;
    for (const Group& group : recurrence.groups) {
      if (group.joint == joint) together = sum_of(together, amount(group));
    }
    sum = sum_of(sum, smaller(together, most(joint)));
  }
  return sum;
}

// The least t of 0 ... cap with right_side(t) <= t: where the right side never falls, the least fixed point.
template <class RightSide>
Time least(Int128 cap, RightSide right_side) {
  for (Int128 t = 0; t <= cap; ++t) {
    const Time sum = right_side(t);
    if (sum && *sum <= t) return t;
  }
  return std::nullopt;
}

// Until its tail begins.
Time length_before_tail(const WindowedRecurrence& recurrence, const Window& window, Int128 cap) {
  return least(cap, [&](Int128 length) {
    Time constants = time_of(window.own - window.tail + window.blocking);
    if (window.meets_blocker) {
      Time longest = 0;
      for (const Blocker& blocker : recurrence.blockers) longest = larger(longest, time_of(blocker.length));
      constants = sum_of(constants, longest);
    }
    return sum_of(constants,
                  sum_of_groups(
                      recurrence, [&](const Group& group) { return delay(recurrence, group, window, length); },
                      [&](std::size_t joint) { return work(recurrence.joints[joint], counted_in(window, length)); }));
  });
}

// What a group adds to a window. In one without a bound there is no limit but the units: as in an endless one.
Time longest_delay(const WindowedRecurrence& recurrence, const Group& group, const Window& window, Time before_tail) {
  if (before_tail) return delay(recurrence, group, window, *before_tail);
  if (!group.kinds.contains(window.kind)) return 0;
  if (group.unit.is_infinite()) return std::nullopt;
  return Int128{group.unit.count()} * window.units;
}

// The first `windows` windows of a job that they take `length`.
struct Prefix {
  const WindowedRecurrence& recurrence;
  const std::vector<Time>& before_tails;
  std::size_t windows;
  Int128 length;

  Int128 counted() const { return length + (recurrence.windows[windows - 1].own == Duration() ? 1 : 0); }

  // What a group adds to them.
  Time charge(const Group& group) const {
    Time by_windows = 0;
    for (std::size_t place = 0; place < windows; ++place) {
      by_windows = sum_of(by_windows, longest_delay(recurrence, group, recurrence.windows[place], before_tails[place]));
    }
    return smaller(by_windows, work(recurrence, group, &JobStream::whole, counted()));
  }

  // What the groups of a joint add to them at most.
  Time charge(std::size_t joint) const {
    Time by_windows = 0;
    for (std::size_t place = 0; place < windows; ++place) {
      const Window& window = recurrence.windows[place];
      Time together = 0;
      for (const Group& group : recurrence.groups) {
        if (group.joint == joint) {
          together = sum_of(together, longest_delay(recurrence, group, window, before_tails[place]));
        }
      }
      Time most;
      if (before_tails[place]) most = work(recurrence.joints[joint], counted_in(window, *before_tails[place]));
      by_windows = sum_of(by_windows, smaller(together, most));
    }
    return smaller(by_windows, work(recurrence.joints[joint], counted()));
  }

  // The blockers that they meet, by place: each one there is, the longest first, as long as there are windows for them.
  std::vector<std::size_t> met() const {
    std::vector<std::size_t> places;
    const auto meets = [](const Window& window) { return window.meets_blocker; };
    const auto meetings = static_cast<std::size_t>(std::count_if(
        recurrence.windows.begin(), recurrence.windows.begin() + static_cast<std::ptrdiff_t>(windows), meets));
    for (std::size_t place = 0; place < recurrence.blockers.size(); ++place) {
      const Blocker& blocker = recurrence.blockers[place];
      // Jobs whose release is after the interval less `latest`, and before its end.
      for (Int128 release = 1; release < counted() + 1 + time_of(blocker.latest).value_or(Int128{1} << 40);
           release += blocker.period.count()) {
        for (std::int64_t time = 0; time < blocker.times; ++time) {
          if (places.size() == meetings) return places;
          places.push_back(place);
        }
      }
    }
    return places;
  }

  Time right_side() const {
    Time sum = 0;
    for (std::size_t place = 0; place < windows; ++place) {
      sum = sum_of(sum, time_of(recurrence.windows[place].own + recurrence.windows[place].blocking));
    }
    for (const std::size_t place : met()) sum = sum_of(sum, time_of(recurrence.blockers[place].length));
    return sum_of(sum, sum_of_groups(
                           recurrence, [&](const Group& group) { return charge(group); },
                           [&](std::size_t joint) { return charge(joint); }));
  }
};

// By group: the first of a joint take what they can.
std::vector<std::int64_t> charges(const Prefix& whole) {
  std::vector<std::int64_t> charged;
  std::vector<Time> left;
  for (std::size_t joint = 0; joint < whole.recurrence.joints.size(); ++joint) left.push_back(whole.charge(joint));
  for (const Group& group : whole.recurrence.groups) {
    Time amount = whole.charge(group);
    if (group.joint != kNoJoint) {
      amount = smaller(amount, left[group.joint]);
      if (left[group.joint]) left[group.joint] = *left[group.joint] - *amount;
    }
    charged.push_back(nanoseconds(amount).value_or(-1));
  }
  return charged;
}

// What is known of the tasks, and how a round changes it.
class NaiveIteration {
 public:
  NaiveIteration(const StagedModel& model, BuildWindowed build, const AnalysisOptions& options)
      : model_(model), build_(build), options_(options) {
    for (TaskIndex task = 0; task < model.size(); ++task) {
      known_.push_back(model.task(task).best_effort ? nothing_known(model.staged(task))
                                                    : least_known(model.staged(task)));
      if (options.jitter == JitterSource::deadline && !model.task(task).best_effort) trust_the_deadline(task);
    }
  }

  std::vector<std::optional<Duration>> run(const std::vector<TaskIndex>& order) {
    std::vector<std::optional<Duration>> bounds(model_.size());
    std::vector<KnownTask> before;
    while (before != known_) {
      before = known_;
      for (const TaskIndex task : order) bounds[task] = bound(task);
    }
    return bounds;
  }

 private:
  void trust_the_deadline(TaskIndex task) {
    const Duration deadline = model_.task(task).deadline;
    known_[task].response = deadline;
    std::ranges::fill(known_[task].submitted, deadline);
    std::ranges::fill(known_[task].completed, deadline);
  }

  std::optional<Duration> bound(TaskIndex task) {
    const RtaTask& sums = model_.task(task);
    const Duration cap = (options_.beyond_deadline ? sums.period : sums.deadline) - sums.release_jitter;
    WindowedRecurrence recurrence;
    build_(SafeInput{model_, known_}, task, recurrence);
    WindowedSolution solution;
    WorkBudget budget;
    solve(recurrence, cap, budget, solution);
    const Duration response = solution.completions.back() + sums.release_jitter;
    const bool is_wrongly_trusted = options_.jitter == JitterSource::deadline && response > sums.deadline;
    if (response.is_infinite() || is_wrongly_trusted) {
      known_[task] = nothing_known(model_.staged(task));
      return response.is_infinite() ? std::nullopt : std::optional(response);
    }
    for (std::size_t stage = 0; stage < known_[task].waits.size(); ++stage) {
      known_[task].waits[stage] = std::min(solution.lengths[device_window(stage)], response);
      known_[task].submitted[stage] = solution.completions[host_window(stage)] + sums.release_jitter;
      known_[task].completed[stage] = solution.completions[device_window(stage)] + sums.release_jitter;
    }
    known_[task].response = response;
    if (options_.jitter == JitterSource::deadline) trust_the_deadline(task);
    return response;
  }

  const StagedModel& model_;
  BuildWindowed build_;
  const AnalysisOptions& options_;
  std::vector<KnownTask> known_;
};

}  // namespace

NaiveSolution naive_solve(const WindowedRecurrence& recurrence, Duration cap) {
  NaiveSolution solution;
  std::vector<Time> before_tails;
  for (const Window& window : recurrence.windows) {
    before_tails.push_back(length_before_tail(recurrence, window, cap.count()));
    solution.lengths.push_back(nanoseconds(sum_of(before_tails.back(), time_of(window.tail))));
  }
  for (std::size_t windows = 1; windows <= recurrence.windows.size(); ++windows) {
    solution.completions.push_back(nanoseconds(least(cap.count(), [&](Int128 length) {
      return Prefix{recurrence, before_tails, windows, length}.right_side();
    })));
  }
  const std::optional<std::int64_t> whole = solution.completions.back();
  solution.charged.assign(recurrence.groups.size(), 0);
  solution.met.assign(recurrence.blockers.size(), 0);
  if (whole) {
    const Prefix all{recurrence, before_tails, recurrence.windows.size(), *whole};
    solution.charged = charges(all);
    for (const std::size_t place : all.met()) ++solution.met[place];
  }
  return solution;
}

std::vector<std::optional<Duration>> naive_bounds(const StagedModel& model, BuildWindowed build,
                                                  const AnalysisOptions& options, const std::vector<TaskIndex>& order) {
  return NaiveIteration(model, build, options).run(order);
}

}  // namespace rtgpu::testing
