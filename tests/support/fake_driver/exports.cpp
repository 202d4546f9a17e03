// What the fake CUDA driver's library exports: what finds the entry points, and the control functions of FakeCuda.
#include "runtime/device/cuda/entry_points.h"
#include "tests/support/fake_driver/model.h"

namespace rtgpu::cuda::fake {
namespace {

const DriverCalls& fake_calls() {
  static const DriverCalls calls = [] {
    DriverCalls made;
    add_device_calls(made);
    add_memory_calls(made);
    add_stream_calls(made);
    add_event_calls(made);
    add_kernel_calls(made);
    add_graph_calls(made);
    add_green_calls(made);
    return made;
  }();
  return calls;
}

struct Found {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CUdriverProcAddressQueryResult::symbol_not_found;
};

// As the driver does: by the version that the caller knows of the entry point, and by its own.
Found find_entry_point(const Settings& settings, std::string_view name, int version) {
  const auto* entry = std::find_if(kEntryPoints.begin(), kEntryPoints.end(),
                                   [&](const EntryPoint& known) { return name == known.name; });
  if (entry == kEntryPoints.end() || settings.missing.find(name) != settings.missing.end()) return {};
  if (entry->version > settings.version || (entry->green && !settings.green)) return {};
  if (version < entry->version) return {nullptr, CUdriverProcAddressQueryResult::version_not_sufficient};
  return {entry->get(fake_calls()), CUdriverProcAddressQueryResult::success};
}

Model& locked_model(std::unique_lock<std::mutex>& lock) {
  Model& model = Model::instance();
  lock = std::unique_lock(model.mutex);
  model.catch_up();
  return model;
}

}  // namespace
}  // namespace rtgpu::cuda::fake

extern "C" {

rtgpu::cuda::CUresult cuGetProcAddress_v2(const char* name, void** address, int version, std::uint64_t flags,
                                          rtgpu::cuda::CUdriverProcAddressQueryResult* status) {
  using namespace rtgpu::cuda;
  if (name == nullptr || address == nullptr || flags > 2) return CUresult::invalid_value;
  std::unique_lock<std::mutex> lock;
  const auto [found, why] = fake::find_entry_point(fake::locked_model(lock).settings, name, version);
  *address = found;
  if (status != nullptr) *status = why;
  return found != nullptr || status != nullptr ? CUresult::success : CUresult::not_found;
}

rtgpu::cuda::CUresult cuDriverGetVersion(int* version) {
  return rtgpu::cuda::fake::fake_calls().cuDriverGetVersion(version);
}

rtgpu::cuda::CUresult cuInit(unsigned flags) {
  return rtgpu::cuda::fake::fake_calls().cuInit(flags);
}

void fake_cuda_reset() {
  std::unique_lock<std::mutex> lock;
  rtgpu::cuda::fake::locked_model(lock).reset();
}

bool fake_cuda_configure(const char* setting) {
  std::unique_lock<std::mutex> lock;
  return rtgpu::cuda::fake::locked_model(lock).configure(setting);
}

void fake_cuda_add_kernel(const rtgpu::cuda::FakeKernel& kernel) {
  std::unique_lock<std::mutex> lock;
  rtgpu::cuda::fake::locked_model(lock).kernels[kernel.name] = kernel;
}

void fake_cuda_launches(std::vector<rtgpu::cuda::FakeLaunch>& launches) {
  std::unique_lock<std::mutex> lock;
  launches = rtgpu::cuda::fake::locked_model(lock).launches;
}

std::size_t fake_cuda_complete(rtgpu::cuda::CUstream stream, std::size_t most) {
  std::unique_lock<std::mutex> lock;
  return rtgpu::cuda::fake::locked_model(lock).complete(stream, most);
}

bool fake_cuda_in_driver() {
  return rtgpu::cuda::fake::InDriver::holds();
}

bool fake_cuda_advance_to(std::uint64_t time) {
  std::unique_lock<std::mutex> lock;
  return rtgpu::cuda::fake::locked_model(lock).advance_to(time);
}

std::uint64_t fake_cuda_now() {
  std::unique_lock<std::mutex> lock;
  return rtgpu::cuda::fake::locked_model(lock).timeline.now();
}

bool fake_cuda_next_event(std::uint64_t* time) {
  std::unique_lock<std::mutex> lock;
  const std::optional<std::uint64_t> next = rtgpu::cuda::fake::locked_model(lock).next_event();
  *time = next.value_or(0);
  return next.has_value();
}

std::size_t fake_cuda_calls(const char* name) {
  std::unique_lock<std::mutex> lock;
  const auto& calls = rtgpu::cuda::fake::locked_model(lock).calls;
  const auto found = calls.find(std::string_view(name));
  return found != calls.end() ? found->second : 0;
}

std::size_t fake_cuda_things_left() {
  std::unique_lock<std::mutex> lock;
  return rtgpu::cuda::fake::locked_model(lock).things_left();
}

}  // extern "C"
