// Copy engines: one copy after another, without a break.
#include "analysis/simulation/schedule_check_view.h"

#include <cstddef>
#include <variant>

#include <fmt/format.h>

namespace rtgpu {
namespace {

// The copy that a task has with an engine, if any.
const Visit* copy_with(const ScheduleView& view, const ScheduleSlice& slice, TaskIndex task, std::size_t engine) {
  if (!slice.is_in(task, JobState::copy)) return nullptr;
  const auto& copy = std::get<CopySegment>(view.segment(*slice.visits[task]));
  return engine_of(copy, view.taskset.platform.gpus.front()) == engine ? slice.visits[task] : nullptr;
}

bool goes_before(const ScheduleView& view, const Visit& a, const Visit& b) {
  if (view.policy == Policy::stream_priority) return a.begin <= b.begin;
  return view.tasks[a.task].gpu_rank < view.tasks[b.task].gpu_rank;
}

// A copy starts in `after`: nobody who waited goes first. One submitted at that very moment may have come just after.
void check_copy_order(const ScheduleView& view, const ScheduleSlice& after, const Visit& starts, std::size_t engine,
                      Findings& findings) {
  for (TaskIndex task = 0; task < view.tasks.size(); ++task) {
    const Visit* waiter = copy_with(view, after, task, engine);
    if (waiter == nullptr || waiter == &starts || waiter->begin >= after.begin) continue;
    if (goes_before(view, starts, *waiter)) continue;
    findings.add(ScheduleRule::copy_order, starts.task, after.begin,
                 fmt::format("its copy is taken before that of {}", view.name(task)));
  }
}

class Engine {
 public:
  Engine(const ScheduleView& view, std::size_t engine, Findings& findings)
      : view_(view), engine_(engine), findings_(findings) {}

  void look_at(const ScheduleSlice& slice) {
    const TaskIndex task = slice.engines[engine_];
    const Visit* now = task == kNoTask ? nullptr : copy_with(view_, slice, task, engine_);
    if (now == nullptr && task != kNoTask) {
      findings_.add(ScheduleRule::copy_engine, task, slice.begin,
                    fmt::format("has copy engine {} though it has no copy for it", engine_));
    }
    if (task == kNoTask) check_idle(slice);
    if (now == running_) return;
    if (running_ != nullptr && running_->end > slice.begin) {
      findings_.add(ScheduleRule::copy_engine, running_->task, slice.begin, "its copy is interrupted");
    }
    running_ = now;
    if (now != nullptr) check_copy_order(view_, slice, *now, engine_, findings_);
  }

 private:
  void check_idle(const ScheduleSlice& slice) {
    for (TaskIndex task = 0; task < view_.tasks.size(); ++task) {
      if (copy_with(view_, slice, task, engine_) == nullptr) continue;
      findings_.add(ScheduleRule::copy_engine, task, slice.begin,
                    fmt::format("its copy waits while copy engine {} idles", engine_));
    }
  }

  const ScheduleView& view_;
  std::size_t engine_;
  Findings& findings_;
  const Visit* running_ = nullptr;
};

// A copy that is done is off its engine: it does not end before or after its engine does.
void check_copy_ends(const ScheduleView& view, Findings& findings) {
  for (const ScheduleSlice& slice : view.slices) {
    for (const Visit* visit : slice.visits) {
      if (visit == nullptr || visit->state != JobState::copy || visit->end != slice.end) continue;
      if (visit->on_engine == Duration() || visit->is_cut_off) continue;
      const auto& copy = std::get<CopySegment>(view.segment(*visit));
      if (slice.engines[engine_of(copy, view.taskset.platform.gpus.front())] == visit->task) continue;
      findings.add(ScheduleRule::copy_engine, visit->task, visit->end,
                   "its copy ends while its engine does not serve it");
    }
  }
}

}  // namespace

void check_copies(const ScheduleView& view, Findings& findings) {
  for (std::size_t index = 0; index < engines_of(view.taskset.platform.gpus.front()); ++index) {
    Engine engine(view, index, findings);
    for (const ScheduleSlice& slice : view.slices) engine.look_at(slice);
  }
  check_copy_ends(view, findings);
}

}  // namespace rtgpu
