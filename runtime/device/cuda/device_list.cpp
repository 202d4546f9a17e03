#include "runtime/device/cuda/device_list.h"

#include "runtime/device/cuda/driver_api.h"
#include "runtime/device/cuda/driver_error.h"

#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

// Asks for one thing after another, and keeps the first problem.
class DeviceQuestions {
 public:
  DeviceQuestions(const Driver& driver, DeviceInfo& info) : driver_(driver), info_(info) {}

  bool ok(std::string_view call, CUresult result) {
    if (result == CUresult::success) return true;
    if (info_.problem.empty()) info_.problem = fmt::format("{} of {}", describe(result), call);
    return false;
  }

  int attribute(CUdevice device, CUdeviceAttribute which) {
    int value = 0;
    return ok("cuDeviceGetAttribute", driver_->cuDeviceGetAttribute(&value, which, device)) ? value : 0;
  }

 private:
  const Driver& driver_;
  DeviceInfo& info_;
};

void ask_properties(const Driver& driver, CUdevice device, DeviceInfo& info) {
  DeviceQuestions ask(driver, info);
  std::array<char, 256> name{};
  if (ask.ok("cuDeviceGetName", driver->cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device))) {
    info.name = name.data();
  }
  std::size_t memory = 0;
  if (ask.ok("cuDeviceTotalMem", driver->cuDeviceTotalMem(&memory, device))) {
    info.memory = static_cast<std::int64_t>(memory);
  }
  info.sms = ask.attribute(device, CUdeviceAttribute::multiprocessor_count);
  info.capability_major = ask.attribute(device, CUdeviceAttribute::compute_capability_major);
  info.capability_minor = ask.attribute(device, CUdeviceAttribute::compute_capability_minor);
  info.copy_engines = ask.attribute(device, CUdeviceAttribute::async_engine_count);
  info.display = ask.attribute(device, CUdeviceAttribute::kernel_exec_timeout) != 0;
}

// The range is that of the current context.
void ask_priorities(const Driver& driver, CUdevice device, DeviceInfo& info) {
  DeviceQuestions ask(driver, info);
  CUcontext before = nullptr;
  CUcontext context = nullptr;
  if (!ask.ok("cuCtxGetCurrent", driver->cuCtxGetCurrent(&before))) return;
  if (!ask.ok("cuDevicePrimaryCtxRetain", driver->cuDevicePrimaryCtxRetain(&context, device))) return;
  if (ask.ok("cuCtxSetCurrent", driver->cuCtxSetCurrent(context))) {
    const CUresult result = driver->cuCtxGetStreamPriorityRange(&info.least_priority, &info.greatest_priority);
    if (ask.ok("cuCtxGetStreamPriorityRange", result)) {
      info.stream_levels = info.least_priority - info.greatest_priority + 1;
    }
    ask.ok("cuCtxSetCurrent", driver->cuCtxSetCurrent(before));
  }
  ask.ok("cuDevicePrimaryCtxRelease", driver->cuDevicePrimaryCtxRelease(device));
}

}  // namespace

DeviceInfo device_info(const Driver& driver, int ordinal) {
  DeviceInfo info;
  info.ordinal = ordinal;
  info.driver_version = driver.version();
  CUdevice device = 0;
  if (DeviceQuestions(driver, info).ok("cuDeviceGet", driver->cuDeviceGet(&device, ordinal))) {
    ask_properties(driver, device, info);
    ask_priorities(driver, device, info);
  }
  return info;
}

std::vector<DeviceInfo> list_devices(const Driver& driver) {
  std::vector<DeviceInfo> devices;
  for (int ordinal = 0; ordinal < driver.device_count(); ++ordinal) devices.push_back(device_info(driver, ordinal));
  return devices;
}

}  // namespace rtgpu::cuda
