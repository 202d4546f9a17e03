// What this machine's GPU costs a real-time task: how long an urgent kernel waits for others, what a segment, a slice
// and a hand-over take. Prints a table, writes JSON, and with it the `overheads` of a taskset's platform.
//
//   rtgpu_gpu_overheads [--samples NUMBER] [--device cuda:NUMBER] [--json FILE] [--normal]
#include "benchmarks/arguments.h"
#include "benchmarks/gpu_measurements.h"
#include "benchmarks/gpu_result.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/make_device.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cuda_runtime_api.h>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace {

using rtgpu::benchmarks::GpuMeasurement;
using rtgpu::benchmarks::GpuResult;
using rtgpu::benchmarks::GpuSetup;

struct Arguments {
  GpuSetup setup = {};
  std::string json = {};
};

// Whether they make sense.
bool read(std::span<char*> words, Arguments& arguments) {
  for (std::size_t index = 1; index < words.size(); ++index) {
    const std::string_view word = words[index];
    if (word == "--normal") {
      arguments.setup.realtime.scheduler = rtgpu::Scheduler::normal;
      arguments.setup.realtime.lock_memory = false;
      continue;
    }
    if (++index == words.size()) return false;
    if (word == "--samples") {
      arguments.setup.samples = rtgpu::benchmarks::number(words[index]);
    } else if (word == "--device") {
      arguments.setup.device = words[index];
    } else if (word == "--json") {
      arguments.json = words[index];
    } else {
      return false;
    }
  }
  return arguments.setup.samples >= 1;
}

// By the number behind the colon, for the CUDA runtime too.
void choose_device(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string_view digits = colon == std::string::npos ? "0" : std::string_view(name).substr(colon + 1);
  const cudaError_t result = cudaSetDevice(static_cast<int>(rtgpu::benchmarks::number(digits)));
  if (result != cudaSuccess) throw std::runtime_error(cudaGetErrorString(result));
  if (!rtgpu::gpu_kernels::load()) throw std::runtime_error(cudaGetErrorString(cudaGetLastError()));
}

// What is known without measuring. Throws SetupError without a device.
GpuResult describe(const GpuSetup& setup) {
  const auto device = rtgpu::make_device(setup.device, {});
  if (!device) throw rtgpu::SetupError(device.errors());
  GpuResult result;
  result.device = (*device)->properties();
  result.notes = (*device)->notes();
  if (const auto driver = rtgpu::cuda::Driver::load()) {
    result.driver = fmt::format("{}.{}", driver->version() / 1000, driver->version() % 1000 / 10);
  }
  result.scheduler = to_string(setup.realtime.scheduler);
  result.samples = setup.samples;
  return result;
}

void add(std::vector<GpuMeasurement> measurements, GpuResult& result) {
  std::ranges::move(measurements, std::back_inserter(result.measurements));
}

int run(const Arguments& arguments) {
  GpuResult result = describe(arguments.setup);
  choose_device(arguments.setup.device);
  add(measure_segments(arguments.setup), result);
  add(measure_preemption(arguments.setup), result);
  std::cout << gpu_table(result);
  if (!arguments.json.empty()) {
    std::ofstream file(arguments.json);
    file << gpu_json(result);
    if (!file.flush()) {
      std::cerr << "cannot write " << arguments.json << '\n';
      return 1;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  arguments.setup.realtime.allow_degraded = true;
  arguments.setup.realtime.share_cores = true;
  if (!read({argv, static_cast<std::size_t>(argc)}, arguments)) {
    std::cerr << "usage: rtgpu_gpu_overheads [--samples NUMBER] [--device cuda:NUMBER] [--json FILE] [--normal]\n";
    return 2;
  }
  try {
    return run(arguments);
  } catch (const rtgpu::SetupError& error) {
    std::cerr << "rtgpu_gpu_overheads: " << error.what() << '\n';
    return 3;
  } catch (const std::exception& error) {
    std::cerr << "rtgpu_gpu_overheads: " << error.what() << '\n';
    return 1;
  }
}
