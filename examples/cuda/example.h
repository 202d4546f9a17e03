// What the CUDA examples have in common: arguments, device memory that frees itself, and how they end.
#pragma once

#include "runtime/runtime.h"

#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuda_example {

struct Arguments {
  std::int64_t seconds = 3;  // how long it runs
  int device = 0;
  int sms = 16;         // asked for as a partition
  bool normal = false;  // no real-time scheduling
};

// Throws std::runtime_error with the reason if a call of the CUDA runtime failed.
void expect(cudaError_t result, const char* what);

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

// An array in device memory. For set-up and for the end: both allocate and wait.
template <class Value>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    void* memory = nullptr;
    expect(cudaMalloc(&memory, size * sizeof(Value)), "device memory");
    memory_.reset(static_cast<Value*>(memory));
    expect(cudaMemset(memory, 0, size * sizeof(Value)), "clearing device memory");
  }
  explicit DeviceArray(const std::vector<Value>& values) : DeviceArray(values.size()) {
    expect(cudaMemcpy(data(), values.data(), size_ * sizeof(Value), cudaMemcpyHostToDevice), "copying to the device");
  }

  Value* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  std::vector<Value> values() const {
    std::vector<Value> copied(size_);
    expect(cudaMemcpy(copied.data(), data(), size_ * sizeof(Value), cudaMemcpyDeviceToHost), "copying from the device");
    return copied;
  }

 private:
  struct Free {
    void operator()(Value* memory) const { cudaFree(memory); }
  };
  std::unique_ptr<Value, Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace cuda_example
