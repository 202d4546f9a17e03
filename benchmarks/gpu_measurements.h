// What a GPU and its driver cost, measured. Each function takes `samples` samples of each of its measurements, and
// leaves out, with the reason, what the device cannot do.
#pragma once

#include "benchmarks/gpu_result.h"
#include "runtime/runtime.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rtgpu::benchmarks {

struct GpuSetup {
  std::string device = "cuda:0";
  std::int64_t samples = 200;
  RealtimeOptions realtime = {};
};

// From the launch of a small, urgent kernel until its end is seen, while others fill the GPU: by plain CUDA streams,
// and by the runtime under its policies.
std::vector<GpuMeasurement> measure_preemption(const GpuSetup& setup);

// A segment against a bare launch, entering and leaving, a slice, and handing the GPU over.
std::vector<GpuMeasurement> measure_segments(const GpuSetup& setup);

}  // namespace rtgpu::benchmarks
