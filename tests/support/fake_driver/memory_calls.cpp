// Memory of the fake CUDA driver: a device address is the address of host memory.
#include "tests/support/fake_driver/model.h"

#include <cstring>

namespace rtgpu::cuda::fake {
namespace {

CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
  return in_call("cuMemAlloc", Needs::context, [&](Model& model) {
    if (bytes == 0) return CUresult::invalid_value;
    const CUdevice device = Model::current->device;
    if (bytes > model.settings.memory - model.used_memory(device)) return CUresult::out_of_memory;
    Allocation allocation{device, std::vector<std::byte>(bytes)};
    *address = reinterpret_cast<std::uintptr_t>(allocation.bytes.data());
    model.memory.emplace(*address, std::move(allocation));
    return CUresult::success;
  });
}

CUresult release(CUdeviceptr address) {
  return in_call("cuMemFree", Needs::context, [&](Model& model) {
    return model.memory.erase(address) != 0 ? CUresult::success : CUresult::invalid_value;
  });
}

CUresult get_info(std::size_t* free, std::size_t* total) {
  return in_call("cuMemGetInfo", Needs::context, [&](Model& model) {
    *total = model.settings.memory;
    *free = *total - model.used_memory(Model::current->device);
    return CUresult::success;
  });
}

CUresult allocate_host(void** address, std::size_t bytes, unsigned /*flags*/) {
  return in_call("cuMemHostAlloc", Needs::context, [&](Model& model) {
    if (bytes == 0) return CUresult::invalid_value;
    std::vector<std::byte> memory(bytes);
    *address = memory.data();
    model.host_memory.emplace(*address, std::move(memory));
    return CUresult::success;
  });
}

CUresult release_host(void* address) {
  return in_call("cuMemFreeHost", Needs::context, [&](Model& model) {
    return model.host_memory.erase(address) != 0 ? CUresult::success : CUresult::invalid_value;
  });
}

// One end of a copy. Device memory must be there when the copy is submitted, and when it is done.
struct Side {
  std::byte* host = nullptr;
  CUdeviceptr device = 0;
  std::byte* at(Model& model, std::size_t bytes) const {
    return host != nullptr ? host : model.memory_at(device, bytes);
  }
};

Side on_host(const void* address) {
  return {const_cast<std::byte*>(static_cast<const std::byte*>(address))};  // NOLINT: also what is only read
}
Side on_device(CUdeviceptr address) {
  return {nullptr, address};
}

CUresult submit_copy(Model& model, Uses engine, Side to, Side from, std::size_t bytes, CUstream handle) {
  CUstream_st* const stream = model.find_stream(handle);
  if (stream == nullptr) return CUresult::invalid_handle;
  if (to.at(model, bytes) == nullptr || from.at(model, bytes) == nullptr) return CUresult::invalid_value;
  Operation copy;
  copy.type = CUgraphNodeType::memcpy;
  copy.uses = engine;
  copy.bytes = bytes;
  copy.end = [=](Model& at, const Operation&) {
    std::byte* target = to.at(at, bytes);
    const std::byte* source = from.at(at, bytes);
    if (target == nullptr || source == nullptr)
      at.settings.fault = CUresult::illegal_address;
    else
      std::memmove(target, source, bytes);
  };
  return model.submit(stream, std::move(copy));
}

CUresult copy_to_device(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return in_call("cuMemcpyHtoDAsync", Needs::context, [&](Model& model) {
    return submit_copy(model, Uses::engine_to_device, on_device(to), on_host(from), bytes, stream);
  });
}

CUresult copy_to_host(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return in_call("cuMemcpyDtoHAsync", Needs::context, [&](Model& model) {
    return submit_copy(model, Uses::engine_to_host, on_host(to), on_device(from), bytes, stream);
  });
}

CUresult copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return in_call("cuMemcpyDtoDAsync", Needs::context, [&](Model& model) {
    return submit_copy(model, Uses::engine_to_device, on_device(to), on_device(from), bytes, stream);
  });
}

// Takes its turn on the SMs, and no time.
CUresult fill(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream handle) {
  return in_call("cuMemsetD8Async", Needs::context, [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr) return CUresult::invalid_handle;
    if (model.memory_at(to, bytes) == nullptr) return CUresult::invalid_value;
    Operation operation;
    operation.type = CUgraphNodeType::memset;
    operation.uses = Uses::sms;
    operation.end = [=](Model& at, const Operation&) {
      if (std::byte* start = at.memory_at(to, bytes); start != nullptr)
        std::memset(start, value, bytes);
      else
        at.settings.fault = CUresult::illegal_address;
    };
    return model.submit(stream, std::move(operation));
  });
}

}  // namespace

void add_memory_calls(DriverCalls& calls) {
  calls.cuMemAlloc = allocate;
  calls.cuMemFree = release;
  calls.cuMemGetInfo = get_info;
  calls.cuMemHostAlloc = allocate_host;
  calls.cuMemFreeHost = release_host;
  calls.cuMemcpyHtoDAsync = copy_to_device;
  calls.cuMemcpyDtoHAsync = copy_to_host;
  calls.cuMemcpyDtoDAsync = copy_on_device;
  calls.cuMemsetD8Async = fill;
}

}  // namespace rtgpu::cuda::fake
