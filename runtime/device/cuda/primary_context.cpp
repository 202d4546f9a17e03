#include "runtime/device/cuda/primary_context.h"

#include "runtime/device/cuda/driver_error.h"

#include <utility>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

constexpr unsigned kScheduleMask = 7;

unsigned flags_of(ContextWait wait) {
  return wait == ContextWait::spin ? kContextSchedSpin : kContextSchedBlockingSync;
}

const char* text_of(unsigned flags) {
  switch (flags & kScheduleMask) {
    case kContextSchedSpin:
      return "spin";
    case kContextSchedYield:
      return "yield";
    case kContextSchedBlockingSync:
      return "block";
    default:
      return "wait as the driver chooses";
  }
}

}  // namespace

Result<PrimaryContext> PrimaryContext::retain(const Driver& driver, CUdevice device, ContextWait wait) {
  PrimaryContext made(driver, device);
  // Of a context that is in use already the way of waiting can be changed since CUDA 11; where it is not, that is said.
  driver->cuDevicePrimaryCtxSetFlags(device, flags_of(wait));
  const CUresult retained = driver->cuDevicePrimaryCtxRetain(&made.context_, device);
  if (retained != CUresult::success) {
    made.context_ = nullptr;
    return Error{ErrorCode::environment, Place{}, fmt::format("{} of cuDevicePrimaryCtxRetain", describe(retained)),
                 "the primary context of the device",
                 "See with nvidia-smi who uses the device, and whether its compute mode allows another process."};
  }
  unsigned flags = 0;
  int is_active = 0;
  const CUresult asked = driver->cuDevicePrimaryCtxGetState(device, &flags, &is_active);
  if (asked == CUresult::success && (flags & kScheduleMask) != flags_of(wait)) {
    made.note_ = fmt::format(
        "threads that wait for the device in calls of their own {}, not {}: the primary context was "
        "made by others before",
        text_of(flags), text_of(flags_of(wait)));
  }
  return made;
}

PrimaryContext::PrimaryContext(PrimaryContext&& other) noexcept
    : driver_(other.driver_),
      device_(other.device_),
      context_(std::exchange(other.context_, nullptr)),
      note_(std::move(other.note_)) {}

PrimaryContext::~PrimaryContext() {
  if (context_ != nullptr) driver_->cuDevicePrimaryCtxRelease(device_);
}

}  // namespace rtgpu::cuda
