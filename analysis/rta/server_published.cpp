#include "analysis/rta/server_published.h"

#include "analysis/rta/lock_published.h"

#include <algorithm>
#include <cstdint>

namespace rtgpu {
namespace {

// Past every limit that a response may be held to, for a wait that has no bound.
constexpr std::int64_t kEndlessPeriods = 10;

Duration both_calls(const RtaModel& model) {
  return model.overheads().lock * 2;
}

Duration services_of(const RtaModel& model, TaskIndex task) {
  const RtaTask& sums = model.task(task);
  return sums.misc + sums.exec + both_calls(model) * sums.gpu_segments;
}

// S: what the server runs on its core for a job.
Duration server_demand(const RtaModel& model, TaskIndex task) {
  const RtaTask& sums = model.task(task);
  return sums.misc + both_calls(model) * sums.gpu_segments;
}

struct LongestRequest {
  TaskIndex task = kNoTask;
  Duration length;
};

LongestRequest longest_request_below(const RtaModel& model, TaskIndex i) {
  LongestRequest longest;
  for (const TaskIndex l : model.gpu_users()) {
    if (l == i || model.is_higher_on_gpu(l, i)) continue;
    for (const RtaGpuSegment& segment : model.task(l).segments) {
      const Duration length = segment.misc + segment.exec + both_calls(model);
      if (length > longest.length) longest = {l, length};
    }
  }
  return longest;
}

// eta_i Bw_i, by what is waited for.
void add_client_waits(const RtaModel& model, TaskIndex i, WorkBudget& budget, Recurrence& recurrence) {
  const std::int64_t requests = model.task(i).gpu_segments;
  const LongestRequest below = longest_request_below(model, i);
  Recurrence wait;
  wait.add(Constant{below.length, 1, Term::gpu_blocking, below.task});
  for (const TaskIndex h : model.higher_on_gpu(i)) {
    if (!model.task(h).uses_gpu) continue;
    const Duration cost = services_of(model, h);
    wait.add(Constant{cost, 1, Term::gpu_preemption, h});
    wait.add(Charge{cost, model.task(h).period, {}, Term::gpu_preemption, h});
  }
  const Duration endless = model.task(i).period * kEndlessPeriods;
  const Solution solution = solve(wait, endless, budget);
  if (solution.status != SolveStatus::fixed_point) {
    recurrence.add(Constant{endless + Duration::nanoseconds(1), 1, Term::gpu_preemption, kNoTask});
    return;
  }
  recurrence.add(Constant{below.length * requests, requests, Term::gpu_blocking, below.task});
  for (const Charge& charge : wait.charges) {
    const std::int64_t met = (jobs_in(charge, solution.value) + 1) * requests;
    recurrence.add(Constant{charge.cost * met, met, Term::gpu_preemption, charge.task});
  }
}

// B_h, all in one.
Duration handling_time(const RtaModel& model, TaskIndex h, WorkBudget& budget) {
  Recurrence waits;
  add_client_waits(model, h, budget, waits);
  Duration sum = services_of(model, h);
  for (const Constant& constant : waits.constants) sum += constant.amount;
  return sum;
}

void add_client_own(const RtaModel& model, TaskIndex i, Recurrence& recurrence) {
  const RtaTask& task = model.task(i);
  recurrence.add(Constant{task.cpu + task.misc + (task.exec - task.launches), 1, Term::own, i});
  recurrence.add(Constant{both_calls(model) * task.gpu_segments + task.launches, 1, Term::overhead, i});
}

bool waits_busily(const RtaTask& task) {
  return task.busy && task.uses_gpu;
}

void add_client_core(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget& budget,
                     Recurrence& recurrence) {
  for (const TaskIndex h : model.higher_on_core(i)) {
    const RtaTask& task = model.task(h);
    if (waits_busily(task)) {
      const Duration cost = task.cpu + handling_time(model, h, budget);
      recurrence.add(Charge{cost, task.period, task.release_jitter, Term::cpu_preemption, h});
    } else {
      recurrence.add(Charge{task.cpu, task.period, known.jitter(h, task.cpu), Term::cpu_preemption, h});
    }
    if (known.taint()) return;
  }
}

void add_server_parts(const RtaModel& model, TaskIndex i, Recurrence& recurrence) {
  if (model.task(i).core != model.server_core()) return;
  for (const TaskIndex j : model.gpu_users()) {
    if (j == i || (waits_busily(model.task(j)) && model.is_higher_on_core(j, i))) continue;
    const Duration demand = server_demand(model, j);
    const Duration jitter = deadline_jitter(model, j, demand);
    recurrence.add(Charge{demand, model.task(j).period, jitter, Term::cpu_blocking, j});
  }
}

}  // namespace

void build_server_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget& budget,
                            Recurrence& recurrence) {
  add_client_own(model, i, recurrence);
  if (model.task(i).uses_gpu) add_client_waits(model, i, budget, recurrence);
  add_client_core(model, i, known, budget, recurrence);
  if (!known.taint()) add_server_parts(model, i, recurrence);
}

}  // namespace rtgpu
