// What the measurements on a GPU found, as a table, as JSON, and as overheads of a taskset's platform.
#pragma once

#include "runtime/device/device.h"
#include "runtime/histogram.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rtgpu::benchmarks {

struct GpuMeasurement {
  std::string name = {};  // for machines
  std::string what = {};  // for people
  Histogram seen = {};
  std::string left_out = {};  // why it was not measured; empty if it was
};

struct GpuResult {
  DeviceProperties device = {};
  std::string driver = {};     // "13.0"
  std::string scheduler = {};  // "SCHED_FIFO"
  std::int64_t samples = 0;
  std::vector<GpuMeasurement> measurements = {};
  std::vector<std::string> notes = {};
};

// Microseconds: median, 99 %, maximum; a line for each measurement.
std::string gpu_table(const GpuResult& result);

// The same in nanoseconds, with `platform` as in a taskset file. Of its overheads only those that were measured:
// `launch` is the largest cost of a slice, `lock` the longest time to enter or leave without contention.
std::string gpu_json(const GpuResult& result);

}  // namespace rtgpu::benchmarks
