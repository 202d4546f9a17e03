#include "analysis/fixed_point.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using Int128 = __int128;

// Utilisations in the relaxation are counted in units of 2^-kFraction, rounded down.
constexpr int kFraction = 40;
constexpr Int128 kOne = Int128{1} << kFraction;

// Most recurrences end within a few steps, which cost less than the relaxation.
constexpr int kStepsBeforeRelaxation = 8;

Duration sum_of_constants(const Recurrence& recurrence) {
  Duration sum;
  for (const Constant& constant : recurrence.constants) sum += constant.amount;
  return sum;
}

Duration right_side(const Recurrence& recurrence, Duration constants, Duration window) {
  Duration sum = constants;
  for (const Charge& charge : recurrence.charges) sum += charge.cost * jobs_in(charge, window);
  for_each_counted(recurrence, window, [&](const Charge& section, std::int64_t count) { sum += section.cost * count; });
  return sum;
}

// A lower bound of the least fixed point, infinite if beyond 64 bits; nullopt if there is no fixed point.
std::optional<Duration> relaxation(const Recurrence& recurrence, Duration constants) {
  if (constants == Duration() || constants.is_infinite()) return constants;
  Int128 utilisation = 0;
  Int128 numerator = Int128{constants.count()} << kFraction;
  for (const Charge& charge : recurrence.charges) {
    if (charge.cost.is_infinite() || charge.jitter.is_infinite()) return Duration::infinite();
    const Int128 share = (Int128{charge.cost.count()} << kFraction) / charge.period.count();
    utilisation += share;
    if (utilisation >= kOne) return std::nullopt;
    // share < 2^40 here and the jitter is below 2^63: the product fits, and so do 2^24 of them.
    numerator += share * charge.jitter.count();
  }
  const Int128 bound = numerator / (kOne - utilisation);
  const Int128 largest = Duration::infinite().count();
  return bound >= largest ? Duration::infinite() : Duration::nanoseconds(static_cast<std::int64_t>(bound));
}

}  // namespace

void Recurrence::clear() {
  constants.clear();
  charges.clear();
  pools.clear();
}

void Recurrence::add(Constant constant) {
  if (constant.amount != Duration()) constants.push_back(constant);
}

void Recurrence::add(Charge charge) {
  if (charge.cost != Duration()) charges.push_back(charge);
}

void Recurrence::add(Pool pool) {
  std::erase_if(pool.sections, [](const Sections& sections) { return sections.charge.cost == Duration(); });
  if (pool.limit > 0 && !pool.sections.empty()) pools.push_back(std::move(pool));
}

std::size_t Recurrence::size() const {
  std::size_t size = charges.size();
  for (const Pool& pool : pools) size += pool.sections.size();
  return size;
}

std::int64_t jobs_in(const Charge& charge, Duration window) {
  return ceil_div(window + charge.jitter, charge.period);
}

std::int64_t sections_in(const Sections& sections, Duration window) {
  const std::int64_t jobs = jobs_in(sections.charge, window);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / sections.per_job;
  return std::min(jobs, most) * sections.per_job;
}

Solution solve(const Recurrence& recurrence, Duration cap, WorkBudget& budget) {
  const auto work = static_cast<std::int64_t>(recurrence.constants.size() + recurrence.size()) + 1;
  const Duration constants = sum_of_constants(recurrence);
  Duration value = constants;
  for (int step = 0; value <= cap && !value.is_infinite(); ++step) {
    if (budget.evaluations < work) return {SolveStatus::budget_spent, value};
    budget.evaluations -= work;
    if (step == kStepsBeforeRelaxation) {
      const std::optional<Duration> bound = relaxation(recurrence, constants);
      if (!bound) return {SolveStatus::diverges, Duration::infinite()};
      value = std::max(value, *bound);
      continue;
    }
    const Duration next = right_side(recurrence, constants, value);
    if (next == value) return {SolveStatus::fixed_point, value};
    value = next;
  }
  return {SolveStatus::above_cap, value};
}

}  // namespace rtgpu
