// Recurrences of response-time analysis and their least fixed points.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/time.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// Sections of one task of which `per_job` come in each of its jobs, each of the length charge.cost.
struct Sections {
  Charge charge;
  std::int64_t per_job = 1;
};

// Blocking by sections of which at most `limit` count in all: the longest.
struct Pool {
  std::int64_t limit = 0;
  // Then no more than one counts, and one for each section that counts in the pools before this one.
  bool one_a_wait = false;
  std::vector<Sections> sections;  // longest first
};

// R = sum of constants + sum of charges, and of what the pools count, over a window of length R.
struct Recurrence {
  std::vector<Constant> constants;
  std::vector<Charge> charges;
  std::vector<Pool> pools;
  // Whether each contributor has to have an entry of its own, for an explanation. Otherwise like ones may be summed.
  bool itemized = false;

  void clear();
  // Zero amounts are left out.
  void add(Constant constant);
  void add(Charge charge);
  // Without its sections of length zero; left out if none remains, or if it counts none.
  void add(Pool pool);
  // Charges, and groups of sections of the pools.
  std::size_t size() const;
};

// Work that is still allowed, in evaluations of one charge or of the sections of one task.
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
// R >= (constants + sum J C / T) / (1 - sum C / T), without the pools and rounded down throughout, or finds that the
// charges alone take all the time. Sums that leave 64 bits are above every cap.
Solution solve(const Recurrence& recurrence, Duration cap, WorkBudget& budget);

// What the charge amounts to in a window.
std::int64_t jobs_in(const Charge& charge, Duration window);
// How many of the sections come in the window.
std::int64_t sections_in(const Sections& sections, Duration window);

// Calls visit(charge, count) for the sections of the pools that count in the window.
template <class Visit>
void for_each_counted(const Recurrence& recurrence, Duration window, Visit visit) {
  std::int64_t waits = 0;
  for (const Pool& pool : recurrence.pools) {
    std::int64_t left = pool.one_a_wait ? std::min(pool.limit - 1, waits) + 1 : pool.limit;
    for (const Sections& sections : pool.sections) {
      if (left == 0) break;
      const std::int64_t count = std::min(left, sections_in(sections, window));
      left -= count;
      if (!pool.one_a_wait) waits += std::min(count, std::numeric_limits<std::int64_t>::max() - waits);
      visit(sections.charge, count);
    }
  }
}

}  // namespace rtgpu
