// What the CUDA examples have in common: arguments, and how they end.
#pragma once

#include "examples/cuda/device_array.h"
#include "runtime/runtime.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace cuda_example {

struct Arguments {
  std::int64_t seconds = 3;  // how long it runs
  int device = 0;
  int sms = 16;         // asked for as a partition
  bool normal = false;  // no real-time scheduling
};

// A runtime on the device and with the scheduling that the arguments say.
rtgpu::RuntimeOptions options(const Arguments& arguments, const std::string& policy);

// Reads the arguments, looks whether there is a device, and calls `run`, which returns whether all went well. The
// returned exit status is 0 if it did, 1 if not, 2 with arguments that make no sense, 3 if the environment does not
// allow it, and 77 without a device.
int run_example(std::span<char*> words, const std::function<bool(const Arguments&)>& run);

// Tries `run` with an SM partition of that size, and without one where device or driver cannot give it.
bool with_or_without_partition(int sms, const std::function<bool(std::optional<int>)>& run);

// Prints how many of the values are the same, to the last bit, as the CPU's. Whether all are.
bool all_equal(const std::string& name, std::span<const float> of_gpu, std::span<const float> of_cpu);

}  // namespace cuda_example
