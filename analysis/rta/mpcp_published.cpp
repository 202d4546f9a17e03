#include "analysis/rta/mpcp_published.h"

#include "analysis/rta/lock_published.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace rtgpu {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

std::int64_t times(std::int64_t count, std::int64_t factor) {
  return count > kAnyNumber / factor ? kAnyNumber : count * factor;
}

// All critical sections of h, one after another, once a job.
Charge sections_above(const RtaModel& model, TaskIndex h, KnownResponses& known) {
  const RtaTask& task = model.task(h);
  Duration sum;
  for (const RtaGpuSegment& segment : task.segments) sum += lock_section(model, segment);
  return {sum, task.period, known.jitter(h, core_demand(model, h)), Term::gpu_preemption, h};
}

// Br_i; nullopt if it is above the deadline or the budget is spent.
std::optional<Duration> wait_of_one_request(const std::vector<Charge>& above, Duration longest_below, Duration deadline,
                                            WorkBudget& budget) {
  Recurrence request;
  request.add(Constant{longest_below, 1, Term::gpu_blocking, kNoTask});
  for (const Charge& charge : above) {
    request.add(Constant{charge.cost, 1, Term::gpu_preemption, charge.task});
    request.add(charge);
  }
  const Solution solution = solve(request, deadline, budget);
  if (solution.status != SolveStatus::fixed_point) return std::nullopt;
  return solution.value;
}

// The critical sections below i on the GPU, longest first; no more than i can meet.
std::vector<Sections> sections_below(const RtaModel& model, TaskIndex i) {
  std::vector<Sections> sections;
  for (const TaskIndex l : model.gpu_users()) {
    if (l == i || model.is_higher_on_gpu(l, i)) continue;
    const RtaTask& task = model.task(l);
    const Duration jitter = deadline_jitter(model, l, core_demand(model, l));
    for (const RtaGpuSegment& segment : task.segments) {
      sections.push_back({Charge{lock_section(model, segment), task.period, jitter, Term::gpu_blocking, l}});
    }
  }
  // Equal ones in an order that does not depend on that of the taskset.
  const auto goes_first = [&](const Sections& a, const Sections& b) {
    if (a.charge.cost != b.charge.cost) return a.charge.cost > b.charge.cost;
    return model.is_higher_on_gpu(a.charge.task, b.charge.task);
  };
  const auto met = std::min(std::ssize(sections), std::ptrdiff_t{model.task(i).gpu_segments});
  std::ranges::partial_sort(sections, sections.begin() + met, goes_first);
  sections.resize(static_cast<std::size_t>(met));
  return sections;
}

void add_direct_blocking(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget& budget,
                         Recurrence& recurrence) {
  const RtaTask& task = model.task(i);
  std::vector<Charge> above;
  for (const TaskIndex h : model.higher_on_gpu(i)) {
    if (model.task(h).uses_gpu) above.push_back(sections_above(model, h, known));
    if (known.taint()) return;
  }
  std::vector<Sections> below = sections_below(model, i);
  const Duration longest = below.empty() ? Duration() : below.front().charge.cost;
  const std::optional<Duration> wait = wait_of_one_request(above, longest, task.deadline, budget);
  for (const Charge& charge : above) {
    const std::int64_t a_request = wait ? jobs_in(charge, *wait) : kAnyNumber - 1;
    recurrence.add(Pool{times(a_request + 1, task.gpu_segments), false, {{charge}}});
  }
  recurrence.add(Pool{task.gpu_segments, false, std::move(below)});
}

void add_prioritised_blocking(const RtaModel& model, TaskIndex i, TaskIndex l, Recurrence& recurrence) {
  const RtaTask& task = model.task(l);
  const Duration jitter = deadline_jitter(model, l, core_demand(model, l));
  Pool pool{model.task(i).gpu_segments + 1, false, {}};
  for (const RtaGpuSegment& segment : task.segments) {
    pool.sections.push_back({Charge{boosted_part(model, segment), task.period, jitter, Term::cpu_blocking, l}});
  }
  std::ranges::sort(pool.sections, [](const Sections& a, const Sections& b) { return a.charge.cost > b.charge.cost; });
  recurrence.add(std::move(pool));
}

}  // namespace

void build_mpcp_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget& budget,
                          Recurrence& recurrence) {
  add_lock_own(model, i, recurrence);
  add_lock_preemption(model, i, known, recurrence);
  if (model.task(i).uses_gpu && !known.taint()) add_direct_blocking(model, i, known, budget, recurrence);
  for (const TaskIndex l : model.gpu_users()) {
    if (is_lower_gpu_user_on_core(model, l, i)) add_prioritised_blocking(model, i, l, recurrence);
  }
}

}  // namespace rtgpu
