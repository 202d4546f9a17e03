#include "tests/runtime/cuda_runs.h"

#include "tests/runtime/virtual_runs.h"

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace rtgpu::testing {
namespace {

class FakeCudaClock final : public CudaClock {
 public:
  explicit FakeCudaClock(cuda::FakeCuda& fake) : fake_(fake) { fake_.set("clock=manual"); }
  void start() override { begin_ = fake_.now(); }
  void reach(Duration now) override { fake_.advance_to(begin_ + std::chrono::nanoseconds(now.count())); }
  Duration next_end() override {
    const std::optional<std::chrono::nanoseconds> next = fake_.next_event();
    return next ? Duration::nanoseconds((*next - begin_).count()) : Duration::infinite();
  }

 private:
  cuda::FakeCuda& fake_;
  std::chrono::nanoseconds begin_{};
};

cuda::Driver driver_of_fake() {
  Result<cuda::Driver> driver = cuda::Driver::load(cuda::FakeCuda::path());
  if (!driver) throw std::runtime_error(to_string(driver.errors().front()));
  return *driver;
}

}  // namespace

std::shared_ptr<CudaClock> clock_of(cuda::FakeCuda& fake) {
  return std::make_shared<FakeCudaClock>(fake);
}

RuntimeOptions virtual_cuda_options(cuda::FakeCuda& fake, const std::string& policy, const Gpu& gpu) {
  RuntimeOptions options = virtual_options(policy, gpu);
  options.device = "cuda:0";
  options.cuda.library = cuda::FakeCuda::path();
  options.cuda.clock = clock_of(fake);
  return options;
}

RuntimeOptions real_cuda_options(cuda::FakeCuda& fake, const std::string& policy) {
  fake.set("clock=monotonic");
  RuntimeOptions options;
  options.policy = policy;
  options.device = "cuda";
  options.cuda.library = cuda::FakeCuda::path();
  options.realtime.scheduler = Scheduler::normal;
  options.realtime.share_cores = true;
  options.realtime.lock_memory = false;
  options.realtime.allow_degraded = true;
  return options;
}

// Loaded after the runtime's device has been made, in its context.
CountingKernel::CountingKernel(cuda::FakeCuda& fake, const std::string& name, Duration block_time)
    : driver_(driver_of_fake()), block_ns_(block_time.count()), name_(name) {
  cuda::FakeKernel kernel;
  kernel.name = name;
  kernel.parameter_bytes = {sizeof(std::int64_t)};
  kernel.context = this;
  kernel.block_ns = [](void* context, const cuda::FakeLaunch&, void* const*) {
    return static_cast<std::uint64_t>(static_cast<CountingKernel*>(context)->block_ns_);
  };
  kernel.run = [](void* context, const cuda::FakeLaunch& launch, void* const* parameters) {
    auto& cells = static_cast<CountingKernel*>(context)->counts;
    std::int64_t first = 0;
    std::memcpy(&first, parameters[0], sizeof(first));
    for (unsigned block = 0; block < launch.grid[0]; ++block) ++cells.at(static_cast<std::size_t>(first + block));
  };
  fake.add_kernel(kernel);
  cuda::CUmodule module = nullptr;
  cuda::CUcontext context = nullptr;
  driver_->cuDevicePrimaryCtxRetain(&context, 0);
  driver_->cuCtxSetCurrent(context);
  driver_->cuModuleLoadData(&module, "code of the test");
  driver_->cuModuleGetFunction(&function_, module, name.c_str());
  driver_->cuDevicePrimaryCtxRelease(0);
}

cuda::CUresult CountingKernel::launch(const Stream& stream, std::int64_t first, std::int64_t blocks) const {
  std::array<void*, 1> parameters{&first};
  return driver_->cuLaunchKernel(function_, static_cast<unsigned>(blocks), 1, 1, 32, 1, 1, 0,
                                 reinterpret_cast<cuda::CUstream>(stream.cuda()), parameters.data(), nullptr);
}

}  // namespace rtgpu::testing
