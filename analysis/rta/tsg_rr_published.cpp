#include "analysis/rta/tsg_rr_published.h"

namespace rtgpu {
namespace {

// One turn of each of `others` for every slice that the task's segments take.
Duration interleaving(const RtaModel& model, const RtaTask& task, std::int64_t others) {
  const Overheads& overheads = model.overheads();
  return (overheads.time_slice + overheads.context_switch) * others * task.time_slices;
}

void add_own_and_turns(const RtaModel& model, TaskIndex i, Recurrence& recurrence) {
  const RtaTask& task = model.task(i);
  recurrence.add(Constant{task.cpu + task.misc + (task.exec - task.launches), 1, Term::own, i});
  recurrence.add(Constant{task.launches, 1, Term::overhead, i});
  if (!task.uses_gpu) return;
  const auto others = static_cast<std::int64_t>(model.gpu_users().size()) - 1;
  if (!recurrence.itemized) {
    recurrence.add(Constant{interleaving(model, task, others), 1, Term::gpu_interleaving, kNoTask});
    return;
  }
  for (const TaskIndex other : model.gpu_users()) {
    if (other == i) continue;
    recurrence.add(Constant{interleaving(model, task, 1), task.time_slices, Term::gpu_interleaving, other});
  }
}

}  // namespace

void build_tsg_rr_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget&,
                            Recurrence& recurrence) {
  add_own_and_turns(model, i, recurrence);
  const auto gpu_users = static_cast<std::int64_t>(model.gpu_users().size());
  const std::int64_t others = gpu_users - model.busy_higher_on_core(i);
  for (const TaskIndex h : model.higher_on_core(i)) {
    const RtaTask& task = model.task(h);
    const Duration on_core = task.cpu + task.misc;
    if (task.uses_gpu && task.busy) {
      const Duration cost = on_core + interleaving(model, task, others + 1);
      recurrence.add(Charge{cost, task.period, task.release_jitter, Term::cpu_preemption, h});
    } else {
      const Duration jitter = task.uses_gpu ? known.jitter(h, on_core) : task.release_jitter;
      recurrence.add(Charge{on_core, task.period, jitter, Term::cpu_preemption, h});
    }
    if (known.taint()) return;
  }
}

}  // namespace rtgpu
