// Modules and kernels of the fake CUDA driver. Every module has every kernel that was added.
#include "tests/support/fake_driver/model.h"

#include <chrono>

namespace rtgpu::cuda::fake {
namespace {

CUresult load_module(CUmodule* module, const void* image) {
  return in_call("cuModuleLoadData", Needs::context, [&](Model& model) {
    if (image == nullptr) return CUresult::invalid_value;
    *module = model.modules.add({});
    return CUresult::success;
  });
}

CUresult unload_module(CUmodule module) {
  return in_call("cuModuleUnload", Needs::context, [&](Model& model) {
    model.functions.remove_if([&](const CUfunc_st& function) { return function.module == module; });
    return model.modules.remove(module) ? CUresult::success : CUresult::invalid_handle;
  });
}

CUresult get_function(CUfunction* function, CUmodule module, const char* name) {
  return in_call("cuModuleGetFunction", Needs::context, [&](Model& model) {
    if (model.modules.find(module) == nullptr) return CUresult::invalid_handle;
    if (model.kernels.find(std::string_view(name)) == model.kernels.end()) return CUresult::not_found;
    *function = model.functions.add({module, name});
    return CUresult::success;
  });
}

CUresult get_function_attribute(int* value, CUfunctionAttribute attribute, CUfunction function) {
  return in_call("cuFuncGetAttribute", Needs::context, [&](Model& model) {
    if (model.functions.find(function) == nullptr) return CUresult::invalid_handle;
    *value = attribute == CUfunctionAttribute::max_threads_per_block ? 1024 : 0;
    return CUresult::success;
  });
}

CUresult get_occupancy(int* blocks, CUfunction function, int block_size, std::size_t /*shared_bytes*/) {
  return in_call("cuOccupancyMaxActiveBlocksPerMultiprocessor", Needs::context, [&](Model& model) {
    if (model.functions.find(function) == nullptr) return CUresult::invalid_handle;
    if (block_size < 1 || block_size > 1024) return CUresult::invalid_value;
    *blocks = static_cast<int>(kBlocksPerSm);
    return CUresult::success;
  });
}

// A kernel's own copies of its parameters, and where they are.
class Parameters {
 public:
  Parameters(const FakeKernel& kernel, void** parameters) {
    for (const std::size_t bytes : kernel.parameter_bytes) {
      const auto* start = static_cast<const std::byte*>(parameters[copies_.size()]);
      copies_.emplace_back(start, start + bytes);
    }
  }
  std::vector<void*> addresses() {
    std::vector<void*> all;
    for (std::vector<std::byte>& copy : copies_) all.push_back(copy.data());
    return all;
  }

 private:
  std::vector<std::vector<std::byte>> copies_;
};

FakeLaunch launch_of(FakeLaunch launch, const Operation& operation) {
  launch.stream = operation.stream->is_legacy ? nullptr : operation.stream;
  launch.priority = operation.priority.value_or(operation.stream->priority);
  launch.begin = std::chrono::nanoseconds(operation.begun_at);
  launch.end = std::chrono::nanoseconds(operation.done_at);
  return launch;
}

void begin_kernel(Model& model, Operation& operation, const FakeLaunch& launch, Parameters parameters) {
  operation.hangs = std::exchange(model.settings.hang_at_launch, false);
  if (model.settings.fault_at_launch != CUresult::success) {
    model.settings.fault = std::exchange(model.settings.fault_at_launch, CUresult::success);
    model.changed.notify_all();
    return;
  }
  const FakeKernel& kernel = model.kernels[launch.kernel];
  if (kernel.block_ns == nullptr) return;
  operation.part_ns = kernel.block_ns(kernel.context, launch_of(launch, operation), parameters.addresses().data());
}

void end_kernel(Model& model, const Operation& operation, const FakeLaunch& launch, Parameters parameters) {
  model.launches.push_back(launch_of(launch, operation));
  const FakeKernel& kernel = model.kernels[launch.kernel];
  if (kernel.run != nullptr) kernel.run(kernel.context, model.launches.back(), parameters.addresses().data());
}

Operation kernel_operation(const FakeLaunch& launch, const Parameters& parameters) {
  Operation operation;
  operation.type = CUgraphNodeType::kernel;
  operation.uses = Uses::sms;
  operation.parts = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  operation.begin = [=](Model& model, Operation& self) { begin_kernel(model, self, launch, parameters); };
  operation.end = [=](Model& model, const Operation& self) { end_kernel(model, self, launch, parameters); };
  return operation;
}

CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream handle, void** parameters,
                       void** extra) {
  return in_call("cuLaunchKernel", Needs::context, [&](Model& model) {
    CUstream_st* const stream = model.find_stream(handle);
    if (stream == nullptr || model.functions.find(function) == nullptr) return CUresult::invalid_handle;
    const FakeLaunch launch{function->name, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
    const auto is_empty = [](const std::array<unsigned, 3>& sizes) {
      return sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0;
    };
    if (is_empty(launch.grid) || is_empty(launch.block) || extra != nullptr) return CUresult::invalid_value;
    if (std::uint64_t{block_x} * block_y * block_z > 1024) return CUresult::invalid_value;
    const FakeKernel& kernel = model.kernels[launch.kernel];
    if (parameters == nullptr && !kernel.parameter_bytes.empty()) return CUresult::invalid_value;
    return model.submit(stream, kernel_operation(launch, Parameters(kernel, parameters)));
  });
}

}  // namespace

void add_kernel_calls(DriverCalls& calls) {
  calls.cuModuleLoadData = load_module;
  calls.cuModuleUnload = unload_module;
  calls.cuModuleGetFunction = get_function;
  calls.cuFuncGetAttribute = get_function_attribute;
  calls.cuOccupancyMaxActiveBlocksPerMultiprocessor = get_occupancy;
  calls.cuLaunchKernel = launch_kernel;
}

}  // namespace rtgpu::cuda::fake
