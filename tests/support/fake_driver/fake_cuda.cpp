#include "tests/support/fake_driver/fake_cuda.h"

#include <dlfcn.h>
#include <memory>
#include <stdexcept>

namespace rtgpu::cuda {
namespace {

// The library's own; it is never unloaded.
template <class Function>
Function* control(const char* name) {
  void* library = dlopen(FakeCuda::path(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* address = library != nullptr ? dlsym(library, name) : nullptr;
  if (address == nullptr) throw std::runtime_error(std::string("the fake CUDA driver lacks ") + name);
  dlclose(library);
  return reinterpret_cast<Function*>(address);
}

}  // namespace

const char* FakeCuda::path() {
  return RTGPU_FAKE_CUDA_PATH;
}
const char* FakeCuda::path_of_cuda_11() {
  return RTGPU_FAKE_CUDA_11_PATH;
}

FakeCuda::FakeCuda() {
  control<void()>("fake_cuda_reset")();
}
FakeCuda::~FakeCuda() {
  control<void()>("fake_cuda_reset")();
}

void FakeCuda::set(const std::string& setting) {
  if (!control<bool(const char*)>("fake_cuda_configure")(setting.c_str())) throw std::invalid_argument(setting);
}

void FakeCuda::add_kernel(const FakeKernel& kernel) {
  control<void(const FakeKernel&)>("fake_cuda_add_kernel")(kernel);
}

std::vector<FakeLaunch> FakeCuda::launches() const {
  std::vector<FakeLaunch> launches;
  control<void(std::vector<FakeLaunch>&)>("fake_cuda_launches")(launches);
  return launches;
}

std::size_t FakeCuda::complete(CUstream stream, std::size_t most) {
  return control<std::size_t(CUstream, std::size_t)>("fake_cuda_complete")(stream, most);
}

std::size_t FakeCuda::things_left() const {
  return control<std::size_t()>("fake_cuda_things_left")();
}

}  // namespace rtgpu::cuda
