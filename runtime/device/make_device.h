// Devices by their names.
#pragma once

#include "rtgpu/result.h"
#include "runtime/device/device.h"

#include <memory>
#include <string_view>

namespace rtgpu {

// "host": the emulated accelerator whose work takes its declared time; "host:compute": the one that runs kernels. An
// emulated device has the properties given. Set-up, not for the job path. Errors: unsupported, "cuda" and "cuda:N",
// which are not there yet; value, any other name.
Result<std::unique_ptr<Device>> make_device(std::string_view name, DeviceProperties properties);

}  // namespace rtgpu
