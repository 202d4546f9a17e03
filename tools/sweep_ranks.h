// A sweep by several processes: the first one, the leader, hands out chunks, to itself too, and adds up what comes
// back.
//
// A worker sends the state of a sweep in which nothing but its chunks is done (sweep_state.h), at first that of none:
// the leader reads there that both have the same experiment. An answer is the chunks to count, "FIRST END", or nothing
// for the end, which the worker confirms by nothing.
#pragma once

#include "analysis/experiments/run_chunks.h"
#include "analysis/experiments/sweep.h"
#include "rtgpu/error.h"
#include "tools/ranks.h"

#include <atomic>
#include <chrono>
#include <functional>

namespace rtgpu {

// How many threads count in this process if nobody says so: its share of the machine's cores, as far as it may use
// them.
int usual_jobs(const Ranks& ranks);

// The first process. While the object lives, the others wait for it or count for it; then they are done. For one
// thread.
class SweepLeader {
 public:
  // Both outlive the object. jobs: threads of this process; at least 1.
  SweepLeader(Ranks& ranks, const Sweep& sweep, int jobs);
  // Waits for the chunks that the workers have begun.
  ~SweepLeader();
  SweepLeader(const SweepLeader&) = delete;
  SweepLeader& operator=(const SweepLeader&) = delete;

  // As run_chunks() of all chunks, with the same counts and the same errors; its jobs are not looked at, and
  // after_chunk is called after several chunks. `stopping` is called once when the work is stopped, before the chunks
  // that this process has begun are waited for: those of the workers are not. One more error: a worker has another
  // experiment, or is of another version.
  Errors count(const RunChunksOptions& options, const std::function<void()>& stopping, SweepCounts& counts);

 private:
  Ranks& ranks_;
  const Sweep& sweep_;
  int jobs_;
};

// What each of the other processes does, until the leader ends it: true. Once `stop` is true it counts no more, but
// stays for kWorkerStays: false.
bool work_for_leader(Ranks& ranks, const Sweep& sweep, int jobs, const std::atomic<bool>& stop);

// mpirun tells all processes to end by a signal, and kills what is left after a second, or as soon as one of them has
// ended. The leader needs that second to save what is done.
inline constexpr std::chrono::seconds kWorkerStays{2};

}  // namespace rtgpu
