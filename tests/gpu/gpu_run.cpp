#include "tests/gpu/gpu_run.h"

#include "runtime/device/make_device.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <string_view>

namespace rtgpu::gpu_test {

std::string device_name() {
  const char* chosen = std::getenv("RTGPU_TEST_DEVICE");
  return chosen != nullptr ? chosen : "cuda:0";
}

std::optional<std::string> why_no_device() {
  const std::string name = device_name();
  const std::string_view digits = std::string_view(name).substr(std::min(name.find(':') + 1, name.size()));
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (const cudaError_t result = cudaSetDevice(number); result != cudaSuccess) return cudaGetErrorString(result);
  const Result<std::unique_ptr<Device>> made = make_device(name, {});
  if (!made) return SetupError(made.errors()).what();
  if (!gpu_kernels::load()) return cudaGetErrorString(cudaGetLastError());
  return std::nullopt;
}

RuntimeOptions options(const std::string& policy) {
  RuntimeOptions options;
  options.device = device_name();
  options.policy = policy;
  options.realtime.scheduler = Scheduler::normal;
  options.realtime.share_cores = true;
  options.realtime.lock_memory = false;
  return options;
}

RunReport run_job(const std::string& policy, const Runtime::Body& body, std::optional<int> sms) {
  using namespace std::chrono_literals;
  Runtime runtime(options(policy));
  runtime.add_task({.name = "task", .period = 60s, .priority = 1, .watchdog = 20s, .sms = sms}, body);
  runtime.run_for(1ns);
  return runtime.report();
}

}  // namespace rtgpu::gpu_test
