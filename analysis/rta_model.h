// A taskset in the form that the recurrences use: sums per task, and tasks in the order of their priorities.
#pragma once

#include "analysis/analysis.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rtgpu {

// A GPU segment. Times are worst cases.
struct RtaGpuSegment {
  Duration misc;
  Duration exec;  // on the whole GPU, launches of further slices included
};

// The quantities of one task. Times are worst cases.
struct RtaTask {
  int core = 0;
  Duration period;
  Duration deadline;
  Duration release_jitter;
  Duration cpu;                   // C: sum of CPU segments
  Duration misc;                  // Gm: sum of misc
  Duration exec;                  // Ge: sum of exec on the whole GPU, launches of further slices included
  Duration launches;              // the part of exec that is launches
  std::int64_t gpu_segments = 0;  // eta
  std::vector<RtaGpuSegment> segments;
  std::int64_t time_slices = 0;  // sum over GPU segments of ceil(exec / L); 0 if L is not known
  bool uses_gpu = false;
  bool busy = false;  // waits busily for its own GPU work
  bool best_effort = false;
};

// Whether an analysis has a place for copy segments.
enum class CopySegments : std::uint8_t { refused, covered };

class RtaModel {
 public:
  // Of a valid taskset that the recurrences cover. Errors (unsupported): several GPUs, copy segments, an exec that
  // cannot be told.
  static Result<RtaModel> of(const Taskset& taskset, WaitChoice wait, CopySegments copies = CopySegments::refused);

  // Empty.
  RtaModel() = default;
  // Becomes the model of another taskset, in the memory of the one before. Errors as of(): it is then of no use until
  // the next assign().
  Errors assign(const Taskset& taskset, WaitChoice wait, CopySegments copies = CopySegments::refused);

  const RtaTask& task(TaskIndex index) const { return tasks_[index]; }
  std::size_t size() const { return tasks_.size(); }
  const Overheads& overheads() const { return overheads_; }
  int server_core() const { return server_core_; }  // under the policy server
  WaitLabel wait_label() const { return wait_label_; }

  // Real-time tasks, highest CPU priority first.
  std::span<const TaskIndex> cpu_order() const { return cpu_order_; }
  // Real-time tasks of the same core with higher CPU priority, highest first: hpp(i).
  std::span<const TaskIndex> higher_on_core(TaskIndex index) const {
    return std::span(by_core_).subspan(core_begin_[index], core_place_[index] - core_begin_[index]);
  }
  bool is_higher_on_core(TaskIndex other, TaskIndex than) const {
    if (tasks_[other].best_effort || tasks_[than].best_effort) return false;
    return core_begin_[other] == core_begin_[than] && core_place_[other] < core_place_[than];
  }

  // Real-time tasks, highest GPU priority first.
  std::span<const TaskIndex> gpu_order() const { return gpu_order_; }
  // Real-time tasks with higher GPU priority, on any core: hp(i).
  std::span<const TaskIndex> higher_on_gpu(TaskIndex index) const {
    return std::span(gpu_order_).first(gpu_rank_[index]);
  }
  // By GPU priority; best-effort tasks are below all others, and none of them is above another.
  bool is_higher_on_gpu(TaskIndex other, TaskIndex than) const {
    return !tasks_[other].best_effort && (tasks_[than].best_effort || gpu_rank_[other] < gpu_rank_[than]);
  }
  // Replaces the GPU priorities; `order` holds every real-time task once.
  void set_gpu_order(std::vector<TaskIndex> order);
  // Exchanges two places of the order.
  void swap_gpu_order(std::size_t a, std::size_t b);
  std::size_t gpu_rank(TaskIndex index) const { return gpu_rank_[index]; }

  // Tasks that use the GPU, best-effort ones included.
  std::span<const TaskIndex> gpu_users() const { return gpu_users_; }
  // Tasks of hpp(i) that use the GPU and wait busily for it.
  std::int64_t busy_higher_on_core(TaskIndex index) const { return busy_higher_[index]; }

 private:
  void assign_tasks(const Taskset& taskset);
  void resolve_wait(const Taskset& taskset, WaitChoice choice);
  void order_tasks(const Taskset& taskset);
  void order_by_cpu_priority(const Taskset& taskset);
  void order_by_gpu_priority(const Taskset& taskset);
  void order_by_core(const Taskset& taskset);
  void rank_gpu_order();

  std::vector<RtaTask> tasks_;
  Overheads overheads_;
  int server_core_ = 0;
  WaitLabel wait_label_ = WaitLabel::suspend;
  std::vector<TaskIndex> gpu_users_;
  std::vector<TaskIndex> cpu_order_;
  std::vector<TaskIndex> gpu_order_;
  std::vector<std::size_t> gpu_rank_;
  std::vector<TaskIndex> by_core_;                          // cpu_order_, core after core
  std::vector<std::size_t> core_begin_;                     // by task: where its core starts in by_core_
  std::vector<std::size_t> core_place_;                     // by task: its own place in by_core_
  std::vector<std::int64_t> busy_higher_;                   // by task
  std::vector<std::pair<std::int64_t, std::size_t>> keys_;  // of what is being sorted
};

}  // namespace rtgpu
