// A kernel that keeps SMs busy for a given time: declared work on a real device.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/handles.h"

namespace rtgpu::cuda {

class SpendKernel {
 public:
  // Compiled by the driver, for whatever device the current context is of. Set-up: may take a second. Errors
  // (environment): the driver's reason.
  static Result<SpendKernel> load(const Driver& driver);

  // Takes `time` on `sms` SMs, which it fills: in one wave of thread blocks, or, if `block` is above 0, in waves of
  // blocks that take at most that long. A block measures the time by the device's clock, whose steps may be 1 us;
  // launching comes on top. Infinite: without end. Neither blocks nor allocates.
  CUresult launch(CUstream stream, Duration time, Duration block, int sms) const;
  // Nothing is given back to the driver.
  void forget() { static_cast<void>(module_.release()); }

 private:
  SpendKernel() = default;

  decltype(DriverCalls::cuLaunchKernel) launch_ = nullptr;
  HandleOf<CUmodule> module_;
  CUfunction function_ = nullptr;
  int blocks_per_sm_ = 1;
};

}  // namespace rtgpu::cuda
