// Builds a Schedule from the states between two moments. Internal to the library: of the simulator, and of the runtime,
// which makes one of a trace.
#pragma once

#include "analysis/simulation/schedule.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

class Recorder {
 public:
  Recorder(Schedule& schedule, std::size_t tasks, std::size_t cores, std::size_t engines);

  // Each says what holds from now until the next moment; an interval goes on while nothing changes.
  void task(std::size_t task, std::int64_t job, std::size_t segment, JobState state, bool boosted, Duration now);
  void core(std::size_t core, TaskIndex task, bool by_server, Duration now);
  // `turn` changes whenever work is put on the GPU, so that one task's turns stay apart.
  void gpu(TaskIndex task, bool switching, std::int64_t turn, Duration now);
  // Instead of gpu(), where tasks have SMs of their own: whether those of `task` run work, and which one.
  void partition(std::size_t task, bool runs, std::uint64_t submission, Duration now);
  void copy(std::size_t engine, TaskIndex task, Duration now);
  void job(JobRecord record);
  void finish(Duration now);

 private:
  template <class Interval, class Same>
  void go_on(std::vector<Interval>& done, Interval& open, Interval next, bool was_something, Same same, Duration now);

  Schedule& schedule_;
  std::vector<TaskInterval> open_tasks_;
  std::vector<CoreInterval> open_cores_;
  GpuInterval open_gpu_;
  std::int64_t open_turn_ = 0;
  // By task, empty without partitions.
  std::vector<GpuInterval> open_partitions_;
  std::vector<std::uint64_t> open_submissions_;
  std::vector<CopyInterval> open_copies_;
};

}  // namespace rtgpu
