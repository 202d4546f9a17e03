// The primary context of a CUDA device: the one that the CUDA runtime API and the libraries on top of it use as well.
#pragma once

#include "rtgpu/result.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/device/cuda/driver.h"

#include <string>

namespace rtgpu::cuda {

// Keeps it retained. Not in a forked child, where the driver must not be called.
class PrimaryContext {
 public:
  // Sets how its threads wait, and retains it. Errors (environment): the driver's reason, for one that the device is
  // used by others alone.
  static Result<PrimaryContext> retain(const Driver& driver, CUdevice device, ContextWait wait);

  PrimaryContext(PrimaryContext&& other) noexcept;
  PrimaryContext& operator=(PrimaryContext&&) = delete;
  ~PrimaryContext();

  // Makes it the calling thread's. Whether that worked.
  bool enter() const { return driver_->cuCtxSetCurrent(context_) == CUresult::success; }
  CUcontext handle() const { return context_; }
  const Driver& driver() const { return driver_; }
  // What is not as was asked for; empty: nothing.
  const std::string& note() const { return note_; }
  // It is not given back: the process has been forked.
  void forget() { context_ = nullptr; }

 private:
  PrimaryContext(const Driver& driver, CUdevice device) : driver_(driver), device_(device) {}

  Driver driver_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::string note_;
};

// While it lives, the context is the calling thread's; then the one before is again.
class InContext {
 public:
  explicit InContext(const PrimaryContext& context) : context_(&context) {
    const Driver& driver = context.driver();
    if (driver->cuCtxGetCurrent(&before_) != CUresult::success) before_ = nullptr;
    ok_ = context.enter();
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  ~InContext() { context_->driver()->cuCtxSetCurrent(before_); }
  bool ok() const { return ok_; }

 private:
  const PrimaryContext* context_;
  CUcontext before_ = nullptr;
  bool ok_ = false;
};

}  // namespace rtgpu::cuda
