// A job, as the function that does its work sees it.
#pragma once

#include "rtgpu/time.h"
#include "runtime/device/device.h"
#include "runtime/device/slicing.h"
#include "runtime/gpu_status.h"
#include "runtime/stream.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rtgpu {

class TaskRunner;

// Valid while the function that it was given to runs, and on its thread: called from another one, everything that
// concerns the GPU answers not_own_job. Nothing here allocates, throws, or takes an unbounded lock; what `work` throws
// passes through after the segment's place has been freed.
class Job {
 public:
  explicit Job(TaskRunner& runner) : runner_(runner) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::int64_t number() const;  // from 0
  Duration release() const;     // nominal, as a time of the run
  Duration deadline() const;    // as a time of the run
  Duration now() const;
  // Whether the job should end: it is late or over its budget, and its task says `abort`.
  bool aborted() const;
  // The task's device memory; empty on devices that do not compute.
  std::span<std::byte> memory() const;

  // A GPU segment: waits to be let in, calls `work(Stream)`, hands what that launched to the device, waits for its end,
  // and leaves. `name` is for the reader, and for profilers: it is the segment's range of NVTX. Not ok:
  // the work did not run, or not to its end.
  template <class Work>
  requires std::is_invocable_v<Work&, Stream> GpuStatus gpu(std::string_view name, Work&& work) {
    return segment(name, [&] { work(stream()); });
  }
  // The same with the work in slices, between which the policy may let others in: `work(Stream, Slice)` for each. On a
  // CUDA device a slice is launched when the one before has ended, for all but the first by a thread of the runtime
  // that runs above all tasks: `work` launches, and does nothing else.
  template <class Work>
  requires std::is_invocable_v<Work&, Stream, Slice> GpuStatus gpu(std::string_view name, const Sliced& grid,
                                                                   Work&& work) {
    return segment(name, [&] {
      if (launches_later({grid, SliceLauncher::of(work)})) return;
      for (const Slice& slice : grid) {
        work(stream(), slice);
        end_slice();
      }
    });
  }
  // A copy on a copy engine, and the wait for it.
  GpuStatus copy(std::string_view name, const CopyRequest& request);

  // A CPU segment that takes `time` of execution: in virtual time, and for synthetic work.
  void spend(Duration time);

  // The parts of gpu(), for code that cannot be a function: enter, launch into stream(), leave. leave() submits what
  // was launched and waits for its end.
  GpuStatus enter(std::string_view name);
  Stream stream();
  void end_slice();
  GpuStatus leave();

 private:
  // Frees the segment's place if it is left by an exception.
  class Inside {
   public:
    explicit Inside(Job& job) : job_(job) {}
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
      if (!left_) job_.give_up();
    }
    GpuStatus leave() {
      left_ = true;
      return job_.leave();
    }

   private:
    Job& job_;
    bool left_ = false;
  };

  template <class Launches>
  GpuStatus segment(std::string_view name, const Launches& launches) {
    const GpuStatus entered = enter(name);
    if (entered != GpuStatus::ok) return entered;
    Inside inside(*this);
    launches();
    return inside.leave();
  }
  void give_up();
  // Whether the device asks for the slices itself.
  bool launches_later(const SlicedLaunches& sliced);

  TaskRunner& runner_;
};

}  // namespace rtgpu
