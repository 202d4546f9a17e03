#include "analysis/windowed.h"

#include <algorithm>
#include <span>

namespace rtgpu {
namespace {

constexpr Duration kInstant = Duration::nanoseconds(1);

class Solver {
 public:
  Solver(const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget, WindowedSolution& solution)
      : recurrence_(recurrence), cap_(cap), budget_(budget), solution_(solution) {}

  void run() {
    const std::size_t windows = recurrence_.windows.size();
    solution_.lengths.assign(windows, Duration());
    solution_.completions.assign(windows, Duration());
    solution_.charged.assign(recurrence_.groups.size(), Duration());
    solution_.met.assign(recurrence_.blockers.size(), 0);
    by_windows_.assign(recurrence_.groups.size(), Duration());
    joint_by_windows_.assign(recurrence_.joints.size(), Duration());
    joint_sums_.assign(recurrence_.joints.size(), Duration());
    Duration constants;
    Duration last;
    for (std::size_t window = 0; window < windows; ++window) {
      solve_window(window);
      const Window& here = recurrence_.windows[window];
      constants += here.own + here.blocking;
      if (here.meets_blocker) ++meetings_;
      add_to_sums(window);
      last = solve_prefix(window, constants, last);
      solution_.completions[window] = last;
    }
    if (last.is_infinite()) return;
    charge(last + end_of(windows - 1));
    blocking_in(last + end_of(windows - 1), &solution_.met);
  }

 private:
  std::span<const JobStream> streams_of(const Group& group) const {
    return std::span(recurrence_.streams).subspan(group.first_stream, group.stream_count);
  }

  static Duration work_of(const JobStream& stream, Duration jitter, Duration window) {
    return stream.cost * ceil_div(window + jitter, stream.period);
  }

  // The group's work in a window, with the jitter that is right for it.
  Duration work_in(const Group& group, Duration length, Duration JobStream::*jitter) const {
    Duration sum;
    for (const JobStream& stream : streams_of(group)) sum += work_of(stream, stream.*jitter, length);
    if (group.together.cost.is_infinite()) return sum;
    return std::min(sum, work_of(group.together, group.together.*jitter, length));
  }

  static Duration work_of(const Joint& joint, Duration window) {
    return joint.cost * ceil_div(window + joint.carry, joint.period);
  }

  // The sum of the amounts of all groups; those of a joint are no more than `most` of it.
  template <class Amount, class Most>
  Duration sum_of_groups(Amount amount, Most most) {
    Duration sum;
    std::ranges::fill(joint_sums_, Duration());
    for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
      const std::size_t joint = recurrence_.groups[place].joint;
      (joint == kNoJoint ? sum : joint_sums_[joint]) += amount(place);
    }
    for (std::size_t joint = 0; joint < joint_sums_.size(); ++joint) {
      // Often nothing is charged, in a window of another kind.
      if (joint_sums_[joint] != Duration()) sum += std::min(joint_sums_[joint], most(joint));
    }
    return sum;
  }

  // Whether arrivals at the end of a window count: its tail cannot be delayed once it has begun, and work that takes no
  // time begins at the end.
  static bool counts_end(const Window& window) { return window.tail > Duration() || window.own == Duration(); }

  // What counts of the time before the tail.
  static Duration counted_in(const Window& window, Duration length) {
    return window.lead + (counts_end(window) ? length + kInstant : length);
  }

  // What the group adds to a window that has lasted for `length` when its tail begins.
  Duration delay_in(const Group& group, const Window& window, Duration length) const {
    if (!group.kinds.contains(window.kind)) return Duration();
    const bool on_host = window.kind == WindowKind::host;
    Duration delay = work_in(group, counted_in(window, length), on_host ? &JobStream::on_host : &JobStream::on_device);
    if (!group.unit.is_infinite()) delay = std::min(delay, group.unit * window.units);
    return delay;
  }

  // A stream takes about as long as two charges of a recurrence without windows.
  bool spend() {
    budget_.evaluations -= 2 * static_cast<std::int64_t>(recurrence_.streams.size() + recurrence_.groups.size()) + 1;
    return budget_.evaluations > 0;
  }

  // Least fixed point of `right_side` from `start` upward, infinite above the cap or without budget.
  template <class RightSide>
  Duration least_fixed_point(Duration start, RightSide right_side) {
    for (Duration value = start; value <= cap_ && spend();) {
      const Duration next = right_side(value);
      if (next == value) return value;
      value = next;
    }
    return Duration::infinite();
  }

  void solve_window(std::size_t index) {
    const Window& window = recurrence_.windows[index];
    Duration constants = window.own - window.tail + window.blocking;
    if (window.meets_blocker && !recurrence_.blockers.empty()) constants += recurrence_.blockers.front().length;
    const Duration delayed = least_fixed_point(constants, [&](Duration length) {
      return constants +
             sum_of_groups([&](std::size_t group) { return delay_in(recurrence_.groups[group], window, length); },
                           [&](std::size_t joint) { return joint_work_in(joint, window, length); });
    });
    solution_.lengths[index] = delayed + window.tail;
  }

  Duration joint_work_in(std::size_t joint, const Window& window, Duration length) const {
    return work_of(recurrence_.joints[joint], counted_in(window, length));
  }

  // Without a bound of its length a window limits a group only by the group's unit.
  Duration longest_delay_in(const Group& group, std::size_t index) const {
    const Window& window = recurrence_.windows[index];
    const Duration length = solution_.lengths[index];
    if (!length.is_infinite()) return delay_in(group, window, length - window.tail);
    if (!group.kinds.contains(window.kind)) return Duration();
    return group.unit.is_infinite() ? Duration::infinite() : group.unit * window.units;
  }

  void add_to_sums(std::size_t index) {
    std::ranges::fill(joint_sums_, Duration());
    for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
      const Group& group = recurrence_.groups[place];
      const Duration delay = longest_delay_in(group, index);
      by_windows_[place] += delay;
      if (group.joint != kNoJoint) joint_sums_[group.joint] += delay;
    }
    const Window& window = recurrence_.windows[index];
    for (std::size_t joint = 0; joint < joint_sums_.size(); ++joint) {
      const Duration most = joint_work_in(joint, window, solution_.lengths[index] - window.tail);
      joint_by_windows_[joint] += std::min(joint_sums_[joint], most);
    }
  }

  // What the job needs after its work up to the end of a window.
  Duration end_of(std::size_t window) const {
    return recurrence_.windows[window].own == Duration() ? kInstant : Duration();
  }

  Duration solve_prefix(std::size_t window, Duration constants, Duration last) {
    if (last.is_infinite()) return last;
    return least_fixed_point(std::max(constants, last), [&](Duration value) {
      const Duration response = value + end_of(window);
      return constants + blocking_in(response) +
             sum_of_groups([&](std::size_t group) { return charge_of(group, response); },
                           [&](std::size_t joint) { return joint_charge_of(joint, response); });
    });
  }

  // The blockers that the windows so far meet if they take `response`; into `met`, if given, how many of each.
  Duration blocking_in(Duration response, std::vector<std::int64_t>* met = nullptr) const {
    Duration sum;
    std::int64_t left = meetings_;
    for (std::size_t place = 0; place < recurrence_.blockers.size() && left > 0; ++place) {
      const Blocker& blocker = recurrence_.blockers[place];
      const std::int64_t jobs = std::min(left, ceil_div(response + blocker.latest, blocker.period));
      const std::int64_t here = std::min(left, jobs * std::min(left, blocker.times));
      sum += blocker.length * here;
      left -= here;
      if (met != nullptr) (*met)[place] = here;
    }
    return sum;
  }

  // What a group adds to the windows so far if they take `response`.
  Duration charge_of(std::size_t place, Duration response) const {
    if (by_windows_[place] == Duration()) return Duration();
    return std::min(work_in(recurrence_.groups[place], response, &JobStream::whole), by_windows_[place]);
  }

  Duration joint_charge_of(std::size_t joint, Duration response) const {
    return std::min(work_of(recurrence_.joints[joint], response), joint_by_windows_[joint]);
  }

  // What is charged of the whole response: of a joint, to its first groups first.
  void charge(Duration response) {
    std::vector<Duration> left;
    for (std::size_t joint = 0; joint < recurrence_.joints.size(); ++joint) {
      left.push_back(joint_charge_of(joint, response));
    }
    for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
      Duration& charged = solution_.charged[place];
      charged = charge_of(place, response);
      const std::size_t joint = recurrence_.groups[place].joint;
      if (joint == kNoJoint) continue;
      charged = std::min(charged, left[joint]);
      // An infinite rest stays infinite.
      left[joint] -= charged;
    }
  }

  const WindowedRecurrence& recurrence_;
  Duration cap_;
  WorkBudget& budget_;
  WindowedSolution& solution_;
  std::int64_t meetings_ = 0;               // of blockers, in the windows so far
  std::vector<Duration> by_windows_;        // by group: the sum of its delays in the windows so far
  std::vector<Duration> joint_by_windows_;  // by joint, likewise
  std::vector<Duration> joint_sums_;        // by joint: of the groups in what is summed up at the moment
};

}  // namespace

void WindowedRecurrence::clear() {
  windows.clear();
  constants.clear();
  streams.clear();
  groups.clear();
  joints.clear();
  blockers.clear();
}

void WindowedRecurrence::block(std::size_t window, Term term, TaskIndex task, std::int64_t times, Duration each) {
  const Duration amount = each * times;
  if (amount == Duration()) return;
  windows[window].blocking += amount;
  constants.push_back(Constant{amount, times, term, task});
}

Group& WindowedRecurrence::add_group(Term term, TaskIndex task, WindowKinds kinds) {
  Group group;
  group.term = term;
  group.task = task;
  group.kinds = kinds;
  group.first_stream = streams.size();
  groups.push_back(group);
  return groups.back();
}

void WindowedRecurrence::add_stream(JobStream stream) {
  if (stream.cost == Duration()) return;
  streams.push_back(stream);
  ++groups.back().stream_count;
}

void WindowedRecurrence::add_together(Duration period, Duration response) {
  Group& group = groups.back();
  Duration total;
  for (std::size_t place = group.first_stream; place < streams.size(); ++place) total += streams[place].cost;
  const Duration carry = std::max(response - total, Duration());
  if (!total.is_infinite()) group.together = {total, period, carry, carry, carry};
}

void solve(const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget, WindowedSolution& solution) {
  Solver(recurrence, cap, budget, solution).run();
}

}  // namespace rtgpu
