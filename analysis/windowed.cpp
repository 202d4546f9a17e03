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
    by_windows_.assign(recurrence_.groups.size(), Duration());
    Duration constants;
    Duration last;
    for (std::size_t window = 0; window < windows; ++window) {
      solve_window(window);
      const Window& here = recurrence_.windows[window];
      constants += here.own + here.blocking;
      add_to_sums(window);
      last = solve_prefix(window, constants, last);
      solution_.completions[window] = last;
    }
    if (last.is_infinite()) return;
    const Duration counted = last + end_of(windows - 1);
    for (std::size_t group = 0; group < recurrence_.groups.size(); ++group) {
      solution_.charged[group] =
          std::min(work_in(recurrence_.groups[group], counted, &Stream::whole), by_windows_[group]);
    }
  }

 private:
  std::span<const Stream> streams_of(const Group& group) const {
    return std::span(recurrence_.streams).subspan(group.first_stream, group.stream_count);
  }

  static Duration work_of(const Stream& stream, Duration jitter, Duration window) {
    return stream.cost * ceil_div(window + jitter, stream.period);
  }

  // The group's work in a window, with the jitter that is right for it.
  Duration work_in(const Group& group, Duration length, Duration Stream::*jitter) const {
    Duration sum;
    for (const Stream& stream : streams_of(group)) sum += work_of(stream, stream.*jitter, length);
    if (group.together.cost.is_infinite()) return sum;
    return std::min(sum, work_of(group.together, group.together.*jitter, length));
  }

  // Whether arrivals at the end of a window count: its tail cannot be delayed once it has begun, and work that takes no
  // time begins at the end.
  static bool counts_end(const Window& window) { return window.tail > Duration() || window.own == Duration(); }

  // What the group adds to a window that has lasted for `length` when its tail begins.
  Duration delay_in(const Group& group, const Window& window, Duration length) const {
    const Duration counted = window.lead + (counts_end(window) ? length + kInstant : length);
    const bool on_host = window.kind == WindowKind::host;
    Duration delay = work_in(group, counted, on_host ? &Stream::on_host : &Stream::on_device);
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
    const Duration constants = window.own - window.tail + window.blocking;
    const Duration delayed = least_fixed_point(constants, [&](Duration length) {
      Duration sum = constants;
      for (const Group& group : recurrence_.groups) {
        if (group.kinds.contains(window.kind)) sum += delay_in(group, window, length);
      }
      return sum;
    });
    solution_.lengths[index] = delayed + window.tail;
  }

  // Without a bound of its length a window limits a group only by the group's unit.
  void add_to_sums(std::size_t index) {
    const Window& window = recurrence_.windows[index];
    const Duration length = solution_.lengths[index];
    for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
      const Group& group = recurrence_.groups[place];
      if (!group.kinds.contains(window.kind)) continue;
      if (length.is_infinite()) {
        by_windows_[place] += group.unit.is_infinite() ? Duration::infinite() : group.unit * window.units;
      } else {
        by_windows_[place] += delay_in(group, window, length - window.tail);
      }
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
      Duration sum = constants;
      for (std::size_t place = 0; place < recurrence_.groups.size(); ++place) {
        const Group& group = recurrence_.groups[place];
        if (by_windows_[place] == Duration()) continue;
        sum += std::min(work_in(group, response, &Stream::whole), by_windows_[place]);
      }
      return sum;
    });
  }

  const WindowedRecurrence& recurrence_;
  Duration cap_;
  WorkBudget& budget_;
  WindowedSolution& solution_;
  std::vector<Duration> by_windows_;  // by group: the sum of its delays in the windows so far
};

}  // namespace

void WindowedRecurrence::clear() {
  windows.clear();
  constants.clear();
  streams.clear();
  groups.clear();
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

void WindowedRecurrence::add_stream(Stream stream) {
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
