// A job as the windows of its response: work on its core, then on a device, in turn.
#pragma once

#include "analysis/analysis.h"
#include "analysis/rta_model.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "taskset/taskset.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rtgpu {

// A GPU segment, or a copy. Times are worst cases.
struct DeviceStage {
  bool is_copy = false;
  Duration misc;  // on the core, before it
  Duration work;  // exec with the launches of further slices, or the copy
  Duration launches;
  // The longest time that the GPU works on it between two boundaries, by kind.
  Duration longest_slice;         // of a segment in slices
  Duration longest_block;         // between two thread-block boundaries
  bool is_interruptible = false;  // has boundaries of thread blocks
  std::int64_t slices = 1;
  std::int64_t time_slices = 0;  // ceil(work / L); 0 if L is not known
  int copy_engine = 0;
};

struct StagedTask {
  std::vector<Duration> host;        // CPU time before each device stage, and after the last: one more than those
  std::vector<DeviceStage> devices;  // in order
  bool busy = false;                 // while its device work is pending it holds its core
  bool spins = false;                // while it waits to be let in

  // Sums over the stages.
  Duration cpu_total;           // C
  Duration misc_total;          // Gm
  Duration gpu_total;           // Ge
  std::int64_t gpu_stages = 0;  // eta
};

// What stands for the response of a task so far. Infinite where there is no bound.
struct KnownTask {
  Duration response;
  std::vector<Duration> submitted;  // by device stage: from the release until its work is handed in, at the latest
  std::vector<Duration> completed;  // by device stage: until its work is done
  std::vector<Duration> waits;      // by device stage: the length of its window with the device
  friend bool operator==(const KnownTask&, const KnownTask&) = default;
};

class StagedModel {
 public:
  // Of a valid taskset. Errors (unsupported): several GPUs, an exec that cannot be told.
  static Result<StagedModel> of(const Taskset& taskset, WaitChoice wait);

  // Empty.
  StagedModel() = default;
  // As RtaModel::assign().
  Errors assign(const Taskset& taskset, WaitChoice wait);

  const RtaModel& order() const { return order_; }
  // GPU priorities may be exchanged through it.
  RtaModel& order() { return order_; }
  const StagedTask& staged(TaskIndex task) const { return staged_[task]; }
  const RtaTask& task(TaskIndex task) const { return order_.task(task); }
  const Overheads& overheads() const { return order_.overheads(); }
  std::size_t size() const { return staged_.size(); }
  // Every task, best-effort ones included, that uses the GPU.
  std::span<const TaskIndex> gpu_users() const { return order_.gpu_users(); }
  // Every task of the core of the real-time task `task` with lower CPU priority, best-effort ones included.
  std::span<const TaskIndex> lower_on_core(TaskIndex task) const;
  // Every real-time task of the core of `task` with higher CPU priority, highest first.
  std::span<const TaskIndex> higher_on_core(TaskIndex task) const;
  // Whether `other` is one of lower_on_core(task).
  bool is_lower_on_core(TaskIndex other, TaskIndex task) const;
  // Whether `a` goes before `b` on the GPU: real-time before best-effort, then by GPU priority.
  bool is_higher_on_gpu(TaskIndex a, TaskIndex b) const { return gpu_rank(a) < gpu_rank(b); }
  // Places in which the tasks of a core follow each other, the highest first: of a task, and of the first of its core.
  std::size_t place_on_core(TaskIndex task) const { return core_places_[task].place; }
  std::size_t first_place_on_core(TaskIndex task) const { return core_places_[task].begin; }
  // How many tasks of higher_on_core(task) use the GPU and may wait without giving up the core.
  std::int64_t waiters_on_core_above(TaskIndex task) const { return core_places_[task].waiters_above; }
  // Whether a task on another core than the task `task` uses the GPU and does not go before it there.
  bool has_gpu_user_below_elsewhere(TaskIndex task) const;
  int stream_level(TaskIndex task) const { return stream_levels_[task]; }
  const std::vector<int>& stream_levels() const { return stream_levels_; }
  // By the order that order() has by now; of a GPU whose number of stream priorities is known.
  void map_order_to_streams();
  // As the taskset says.
  void restore_stream_levels() { stream_levels_ = given_stream_levels_; }
  bool has_copies() const { return has_copies_; }

 private:
  void assign_stages(const Taskset& taskset, WaitChoice wait);
  void map_to_streams(const Taskset& taskset);
  void order_cores(const Taskset& taskset);
  void order_best_effort(const Taskset& taskset);
  std::size_t gpu_rank(TaskIndex task) const {
    return order_.task(task).best_effort ? best_effort_rank_[task] : order_.gpu_rank(task);
  }

  RtaModel order_;
  std::vector<StagedTask> staged_;
  // Tasks core after core, the real-time ones of each by CPU priority and then the best-effort ones.
  std::vector<TaskIndex> by_core_;
  struct CorePlace {
    std::size_t begin = 0;      // of the core in by_core_
    std::size_t real_time = 0;  // the end of its real-time tasks
    std::size_t end = 0;        // of the core
    std::size_t place = 0;      // of the task
    std::int64_t waiters_above = 0;
  };
  std::vector<CorePlace> core_places_;         // by task
  std::vector<std::size_t> core_ends_;         // by core: where its tasks end in by_core_
  std::vector<std::size_t> best_effort_rank_;  // by task
  std::vector<TaskIndex> best_effort_users_;   // of the GPU
  std::vector<int> stream_levels_;
  std::vector<int> given_stream_levels_;
  std::optional<int> stream_priorities_;
  bool has_copies_ = false;
};

// The response of a job that nothing delays.
Duration demand_alone(const StagedTask& task);
// What the demand of a task alone takes: the start of the iteration.
KnownTask least_known(const StagedTask& task);
void set_least_known(const StagedTask& task, KnownTask& known);
// No bound at all.
KnownTask nothing_known(const StagedTask& task);

}  // namespace rtgpu
