// The CUDA devices of this machine.
#pragma once

#include "runtime/device/cuda/driver.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rtgpu::cuda {

struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  int driver_version = 0;  // as Driver::version()
  int capability_major = 0;
  int capability_minor = 0;
  int sms = 0;
  std::int64_t memory = 0;  // bytes
  int copy_engines = 0;     // that work at the same time as kernels, and as each other
  // Priorities of streams. Here smaller numbers go first, so that the greatest priority is the smaller number.
  int least_priority = 0;
  int greatest_priority = 0;
  int stream_levels = 1;  // distinct priorities
  bool display = false;   // the system ends kernels that run long
  std::string problem;    // why the device cannot be used, as far as known; empty if it can
};

// A device by its number in the driver's order; one that does not answer has a problem. Makes its primary context for a
// moment, which may take a second; the calling thread's own context is the same afterwards. Set-up, not for the job
// path.
DeviceInfo device_info(const Driver& driver, int ordinal);

// All of them.
std::vector<DeviceInfo> list_devices(const Driver& driver);

}  // namespace rtgpu::cuda
