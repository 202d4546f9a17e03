#include "analysis/rta/lock_published.h"

#include <algorithm>

namespace rtgpu {

Duration boosted_part(const RtaModel& model, const RtaGpuSegment& segment) {
  return model.overheads().lock + segment.misc;
}

Duration lock_section(const RtaModel& model, const RtaGpuSegment& segment) {
  return boosted_part(model, segment) + segment.exec;
}

Duration core_demand(const RtaModel& model, TaskIndex task) {
  const RtaTask& sums = model.task(task);
  return sums.cpu + sums.misc + model.overheads().lock * sums.gpu_segments;
}

Duration deadline_jitter(const RtaModel& model, TaskIndex l, Duration demand) {
  return std::max(model.task(l).deadline - demand, Duration());
}

void add_lock_own(const RtaModel& model, TaskIndex i, Recurrence& recurrence) {
  const RtaTask& task = model.task(i);
  recurrence.add(Constant{task.cpu + task.misc + (task.exec - task.launches), 1, Term::own, i});
  recurrence.add(Constant{model.overheads().lock * task.gpu_segments + task.launches, 1, Term::overhead, i});
}

void add_lock_preemption(const RtaModel& model, TaskIndex i, KnownResponses& known, Recurrence& recurrence) {
  for (const TaskIndex h : model.higher_on_core(i)) {
    const RtaTask& task = model.task(h);
    const Duration cost = core_demand(model, h) + (task.busy ? task.exec : Duration());
    recurrence.add(Charge{cost, task.period, known.jitter(h, cost), Term::cpu_preemption, h});
    if (known.taint()) return;
  }
}

bool is_lower_gpu_user_on_core(const RtaModel& model, TaskIndex l, TaskIndex i) {
  return l != i && model.task(l).uses_gpu && model.task(l).core == model.task(i).core && !model.is_higher_on_core(l, i);
}

}  // namespace rtgpu
