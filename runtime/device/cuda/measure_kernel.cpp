#include "runtime/device/cuda/measure_kernel.h"

#include "runtime/device/cuda/clock_correlation.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/driver_error.h"
#include "runtime/device/cuda/handles.h"
#include "runtime/device/cuda/primary_context.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace cuda {
namespace {

// What is needed for a measurement, and given back after it.
class Measurement {
 public:
  Measurement(const Driver& driver, const KernelToMeasure& kernel) : driver_(driver), kernel_(kernel) {}

  Errors set_up() {
    CUstream stream = nullptr;
    if (!ok("cuStreamCreateWithPriority", driver_->cuStreamCreateWithPriority(&stream, kStreamNonBlocking, 0))) {
      return errors_;
    }
    stream_ = HandleOf<CUstream>(stream, GivesBack<CUstream>(driver_->cuStreamDestroy));
    for (HandleOf<CUevent>* event : {&begin_, &end_}) {
      CUevent made = nullptr;
      if (!ok("cuEventCreate", driver_->cuEventCreate(&made, kEventDefault))) return errors_;
      *event = HandleOf<CUevent>(made, GivesBack<CUevent>(driver_->cuEventDestroy));
    }
    return {};
  }

  // One run of the grid. False: an error.
  bool run(KernelTiming& longest) {
    for (std::int64_t first = 0; first < kernel_.blocks; first += kernel_.concurrent_blocks) {
      if (!run_part(first, std::min(kernel_.concurrent_blocks, kernel_.blocks - first), longest)) return false;
    }
    return true;
  }
  const Errors& errors() const { return errors_; }

 private:
  bool run_part(std::int64_t first, std::int64_t blocks, KernelTiming& longest) {
    const auto launched = std::chrono::steady_clock::now();
    if (!ok("cuEventRecord", driver_->cuEventRecord(begin_.get(), stream_.get()))) return false;
    kernel_.launch(reinterpret_cast<::CUstream_st*>(stream_.get()), first, blocks);
    if (!ok("cuEventRecord", driver_->cuEventRecord(end_.get(), stream_.get()))) return false;
    if (!ok("a launch of the kernel", driver_->cuEventSynchronize(end_.get()))) return false;
    const std::chrono::nanoseconds seen = std::chrono::steady_clock::now() - launched;
    float milliseconds = 0;
    const CUresult measured = driver_->cuEventElapsedTime(&milliseconds, begin_.get(), end_.get());
    if (!ok("cuEventElapsedTime", measured)) return false;
    const Result<DeviceTime> span = span_of_milliseconds(milliseconds);
    if (!span) {
      errors_ = span.errors();
      return false;
    }
    longest.block_time = std::max(longest.block_time, span->at + span->error);
    longest.launch_time = std::max(longest.launch_time, Duration::nanoseconds(seen.count()) - span->at);
    return true;
  }

  bool ok(std::string_view call, CUresult result) {
    if (result == CUresult::success) return true;
    errors_.push_back(Error{ErrorCode::environment,
                            Place{},
                            fmt::format("{} of {}", describe(result), call),
                            "a kernel that can be measured",
                            {}});
    return false;
  }

  const Driver& driver_;
  const KernelToMeasure& kernel_;
  HandleOf<CUstream> stream_;
  HandleOf<CUevent> begin_;
  HandleOf<CUevent> end_;
  Errors errors_;
};

Errors check_kernel(const KernelToMeasure& kernel) {
  Errors errors;
  const auto check = [&](std::string_view what, std::int64_t number) {
    if (number >= 1) return;
    errors.push_back(Error{ErrorCode::value, Place{}, fmt::format("{} {}", number, what), "1 at least", {}});
  };
  check("blocks", kernel.blocks);
  check("blocks at once", kernel.concurrent_blocks);
  check("runs", kernel.runs);
  if (!kernel.launch) {
    errors.push_back(Error{ErrorCode::value, Place{}, "no function that launches", "one", {}});
  }
  return errors;
}

}  // namespace
}  // namespace cuda

Result<KernelTiming> measure_kernel(int device, const KernelToMeasure& kernel, const CudaOptions& options) {
  if (Errors errors = cuda::check_kernel(kernel); !errors.empty()) return errors;
  const Result<cuda::Driver> driver = cuda::Driver::load(options.library);
  if (!driver) return driver.errors();
  const Result<cuda::PrimaryContext> context = cuda::PrimaryContext::retain(*driver, device, options.context_wait);
  if (!context) return context.errors();
  const cuda::InContext inside(*context);
  cuda::Measurement measurement(*driver, kernel);
  if (Errors errors = measurement.set_up(); !errors.empty()) return errors;
  // The first launch may load the kernel.
  KernelTiming longest;
  if (!measurement.run(longest)) return measurement.errors();
  longest = KernelTiming{kernel.blocks, kernel.concurrent_blocks, {}, {}};
  for (int run = 0; run < kernel.runs; ++run) {
    if (!measurement.run(longest)) return measurement.errors();
  }
  longest.launch_time = std::max(longest.launch_time, Duration());
  return longest;
}

}  // namespace rtgpu
