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

// Either address may be that of device memory, which must be there when the copy is submitted and when it is done.
CUresult submit_copy(Model& model, std::byte* to, const std::byte* from, std::size_t bytes, CUstream stream) {
  if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
  if (to == nullptr || from == nullptr) return CUresult::invalid_value;
  Operation copy;
  copy.type = CUgraphNodeType::memcpy;
  copy.run = [=](Model& /*model*/, CUstream /*stream*/, int /*priority*/) { std::memmove(to, from, bytes); };
  model.submit(stream, copy);
  return CUresult::success;
}

CUresult copy_to_device(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return in_call("cuMemcpyHtoDAsync", Needs::context, [&](Model& model) {
    return submit_copy(model, model.memory_at(to, bytes), static_cast<const std::byte*>(from), bytes, stream);
  });
}

CUresult copy_to_host(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return in_call("cuMemcpyDtoHAsync", Needs::context, [&](Model& model) {
    return submit_copy(model, static_cast<std::byte*>(to), model.memory_at(from, bytes), bytes, stream);
  });
}

CUresult copy_on_device(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return in_call("cuMemcpyDtoDAsync", Needs::context, [&](Model& model) {
    return submit_copy(model, model.memory_at(to, bytes), model.memory_at(from, bytes), bytes, stream);
  });
}

CUresult fill(CUdeviceptr to, unsigned char value, std::size_t bytes, CUstream stream) {
  return in_call("cuMemsetD8Async", Needs::context, [&](Model& model) {
    std::byte* start = model.memory_at(to, bytes);
    if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    if (start == nullptr) return CUresult::invalid_value;
    Operation operation;
    operation.type = CUgraphNodeType::memset;
    operation.run = [=](Model& /*model*/, CUstream /*stream*/, int /*priority*/) { std::memset(start, value, bytes); };
    model.submit(stream, operation);
    return CUresult::success;
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
