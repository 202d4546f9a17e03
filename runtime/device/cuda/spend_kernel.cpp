#include "runtime/device/cuda/spend_kernel.h"

#include "runtime/device/cuda/driver_error.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

// In the intermediate language, of the oldest devices that are supported, so that every driver compiles it.
constexpr const char* kCode = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .entry rtgpu_spend(.param .u64 nanoseconds)
{
  .reg .u64 %begin, %passed, %limit;
  .reg .pred %goes_on;

  ld.param.u64 %limit, [nanoseconds];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %passed, %globaltimer;
  sub.u64 %passed, %passed, %begin;
  setp.lt.u64 %goes_on, %passed, %limit;
  @%goes_on bra again;
  ret;
}
)";
constexpr const char* kName = "rtgpu_spend";
constexpr unsigned kThreads = 1024;  // a block's

Error refused_spending(std::string_view call, CUresult result) {
  return Error{ErrorCode::environment, Place{}, fmt::format("{} of {}", describe(result), call),
               "the kernel that takes a declared time", "Install a driver that fits the device."};
}

}  // namespace

Result<SpendKernel> SpendKernel::load(const Driver& driver) {
  SpendKernel made;
  CUmodule module = nullptr;
  if (const CUresult result = driver->cuModuleLoadData(&module, kCode); result != CUresult::success) {
    return refused_spending("cuModuleLoadData", result);
  }
  made.module_ = HandleOf<CUmodule>(module, GivesBack<CUmodule>(driver->cuModuleUnload));
  made.launch_ = driver->cuLaunchKernel;
  if (const CUresult result = driver->cuModuleGetFunction(&made.function_, module, kName);
      result != CUresult::success) {
    return refused_spending("cuModuleGetFunction", result);
  }
  const CUresult result =
      driver->cuOccupancyMaxActiveBlocksPerMultiprocessor(&made.blocks_per_sm_, made.function_, kThreads, 0);
  if (result != CUresult::success) return refused_spending("cuOccupancyMaxActiveBlocksPerMultiprocessor", result);
  made.blocks_per_sm_ = std::max(made.blocks_per_sm_, 1);
  return made;
}

CUresult SpendKernel::launch(CUstream stream, Duration time, Duration block, int sms) const {
  const std::int64_t wave = std::int64_t{blocks_per_sm_} * std::max(sms, 1);
  const std::int64_t most_waves = std::numeric_limits<std::int32_t>::max() / wave;
  std::int64_t waves = 1;
  if (block > Duration() && block < time && !time.is_infinite()) waves = std::min(ceil_div(time, block), most_waves);
  // Rounded down: the whole may not take longer.
  std::uint64_t nanoseconds =
      time.is_infinite() ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(time.count() / waves);
  std::array<void*, 1> parameters{&nanoseconds};
  return launch_(function_, static_cast<unsigned>(waves * wave), 1, 1, kThreads, 1, 1, 0, stream, parameters.data(),
                 nullptr);
}

}  // namespace rtgpu::cuda
