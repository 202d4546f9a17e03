// Recurrences of response-time analysis and their least fixed points.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/time.h"

#include <cstdint>
#include <vector>

namespace rtgpu {

// A charge for the jobs of one task in a window of length t: ceil((t + jitter) / period) * cost.
// cost >= 0, period > 0, jitter >= 0.
struct Charge {
  Duration cost;
  Duration period;
  Duration jitter;
  Term term = Term::own;
  TaskIndex task = kNoTask;
};

// A charge that does not depend on the window: `jobs` times, `amount` in all.
struct Constant {
  Duration amount;
  std::int64_t jobs = 1;
  Term term = Term::own;
  TaskIndex task = kNoTask;
};

// R = sum of constants + sum of charges over a window of length R.
struct Recurrence {
  std::vector<Constant> constants;
  std::vector<Charge> charges;
  // Whether each contributor has to have an entry of its own, for an explanation. Otherwise like ones may be summed.
  bool itemized = false;

  void clear();
  // Zero amounts are left out.
  void add(Constant constant);
  void add(Charge charge);
};

// Work that is still allowed, in evaluations of one charge.
struct WorkBudget {
  std::int64_t evaluations = kMaxChargeEvaluations;
};

enum class SolveStatus : std::uint8_t {
  fixed_point,
  above_cap,     // every fixed point is above the cap
  diverges,      // there is none: the charges alone take all the time
  budget_spent,  // not decided
};

struct Solution {
  SolveStatus status = SolveStatus::budget_spent;
  Duration value;  // the least fixed point; otherwise a lower bound of it, infinite if beyond 64 bits
};

// The least fixed point of the recurrence if it is at most `cap`.
//
// Iterates upward from the constants. The right side is monotone in R, so every step but the last rises by at least 1
// ns and none passes the least fixed point: the iteration ends at it, above the cap, or when the budget is spent, which
// bounds the work for every input. After a few steps it jumps to the lower bound of the linear relaxation ceil(x) >= x,
// R >= (constants + sum J C / T) / (1 - sum C / T), rounded down throughout, or finds that the charges alone take all
// the time. Sums that leave 64 bits are above every cap.
Solution solve(const Recurrence& recurrence, Duration cap, WorkBudget& budget);

// What the charge amounts to in a window.
std::int64_t jobs_in(const Charge& charge, Duration window);

}  // namespace rtgpu
