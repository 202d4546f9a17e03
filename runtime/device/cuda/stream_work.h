// What a CUDA stream has been given to do: the slices of a segment, one in flight at a time.
#pragma once

#include "rtgpu/time.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/event_pairs.h"
#include "runtime/device/cuda/handles.h"
#include "runtime/device/cuda/spend_kernel.h"
#include "runtime/device/work.h"
#include "runtime/gpu_status.h"
#include "runtime/stream.h"

#include <cstddef>
#include <cstdint>

namespace rtgpu::cuda {

// Not synchronised: whose turn it is follows from the state of the work (CudaDevice). After construction nothing
// allocates, and no call of the driver waits for the device.
class StreamWork {
 public:
  // With `sms` SMs for work that takes a declared time. Refers to the kernel.
  StreamWork(const Driver& driver, const SpendKernel& spend, HandleOf<CUstream> stream, HandleOf<CUevent> end, int sms);

  CUstream stream() const { return stream_.get(); }
  // What functions that launch slices are given, but for the batch.
  void set_target(const StreamTarget& target) { target_ = target; }
  // Nothing is given back to the driver.
  void forget() {
    static_cast<void>(stream_.release());
    static_cast<void>(end_.release());
  }

  // From now on slices are timed by these events, which it refers to; null: they are not. While it is idle.
  void time_with(EventPairs* pairs) { pairs_ = pairs; }
  // What is launched into the stream from now on belongs to the next slice.
  void begin_timing() {
    if (pairs_ != nullptr) pairs_->begin(stream_.get());
  }
  // The end of what is in flight has been seen.
  void end_timing() {
    if (pairs_ != nullptr) pairs_->ended(batch_->place());
  }

  // Launches the first slice of `batch`, which stays as it is until its end. Errors: not_supported, it has kernels of
  // the host; device_lost. Anything else that goes wrong fails the work at the end of what is in flight.
  GpuStatus begin(const WorkBatch& batch);
  // Launches the next slice. False: the device is lost.
  bool launch_next();
  bool is_last() const { return slice_ >= slices_; }
  // No further slice is launched, and the work has failed.
  void give_up();
  bool has_failed() const { return has_failed_; }

  // The event that is reached at the end of what is in flight.
  CUevent in_flight() const { return in_flight_; }
  // Whether it is: not_ready, success, or what makes the device lost. Any thread.
  CUresult query(CUevent in_flight) const;
  // What made the device lost.
  CUresult problem() const { return problem_; }

 private:
  // Room for what the function of one slice may launch by run().
  static constexpr std::size_t kLaunchesOfSlice = 64;

  bool launch_slice();
  void call_for_slice();
  void spend(Duration time);
  void note(CUresult result);
  std::int64_t count_slices() const;
  Duration time_of_slice() const;

  Driver driver_;
  const SpendKernel* spend_;
  HandleOf<CUstream> stream_;
  HandleOf<CUevent> end_;
  int sms_;
  EventPairs* pairs_ = nullptr;

  const WorkBatch* batch_ = nullptr;
  CUevent in_flight_ = nullptr;
  std::int64_t slice_ = 0;  // the next one
  std::int64_t slices_ = 0;
  bool has_failed_ = false;
  CUresult problem_ = CUresult::success;
  WorkBatch of_slice_{kLaunchesOfSlice};
  StreamTarget target_;
};

}  // namespace rtgpu::cuda
