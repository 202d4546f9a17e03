// What a profiler would be told through NVTX: a library that NVTX loads in its place, and that keeps a log.
#pragma once

#include <string>

namespace rtgpu::testing {

// Whether there is such a library, and NVTX has loaded it or will. Asked before the first range of the process.
bool use_nvtx_injection();

// What has been told since the last call, in order: "loaded", then "+name/1" for a range that was opened as the first
// one of its thread, and "-/1" for its end. Empty without NVTX.
std::string take_nvtx_log();

}  // namespace rtgpu::testing
