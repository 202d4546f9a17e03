// Devices by their names.
#pragma once

#include "rtgpu/result.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/device/device.h"

#include <memory>
#include <string_view>

namespace rtgpu {

// "host": the emulated accelerator whose work takes its declared time; "host:compute": the one that runs kernels. An
// emulated device has the properties given. "cuda" and "cuda:N": a CUDA device by the driver's number, used as `cuda`
// says. Set-up, not for the job path. Errors: value, any other name; those of CudaDevice::open().
Result<std::unique_ptr<Device>> make_device(std::string_view name, DeviceProperties properties,
                                            const CudaOptions& cuda = {});

}  // namespace rtgpu
