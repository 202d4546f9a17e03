#include "analysis/windowed.h"

#include <algorithm>
#include <limits>
#include <span>

namespace rtgpu {
namespace {

constexpr Duration kInstant = Duration::nanoseconds(1);

// Whether arrivals at the end of a window count: its tail cannot be delayed once it has begun, and work that takes no
// time begins at the end.
bool counts_end(const Window& window) {
  return window.tail > Duration() || window.own == Duration();
}

// What counts beside the time before the tail.
Duration offset_of(const Window& window) {
  return window.lead + (counts_end(window) ? kInstant : Duration());
}

// What the job needs after its work up to the end of a window.
Duration end_of(const Window& window) {
  return window.own == Duration() ? kInstant : Duration();
}

// What a window takes without the groups, up to its tail.
Duration constants_of(const WindowedRecurrence& recurrence, const Window& window) {
  const Duration constants = window.own - window.tail + window.blocking;
  const bool meets = window.meets_blocker && !recurrence.blockers.empty();
  return meets ? constants + recurrence.blockers.front().length : constants;
}

// The blockers that a job meets in `meetings` windows if it takes `response`; into `met`, if given, how many of each.
Duration blocking_in(const WindowedRecurrence& recurrence, std::int64_t meetings, Duration response,
                     std::vector<std::int64_t>* met = nullptr) {
  Duration sum;
  std::int64_t left = meetings;
  for (std::size_t place = 0; place < recurrence.blockers.size() && left > 0; ++place) {
    const Blocker& blocker = recurrence.blockers[place];
    const std::int64_t jobs = std::min(left, ceil_div(response + blocker.latest, blocker.period));
    const std::int64_t here = std::min(left, jobs * std::min(left, blocker.times));
    sum += blocker.length * here;
    left -= here;
    if (met != nullptr) (*met)[place] = here;
  }
  return sum;
}

}  // namespace

// Of an offset above the period.
void GrowingWork::start_late(Duration offset) {
  if (offset.is_infinite()) {
    work_ = cost_ == Duration() ? Duration() : Duration::infinite();
    last_ = Duration::infinite();
  } else {
    const std::int64_t before = (offset.count() - 1) / period_.count();
    work_ = cost_ * (before + 1);
    last_ = period_ - Duration::nanoseconds((offset.count() - 1) % period_.count() + 1);
  }
}

// The solution of one recurrence.
class WindowedSolver::Solving {
 public:
  Solving(WindowedSolver& solver, const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget,
          WindowedSolution& solution)
      : solver_(solver), recurrence_(recurrence), cap_(cap), budget_(budget), solution_(solution) {}

  void run(SolutionParts parts) {
    const std::size_t windows = recurrence_.windows.size();
    solution_.lengths.assign(windows, Duration());
    solution_.completions.assign(windows, Duration());
    solver_.by_windows_.assign(recurrence_.groups.size(), Duration());
    solver_.joint_by_windows_.assign(recurrence_.joints.size(), Duration());
    solver_.joint_sums_.assign(recurrence_.joints.size(), Duration());
    solver_.view_count_ = 0;
    fill_view(solver_.whole_, WindowKind::host | WindowKind::gpu | WindowKind::copy, &JobStream::whole, Duration());
    Duration constants;
    Duration last;
    for (std::size_t window = 0; window < windows; ++window) {
      solve_window(window);
      const Window& here = recurrence_.windows[window];
      constants += here.own + here.blocking;
      if (here.meets_blocker) ++meetings_;
      if (parts == SolutionParts::last_completion && window + 1 < windows) continue;
      last = solve_prefix(window, constants, last);
      solution_.completions[window] = last;
    }
    if (parts == SolutionParts::all) charge_all(last);
  }

 private:
  void fill_view(View& view, WindowKinds kinds, Duration JobStream::*jitter, Duration offset) {
    view.groups.clear();
    view.at_start.clear();
    for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
      const Group& group = recurrence_.groups[place];
      const bool counts = group.kinds.intersects(kinds);
      if (!counts) continue;
      ViewedGroup viewed;
      viewed.place = place;
      viewed.first = view.at_start.size();
      for (const JobStream& stream : std::span(recurrence_.streams).subspan(group.first_stream, group.stream_count)) {
        view.at_start.emplace_back(stream.cost, stream.period, stream.*jitter + offset);
      }
      viewed.has_together = !group.together.cost.is_infinite();
      if (viewed.has_together) {
        const JobStream& together = group.together;
        view.at_start.emplace_back(together.cost, together.period, together.*jitter + offset);
      }
      viewed.end = view.at_start.size();
      viewed.joint = group.joint;
      viewed.unit = group.unit;
      view.groups.push_back(viewed);
    }
    for (const Joint& joint : recurrence_.joints) {
      view.at_start.emplace_back(joint.cost, joint.period, joint.carry + offset);
    }
    view.now = view.at_start;
    view.length = Duration();
  }

  // The view for a window, which is made for the first of its kind and offset.
  View& view_of(const Window& window) {
    const Duration offset = offset_of(window);
    for (std::size_t place = 0; place < solver_.view_count_; ++place) {
      View& view = solver_.views_[place];
      if (view.kind == window.kind && view.offset == offset) return view;
    }
    if (solver_.view_count_ == solver_.views_.size()) solver_.views_.emplace_back();
    View& view = solver_.views_[solver_.view_count_++];
    view.kind = window.kind;
    view.offset = offset;
    fill_view(view, window.kind, window.kind == WindowKind::host ? &JobStream::on_host : &JobStream::on_device, offset);
    return view;
  }

  // Goes to a window of that length. Works only grow, so that a shorter one starts anew.
  static void go_to(View& view, Duration length) {
    if (length < view.length) view.now = view.at_start;
    view.length = length;
  }

  static GrowingWork& joint_in(View& view, std::size_t joint) {
    return view.now[(view.groups.empty() ? 0 : view.groups.back().end) + joint];
  }

  // The group's work in the window that the view is for.
  static Duration work_of(View& view, const ViewedGroup& group) {
    const std::size_t streams_end = group.end - (group.has_together ? 1 : 0);
    Duration sum;
    for (std::size_t place = group.first; place < streams_end; ++place) sum += view.now[place].in(view.length);
    return group.has_together ? std::min(sum, view.now[streams_end].in(view.length)) : sum;
  }

  // Sum of what amount_of() says of the groups; those of a joint are no more than `most` of it.
  template <class Amount, class Most>
  Duration sum_of_groups(View& view, Amount amount_of, Most most) {
    Duration sum;
    for (ViewedGroup& group : view.groups) {
      group.delay = amount_of(group);
      (group.joint == kNoJoint ? sum : solver_.joint_sums_[group.joint]) += group.delay;
    }
    for (std::size_t joint = 0; joint < solver_.joint_sums_.size(); ++joint) {
      Duration& here = solver_.joint_sums_[joint];
      // Often nothing is charged, in a window of another kind.
      if (here != Duration()) sum += std::min(here, most(joint));
      here = Duration();
    }
    return sum;
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

  // The groups' delay in a window that has lasted for `length` when its tail begins.
  Duration delay_in(View& view, const Window& window, Duration length) {
    go_to(view, length);
    return sum_of_groups(
        view, [&](const ViewedGroup& group) { return limited(group, window, work_of(view, group)); },
        [&](std::size_t joint) { return joint_in(view, joint).in(length); });
  }

  static Duration limited(const ViewedGroup& group, const Window& window, Duration work) {
    return group.unit.is_infinite() ? work : std::min(work, group.unit * window.units);
  }

  void solve_window(std::size_t index) {
    const Window& window = recurrence_.windows[index];
    View& view = view_of(window);
    const Duration constants = constants_of(recurrence_, window);
    const Duration delayed =
        least_fixed_point(constants, [&](Duration length) { return constants + delay_in(view, window, length); });
    solution_.lengths[index] = delayed + window.tail;
    add_to_sums(view, window, delayed);
  }

  // Without a bound of its length a window limits a group only by the group's unit.
  void add_to_sums(View& view, const Window& window, Duration delayed) {
    const bool is_bounded = !delayed.is_infinite();
    if (is_bounded) go_to(view, delayed);
    for (const ViewedGroup& group : view.groups) {
      const Duration delay = limited(group, window, is_bounded ? work_of(view, group) : Duration::infinite());
      solver_.by_windows_[group.place] += delay;
      if (group.joint != kNoJoint) solver_.joint_sums_[group.joint] += delay;
    }
    for (std::size_t joint = 0; joint < solver_.joint_sums_.size(); ++joint) {
      Duration& here = solver_.joint_sums_[joint];
      const Duration most = is_bounded ? joint_in(view, joint).in(delayed) : Duration::infinite();
      solver_.joint_by_windows_[joint] += std::min(here, most);
      here = Duration();
    }
  }

  Duration solve_prefix(std::size_t window, Duration constants, Duration last) {
    if (last.is_infinite()) return last;
    return least_fixed_point(std::max(constants, last), [&](Duration value) {
      const Duration response = value + end_of(recurrence_.windows[window]);
      return constants + blocking_in(recurrence_, meetings_, response) + charge_in(response);
    });
  }

  // What the groups add to the windows so far if they take `response`.
  Duration charge_in(Duration response) {
    View& whole = solver_.whole_;
    go_to(whole, response);
    return sum_of_groups(
        whole, [&](const ViewedGroup& group) { return charge_of(group); },
        [&](std::size_t joint) { return joint_charge(joint); });
  }

  // Likewise for one group, in the response that the view is for.
  Duration charge_of(const ViewedGroup& group) {
    const Duration by_windows = solver_.by_windows_[group.place];
    return by_windows == Duration() ? Duration() : std::min(work_of(solver_.whole_, group), by_windows);
  }

  Duration joint_charge(std::size_t joint) {
    return std::min(joint_in(solver_.whole_, joint).in(solver_.whole_.length), solver_.joint_by_windows_[joint]);
  }

  void charge_all(Duration completion) {
    solution_.charged.assign(recurrence_.groups.size(), Duration());
    solution_.met.assign(recurrence_.blockers.size(), 0);
    if (completion.is_infinite()) return;
    const Duration response = completion + end_of(recurrence_.windows.back());
    charge(response);
    blocking_in(recurrence_, meetings_, response, &solution_.met);
  }

  // What is charged of the whole response: of a joint, to its first groups first.
  void charge(Duration response) {
    View& whole = solver_.whole_;
    go_to(whole, response);
    std::vector<Duration>& left = solver_.joint_sums_;
    for (std::size_t joint = 0; joint < left.size(); ++joint) left[joint] = joint_charge(joint);
    for (const ViewedGroup& group : whole.groups) {
      Duration& charged = solution_.charged[group.place];
      charged = charge_of(group);
      if (group.joint == kNoJoint) continue;
      charged = std::min(charged, left[group.joint]);
      // An infinite rest stays infinite.
      left[group.joint] -= charged;
    }
  }

  WindowedSolver& solver_;
  const WindowedRecurrence& recurrence_;
  Duration cap_;
  WorkBudget& budget_;
  WindowedSolution& solution_;
  std::int64_t meetings_ = 0;  // of blockers, in the windows so far
};

// A lower bound, without solving the windows.
class WindowedSolver::EarlyCompletion {
 public:
  EarlyCompletion(WindowedSolver& solver, const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget)
      : solver_(solver), recurrence_(recurrence), cap_(cap), budget_(budget) {}

  Duration find() {
    Duration constants;
    for (const Window& window : recurrence_.windows) {
      constants += window.own + window.blocking;
      if (window.meets_blocker) ++meetings_;
    }
    solver_.by_windows_.assign(recurrence_.groups.size(), Duration());
    solver_.joint_by_windows_.assign(recurrence_.joints.size(), Duration());
    solver_.joint_sums_.assign(recurrence_.joints.size(), Duration());
    for (const WindowKind kind : {WindowKind::host, WindowKind::gpu, WindowKind::copy}) add_windows(kind);
    const Duration end = end_of(recurrence_.windows.back());
    // In any response, too, they come once at least.
    Duration value = constants + charge_in(kInstant, [this](const Group& group) { return cost_of(group); });
    while (value <= cap_ && spend()) {
      const Duration response = value + end;
      const Duration charge = charge_in(response, [&](const Group& group) { return work_of(group, response); });
      const Duration next = constants + blocking_in(recurrence_, meetings_, response) + charge;
      if (next <= value) return value;
      value = next;
    }
    return budget_.evaluations > 0 ? Duration::infinite() : constants;
  }

 private:
  bool spend() {
    budget_.evaluations -= static_cast<std::int64_t>(recurrence_.streams.size() + recurrence_.groups.size()) + 1;
    return budget_.evaluations > 0;
  }

  // In each window of a kind every stream comes once at least.
  void add_windows(WindowKind kind) {
    std::int64_t count = 0;
    std::int64_t units = std::numeric_limits<std::int64_t>::max();
    for (const Window& window : recurrence_.windows) {
      if (window.kind != kind) continue;
      ++count;
      units = std::min(units, window.units);
    }
    if (count == 0) return;
    for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
      const Group& group = recurrence_.groups[place];
      if (!group.kinds.contains(kind)) continue;
      Duration delay = cost_of(group);
      if (!group.unit.is_infinite()) delay = std::min(delay, group.unit * units);
      solver_.by_windows_[place] += delay * count;
      if (group.joint != kNoJoint) solver_.joint_sums_[group.joint] += delay;
    }
    for (std::size_t joint = 0; joint < recurrence_.joints.size(); ++joint) {
      Duration& here = solver_.joint_sums_[joint];
      solver_.joint_by_windows_[joint] += std::min(here, recurrence_.joints[joint].cost) * count;
      here = Duration();
    }
  }

  Duration cost_of(const Group& group) const {
    Duration sum;
    for (std::size_t place = group.first_stream; place < group.first_stream + group.stream_count; ++place) {
      sum += recurrence_.streams[place].cost;
    }
    return std::min(sum, group.together.cost);
  }

  static Duration jobs_of(Duration cost, Duration period, Duration reach) {
    return reach <= period && reach > Duration() ? cost : cost * ceil_div(reach, period);
  }

  Duration work_of(const Group& group, Duration response) const {
    Duration sum;
    for (std::size_t place = group.first_stream; place < group.first_stream + group.stream_count; ++place) {
      const JobStream& stream = recurrence_.streams[place];
      sum += jobs_of(stream.cost, stream.period, response + stream.whole);
    }
    const JobStream& together = group.together;
    if (together.cost.is_infinite()) return sum;
    return std::min(sum, jobs_of(together.cost, together.period, response + together.whole));
  }

  static Duration work_of(const Joint& joint, Duration response) {
    return jobs_of(joint.cost, joint.period, response + joint.carry);
  }

  // What the groups add to a response of that length, of which `work_in_it` says what each of them runs.
  template <class Work>
  Duration charge_in(Duration response, Work work_in_it) {
    Duration sum;
    for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
      const Group& group = recurrence_.groups[place];
      const Duration by_windows = solver_.by_windows_[place];
      if (by_windows == Duration()) continue;
      (group.joint == kNoJoint ? sum : solver_.joint_sums_[group.joint]) += std::min(work_in_it(group), by_windows);
    }
    for (std::size_t joint = 0; joint < recurrence_.joints.size(); ++joint) {
      Duration& here = solver_.joint_sums_[joint];
      const Duration most = std::min(work_of(recurrence_.joints[joint], response), solver_.joint_by_windows_[joint]);
      sum += std::min(here, most);
      here = Duration();
    }
    return sum;
  }

  WindowedSolver& solver_;
  const WindowedRecurrence& recurrence_;
  Duration cap_;
  WorkBudget& budget_;
  std::int64_t meetings_ = 0;
};

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

void WindowedRecurrence::add_together(Duration period, Duration response) {
  Group& group = groups.back();
  Duration total;
  for (std::size_t place = group.first_stream; place < streams.size(); ++place) total += streams[place].cost;
  const Duration carry = std::max(response - total, Duration());
  if (!total.is_infinite()) group.together = {total, period, carry, carry, carry};
}

void WindowedSolver::solve(const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget,
                           WindowedSolution& solution, SolutionParts parts) {
  Solving(*this, recurrence, cap, budget, solution).run(parts);
}

Duration WindowedSolver::early_completion(const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget) {
  return EarlyCompletion(*this, recurrence, cap, budget).find();
}

void solve(const WindowedRecurrence& recurrence, Duration cap, WorkBudget& budget, WindowedSolution& solution,
           SolutionParts parts) {
  WindowedSolver().solve(recurrence, cap, budget, solution, parts);
}

}  // namespace rtgpu
