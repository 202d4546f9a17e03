// gcaps and gcaps-wc: context-level preemption through runlist updates (GCAPS, ECRTS 2024, algorithm 1 as intended).
//
// Enter and leave are runlist updates. Each needs a global mutex, whose waiters are served by rank; its holder is
// boosted. An update takes effect at its end: from there to the end of the leave call the segment is active. Under
// gcaps the GPU belongs to the active real-time segment of highest rank, whether or not it has submitted work; under
// gcaps-wc to the one of highest rank that has submitted work. Best-effort work runs only while no real-time segment is
// active (gcaps) or has submitted work (gcaps-wc), in turns of a time slice where one is given.
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/rank_queue.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

class GcapsPolicy final : public GpuPolicy {
 public:
  GcapsPolicy(PolicySetup setup, bool work_conserving);

  TaskId boosted() const override { return holder_; }
  Boundary boundary_kind() const override;
  bool wants_boundary() const override;
  Duration enter_cost() const override { return setup().runlist_update; }
  Duration leave_cost() const override { return setup().runlist_update; }

 protected:
  void on_enter(TaskId task) override;
  void on_entered(TaskId task) override;
  void on_submit(TaskId task) override;
  void on_boundary(TaskId task) override;
  void on_complete(TaskId task) override;
  void on_leave(TaskId task) override;
  void on_left(TaskId task) override;
  void on_cancel(TaskId task, Phase was) override;
  void on_reset() override { turn_ = kNobody; }
  void append_state(std::vector<std::uint64_t>& state) const override;

 private:
  bool is_best_effort(TaskId task) const { return setup().tasks[task].best_effort; }
  bool is_active(TaskId task) const { return is_active_[task] != 0; }
  bool has_work(TaskId task) const { return phase(task) == Phase::submitted; }
  void request_mutex(TaskId task);
  void release_mutex();
  void pass_turn(TaskId task);
  void update_gpu();
  TaskId real_time_owner() const;
  TaskId best_effort_owner() const;

  bool work_conserving_;
  TaskId holder_ = kNobody;  // of the mutex
  RankQueue waiting_;
  std::vector<char> is_active_;  // by task: between the end of enter and the end of leave
  std::vector<TaskId> by_rank_;
  TaskId turn_ = kNobody;  // the best-effort task whose turn it is; the search for work starts there
};

}  // namespace rtgpu
