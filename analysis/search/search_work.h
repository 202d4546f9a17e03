// What the searches have in common: analyses of changed tasksets, counted and bounded, and how near one is to passing.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace rtgpu {

// How many analyses a search may make of a taskset of n tasks, so that it mostly ends in seconds: 1'000'000 / n^2, at
// least 50 and at most 2000. The same on every machine.
std::int64_t search_limit(const Taskset& taskset);

// The analyses that a search may still make. It is asked before each whether to go on.
class SearchWork {
 public:
  explicit SearchWork(std::int64_t analyses, std::function<bool()> go_on = {})
      : left_(analyses), go_on_(std::move(go_on)) {}

  // Counts one analysis, or what costs as much as `analyses`. False if there is none left, or the caller wants no more.
  bool spend(std::int64_t analyses = 1);
  // Whether an analysis was not made; and whether because the caller wanted no more.
  bool ended() const { return ended_; }
  bool stopped() const { return stopped_; }
  // Whether some answer is open: an analysis was not made, or stopped undecided at its own limit.
  bool is_incomplete() const { return ended_ || undecided_; }
  void set_undecided() { undecided_ = true; }
  std::int64_t left() const { return ended_ ? 0 : left_; }

 private:
  std::int64_t left_;
  std::function<bool()> go_on_;
  bool ended_ = false;
  bool stopped_ = false;
  bool undecided_ = false;
};

// How far a taskset is from being schedulable; less is nearer. {0, ...} is schedulable.
struct Shortfall {
  std::size_t failing = 0;  // tasks without a bound at or below their deadline
  Duration worst = Duration::nanoseconds(-Duration::infinite().count());  // largest bound less its deadline
  friend auto operator<=>(const Shortfall&, const Shortfall&) = default;
};
Shortfall shortfall_of(const Taskset& taskset, const AnalysisResult& result);

// A taskset as a search changed it.
struct SearchedTaskset {
  // not_needed: it passes as it is. found. none: no change that was tried passes. limit_reached: likewise, and not all
  // was tried.
  SearchOutcome outcome = SearchOutcome::none;
  // found: no fewer changes do. none: no changes do. What a change is, and within which bounds, each search says.
  bool exact = false;
  Taskset taskset;      // what passes; otherwise the nearest to it
  Shortfall shortfall;  // of the taskset

  bool passes() const { return outcome == SearchOutcome::not_needed || outcome == SearchOutcome::found; }
};

// A taskset with the GPU priorities that the analysis found for it, if it was to search them, and how late it is.
struct Candidate {
  Taskset taskset;
  Shortfall shortfall;
  std::vector<TaskIndex> failing = {};  // tasks without a bound at or below their deadline
  bool passes() const { return shortfall.failing == 0; }
};
// A search for GPU priorities, or of SMs, counts as an analysis a task, and one more. nullopt if the work is spent, or
// the analysis refuses the taskset.
std::optional<Candidate> try_taskset(Taskset taskset, const AnalysisOptions& options, SearchWork& work);

}  // namespace rtgpu
