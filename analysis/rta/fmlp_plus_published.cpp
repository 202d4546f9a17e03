#include "analysis/rta/fmlp_plus_published.h"

#include "analysis/rta/lock_published.h"

#include <algorithm>

namespace rtgpu {
namespace {

// The requests of x, each as long as its longest.
Sections requests_of(const RtaModel& model, TaskIndex x, Term term) {
  const RtaTask& task = model.task(x);
  Duration longest;
  for (const RtaGpuSegment& segment : task.segments) longest = std::max(longest, lock_section(model, segment));
  return {Charge{longest, task.period, deadline_jitter(model, x, Duration()), term, x}, task.gpu_segments};
}

}  // namespace

void build_fmlp_plus_published(const RtaModel& model, TaskIndex i, KnownResponses& known, WorkBudget&,
                               Recurrence& recurrence) {
  add_lock_own(model, i, recurrence);
  add_lock_preemption(model, i, known, recurrence);
  const std::int64_t requests = model.task(i).gpu_segments;
  // Remote ones first: what they count bounds how often local ones block.
  for (const TaskIndex x : model.gpu_users()) {
    if (requests == 0) break;
    if (model.task(x).core == model.task(i).core) continue;
    recurrence.add(Pool{requests, false, {requests_of(model, x, Term::gpu_blocking)}});
  }
  for (const TaskIndex l : model.gpu_users()) {
    if (!is_lower_gpu_user_on_core(model, l, i)) continue;
    recurrence.add(Pool{requests + 1, true, {requests_of(model, l, Term::cpu_blocking)}});
  }
}

}  // namespace rtgpu
