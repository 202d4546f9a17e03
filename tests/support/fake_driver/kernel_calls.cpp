// Modules and kernels of the fake CUDA driver. Every module has a kernel of every name.
#include "tests/support/fake_driver/model.h"

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

std::vector<std::vector<std::byte>> copies_of(const Model& model, const std::string& kernel, void** parameters) {
  std::vector<std::vector<std::byte>> copies;
  const auto known = model.kernels.find(kernel);
  if (known == model.kernels.end()) return copies;
  for (const std::size_t bytes : known->second.parameter_bytes) {
    const auto* start = static_cast<const std::byte*>(parameters[copies.size()]);
    copies.emplace_back(start, start + bytes);
  }
  return copies;
}

CUresult launch_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                       void** extra) {
  return in_call("cuLaunchKernel", Needs::context, [&](Model& model) {
    if (model.functions.find(function) == nullptr) return CUresult::invalid_handle;
    if (model.streams.find(stream) == nullptr) return CUresult::invalid_handle;
    const FakeLaunch launch{function->name, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes};
    const auto is_empty = [](const std::array<unsigned, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2] == 0; };
    if (is_empty(launch.grid) || is_empty(launch.block) || extra != nullptr) return CUresult::invalid_value;
    if (block_x * block_y * block_z > 1024) return CUresult::invalid_value;
    Operation operation;
    operation.type = CUgraphNodeType::kernel;
    operation.run = [launch, copies = copies_of(model, function->name, parameters)](Model& at, CUstream on,
                                                                                    int priority) {
      FakeLaunch run = launch;
      run.stream = on;
      run.priority = priority;
      at.run_kernel(run, copies);
    };
    model.submit(stream, operation);
    return CUresult::success;
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
