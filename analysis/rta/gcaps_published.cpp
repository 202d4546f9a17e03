#include "analysis/rta/gcaps_published.h"

namespace rtgpu {
namespace {

bool sees_gpu(const RtaModel& model, TaskIndex i) {
  return model.task(i).uses_gpu || model.task(i).busy || model.busy_higher_on_core(i) > 0;
}

void add_own(const RtaModel& model, TaskIndex i, Recurrence& recurrence) {
  const RtaTask& task = model.task(i);
  const Duration update = model.overheads().runlist_update;
  recurrence.add(Constant{task.cpu + task.misc + (task.exec - task.launches), 1, Term::own, i});
  recurrence.add(Constant{update * (2 * task.gpu_segments) + task.launches, 1, Term::overhead, i});
  recurrence.add(Constant{update * (task.gpu_segments + 1), task.gpu_segments + 1, Term::cpu_blocking, kNoTask});
}

void add_higher_on_core(const RtaModel& model, TaskIndex h, bool gpu_seen, KnownResponses& known,
                        Recurrence& recurrence) {
  const RtaTask& task = model.task(h);
  const Duration updates = model.overheads().runlist_update * (2 * task.gpu_segments);
  const Duration on_core = task.cpu + task.misc;
  if (!task.uses_gpu) {
    recurrence.add(Charge{task.cpu, task.period, task.release_jitter, Term::cpu_preemption, h});
  } else if (task.busy) {
    recurrence.add(Charge{on_core + task.exec + updates, task.period, task.release_jitter, Term::cpu_preemption, h});
  } else {
    recurrence.add(Charge{on_core + updates, task.period, known.jitter(h, on_core), Term::cpu_preemption, h});
    if (!gpu_seen) return;
    recurrence.add(Charge{task.exec, task.period, known.jitter(h, task.exec), Term::gpu_preemption, h});
  }
}

}  // namespace

void build_gcaps_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget&,
                           Recurrence& recurrence) {
  const bool gpu_seen = sees_gpu(model, i);
  add_own(model, i, recurrence);
  for (const TaskIndex h : model.higher_on_core(i)) {
    add_higher_on_core(model, h, gpu_seen, known, recurrence);
    if (known.taint()) return;
  }
  if (!gpu_seen) return;
  for (const TaskIndex h : model.higher_on_gpu(i)) {
    const RtaTask& task = model.task(h);
    if (!task.uses_gpu || model.is_higher_on_core(h, i)) continue;
    const Duration exec = task.exec + model.overheads().runlist_update * (2 * task.gpu_segments);
    recurrence.add(Charge{exec, task.period, known.jitter(h, task.exec), Term::gpu_preemption, h});
    if (known.taint()) return;
  }
}

}  // namespace rtgpu
