#pragma once
#include "runtime/device/device.h"
#include "runtime/device/host/timed_device.h"

#include <memory>
#include <string_view>
namespace rtgpu {
inline Result<std::unique_ptr<Device>> make_device(std::string_view, DeviceProperties p) {
  return std::unique_ptr<Device>(std::make_unique<TimedDevice>(p));
}
}  // namespace rtgpu
