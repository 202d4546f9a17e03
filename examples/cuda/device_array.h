// Memory of a CUDA device that frees itself.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuda_example {

// Throws std::runtime_error with the reason if a call of the CUDA runtime failed.
inline void expect(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(result) + ", " + cudaGetErrorString(result));
}

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
