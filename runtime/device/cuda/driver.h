// The CUDA driver, opened at run time: a program that uses it starts as well where there is none.
#pragma once

#include "rtgpu/result.h"
#include "runtime/device/cuda/driver_api.h"

#include <string>

namespace rtgpu::cuda {

inline constexpr int kOldestDriver = 12040;  // 12.4: 1000 * major + 10 * minor

// The entry points of a driver that has been initialised and has at least one device. A value that can be copied; the
// library stays loaded until the process ends, since a CUDA driver cannot be unloaded safely. All threads may use one.
class Driver {
 public:
  // Opens the library (libcuda.so.1 if `library` is empty), looks every entry point up, and initialises it. Set-up, not
  // for the job path: may take a second. Errors (environment): there is no such library, or it is not a CUDA driver;
  // it is too old; entry points are missing; it cannot be initialised; it has no device.
  static Result<Driver> load(const std::string& library = {});

  const DriverCalls& calls() const { return calls_; }
  const DriverCalls* operator->() const { return &calls_; }
  // As kOldestDriver is written: what the driver supports, not what it is called.
  int version() const { return version_; }
  int device_count() const { return device_count_; }
  // Whether SMs can be set aside. That takes streams of green contexts with priorities, which are in 12.5 and later;
  // without them all of their entry points are null.
  bool has_green_contexts() const { return calls_.cuGreenCtxStreamCreate != nullptr; }

 private:
  Driver() = default;

  DriverCalls calls_;
  int version_ = 0;
  int device_count_ = 0;
};

}  // namespace rtgpu::cuda
