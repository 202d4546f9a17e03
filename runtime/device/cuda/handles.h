// Streams, events, modules and memory of a CUDA driver, given back when they go out of scope: while their context is
// the calling thread's, and not in a forked child, where the driver must not be called.
#pragma once

#include "runtime/device/cuda/driver_api.h"
#include "runtime/device/cuda/fork_guard.h"

#include <memory>
#include <type_traits>
#include <utility>

namespace rtgpu::cuda {

template <class Handle>
class GivesBack {
 public:
  using GiveBack = CUresult (*)(Handle);

  GivesBack() = default;
  explicit GivesBack(GiveBack call) : call_(call) {}
  void operator()(Handle handle) const {
    if (call_ != nullptr && !guard_.is_in_child()) call_(handle);
  }

 private:
  GiveBack call_ = nullptr;
  ForkGuard guard_;
};

// Of a pointer type of the driver: CUstream, CUevent, CUmodule.
template <class Handle>
using HandleOf = std::unique_ptr<std::remove_pointer_t<Handle>, GivesBack<Handle>>;

// Device memory, by its address; 0: none.
class DeviceMemory {
 public:
  DeviceMemory(CUdeviceptr address, GivesBack<CUdeviceptr>::GiveBack free) : address_(address), free_(free) {}
  DeviceMemory(DeviceMemory&& other) noexcept : address_(std::exchange(other.address_, 0)), free_(other.free_) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(free_, other.free_);
    return *this;
  }
  ~DeviceMemory() {
    if (address_ != 0) free_(address_);
  }
  CUdeviceptr address() const { return address_; }
  // It is not given back.
  void forget() { address_ = 0; }

 private:
  CUdeviceptr address_ = 0;
  GivesBack<CUdeviceptr> free_;
};

}  // namespace rtgpu::cuda
