// The entry points of DriverCalls by name, each with the version of its interface that is declared there.
#pragma once

#include "runtime/device/cuda/driver_api.h"

#include <array>
#include <type_traits>

namespace rtgpu::cuda {

struct EntryPoint {
  const char* name = "";
  int version = 0;     // 1000 * major + 10 * minor
  bool green = false;  // of green contexts, which are optional
  void (*set)(DriverCalls& calls, void* address) = nullptr;
  void* (*get)(const DriverCalls& calls) = nullptr;
};

template <auto Call>
constexpr EntryPoint entry_point(const char* name, int version, bool green = false) {
  return {name, version, green,
          [](DriverCalls& calls, void* address) {
            calls.*Call = reinterpret_cast<std::remove_reference_t<decltype(calls.*Call)>>(address);
          },
          [](const DriverCalls& calls) { return reinterpret_cast<void*>(calls.*Call); }};
}

// A version above a driver's own is not found there. cuGraphInstantiateWithFlags is what later versions call
// cuGraphInstantiate, a name that older ones use for something else.
inline constexpr auto kEntryPoints = std::to_array<EntryPoint>({
    entry_point<&DriverCalls::cuDriverGetVersion>("cuDriverGetVersion", 2020),
    entry_point<&DriverCalls::cuInit>("cuInit", 2000),
    entry_point<&DriverCalls::cuDeviceGetCount>("cuDeviceGetCount", 2000),
    entry_point<&DriverCalls::cuDeviceGet>("cuDeviceGet", 2000),
    entry_point<&DriverCalls::cuDeviceGetName>("cuDeviceGetName", 2000),
    entry_point<&DriverCalls::cuDeviceGetAttribute>("cuDeviceGetAttribute", 2000),
    entry_point<&DriverCalls::cuDeviceTotalMem>("cuDeviceTotalMem", 3020),
    entry_point<&DriverCalls::cuDevicePrimaryCtxRetain>("cuDevicePrimaryCtxRetain", 7000),
    entry_point<&DriverCalls::cuDevicePrimaryCtxRelease>("cuDevicePrimaryCtxRelease", 11000),
    entry_point<&DriverCalls::cuDevicePrimaryCtxSetFlags>("cuDevicePrimaryCtxSetFlags", 11000),
    entry_point<&DriverCalls::cuDevicePrimaryCtxGetState>("cuDevicePrimaryCtxGetState", 7000),
    entry_point<&DriverCalls::cuCtxSetCurrent>("cuCtxSetCurrent", 4000),
    entry_point<&DriverCalls::cuCtxGetCurrent>("cuCtxGetCurrent", 4000),
    entry_point<&DriverCalls::cuCtxGetStreamPriorityRange>("cuCtxGetStreamPriorityRange", 5050),
    entry_point<&DriverCalls::cuCtxSynchronize>("cuCtxSynchronize", 2000),
    entry_point<&DriverCalls::cuStreamCreateWithPriority>("cuStreamCreateWithPriority", 5050),
    entry_point<&DriverCalls::cuStreamGetPriority>("cuStreamGetPriority", 5050),
    entry_point<&DriverCalls::cuStreamGetFlags>("cuStreamGetFlags", 5050),
    entry_point<&DriverCalls::cuStreamDestroy>("cuStreamDestroy", 4000),
    entry_point<&DriverCalls::cuStreamQuery>("cuStreamQuery", 2000),
    entry_point<&DriverCalls::cuStreamSynchronize>("cuStreamSynchronize", 2000),
    entry_point<&DriverCalls::cuStreamWaitEvent>("cuStreamWaitEvent", 3020),
    entry_point<&DriverCalls::cuEventCreate>("cuEventCreate", 2000),
    entry_point<&DriverCalls::cuEventRecord>("cuEventRecord", 2000),
    entry_point<&DriverCalls::cuEventQuery>("cuEventQuery", 2000),
    entry_point<&DriverCalls::cuEventSynchronize>("cuEventSynchronize", 2000),
    entry_point<&DriverCalls::cuEventElapsedTime>("cuEventElapsedTime", 2000),
    entry_point<&DriverCalls::cuEventDestroy>("cuEventDestroy", 4000),
    entry_point<&DriverCalls::cuMemAlloc>("cuMemAlloc", 3020),
    entry_point<&DriverCalls::cuMemFree>("cuMemFree", 3020),
    entry_point<&DriverCalls::cuMemGetInfo>("cuMemGetInfo", 3020),
    entry_point<&DriverCalls::cuMemHostAlloc>("cuMemHostAlloc", 2020),
    entry_point<&DriverCalls::cuMemFreeHost>("cuMemFreeHost", 2000),
    entry_point<&DriverCalls::cuMemcpyHtoDAsync>("cuMemcpyHtoDAsync", 3020),
    entry_point<&DriverCalls::cuMemcpyDtoHAsync>("cuMemcpyDtoHAsync", 3020),
    entry_point<&DriverCalls::cuMemcpyDtoDAsync>("cuMemcpyDtoDAsync", 3020),
    entry_point<&DriverCalls::cuMemsetD8Async>("cuMemsetD8Async", 3020),
    entry_point<&DriverCalls::cuModuleLoadData>("cuModuleLoadData", 2000),
    entry_point<&DriverCalls::cuModuleUnload>("cuModuleUnload", 2000),
    entry_point<&DriverCalls::cuModuleGetFunction>("cuModuleGetFunction", 2000),
    entry_point<&DriverCalls::cuFuncGetAttribute>("cuFuncGetAttribute", 2020),
    entry_point<&DriverCalls::cuOccupancyMaxActiveBlocksPerMultiprocessor>(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050),
    entry_point<&DriverCalls::cuLaunchKernel>("cuLaunchKernel", 4000),
    entry_point<&DriverCalls::cuStreamBeginCapture>("cuStreamBeginCapture", 10010),
    entry_point<&DriverCalls::cuStreamEndCapture>("cuStreamEndCapture", 10000),
    entry_point<&DriverCalls::cuGraphGetNodes>("cuGraphGetNodes", 10000),
    entry_point<&DriverCalls::cuGraphNodeGetType>("cuGraphNodeGetType", 10000),
    entry_point<&DriverCalls::cuGraphKernelNodeGetAttribute>("cuGraphKernelNodeGetAttribute", 11000),
    entry_point<&DriverCalls::cuGraphInstantiateWithFlags>("cuGraphInstantiateWithFlags", 11040),
    entry_point<&DriverCalls::cuGraphUpload>("cuGraphUpload", 11010),
    entry_point<&DriverCalls::cuGraphLaunch>("cuGraphLaunch", 10000),
    entry_point<&DriverCalls::cuGraphExecDestroy>("cuGraphExecDestroy", 10000),
    entry_point<&DriverCalls::cuGraphDestroy>("cuGraphDestroy", 10000),
    entry_point<&DriverCalls::cuDeviceGetDevResource>("cuDeviceGetDevResource", 12040, true),
    entry_point<&DriverCalls::cuDevSmResourceSplitByCount>("cuDevSmResourceSplitByCount", 12040, true),
    entry_point<&DriverCalls::cuDevResourceGenerateDesc>("cuDevResourceGenerateDesc", 12040, true),
    entry_point<&DriverCalls::cuGreenCtxCreate>("cuGreenCtxCreate", 12040, true),
    entry_point<&DriverCalls::cuGreenCtxDestroy>("cuGreenCtxDestroy", 12040, true),
    entry_point<&DriverCalls::cuCtxFromGreenCtx>("cuCtxFromGreenCtx", 12040, true),
    entry_point<&DriverCalls::cuGreenCtxGetDevResource>("cuGreenCtxGetDevResource", 12040, true),
    entry_point<&DriverCalls::cuGreenCtxStreamCreate>("cuGreenCtxStreamCreate", 12050, true),
});

}  // namespace rtgpu::cuda
