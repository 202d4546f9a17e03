#include "tests/support/fake_driver/fake_cuda.h"

#include "runtime/device/cuda/entry_points.h"

#include <algorithm>
#include <cstdint>
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

FakeCuda::Question FakeCuda::is_in_driver() {
  return control<bool()>("fake_cuda_in_driver");
}

void FakeCuda::advance_to(std::chrono::nanoseconds time) {
  if (time.count() < 0) throw std::invalid_argument("a time before 0");
  const bool done = control<bool(std::uint64_t)>("fake_cuda_advance_to")(static_cast<std::uint64_t>(time.count()));
  if (!done) throw std::logic_error("the fake CUDA driver's clock is not the test's: set clock=manual");
}

std::chrono::nanoseconds FakeCuda::now() const {
  return std::chrono::nanoseconds(control<std::uint64_t()>("fake_cuda_now")());
}

std::optional<std::chrono::nanoseconds> FakeCuda::next_event() const {
  std::uint64_t time = 0;
  if (!control<bool(std::uint64_t*)>("fake_cuda_next_event")(&time)) return std::nullopt;
  return std::chrono::nanoseconds(time);
}

std::size_t FakeCuda::calls(const std::string& name) const {
  const bool is_known = std::any_of(kEntryPoints.begin(), kEntryPoints.end(),
                                    [&](const EntryPoint& entry) { return name == entry.name; });
  if (!is_known) throw std::invalid_argument(name);
  return control<std::size_t(const char*)>("fake_cuda_calls")(name.c_str());
}

std::size_t FakeCuda::things_left() const {
  return control<std::size_t()>("fake_cuda_things_left")();
}

}  // namespace rtgpu::cuda
