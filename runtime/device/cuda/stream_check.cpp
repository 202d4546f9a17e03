#include "runtime/device/cuda/stream_check.h"

#include "runtime/device/cuda/driver_error.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

// Handles that the driver takes for its default streams. None is the legacy one, or that of the thread in a program
// that was compiled so: both are refused.
constexpr std::uintptr_t kLegacyStream = 1;
constexpr std::uintptr_t kPerThreadStream = 2;

Error unfit_stream(std::string found) {
  return Error{ErrorCode::conflict, Place{}, std::move(found), "a non-blocking stream of the task's own",
               "Create one with cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority), and give it to "
               "every library that works for the task."};
}

Error not_answered(const char* call, CUresult result) {
  return Error{ErrorCode::environment, Place{}, fmt::format("{} of {}", describe(result), call), "a stream of CUDA",
               "Hand over a stream that exists, of the device's primary context."};
}

}  // namespace

std::string to_string(const StreamPriority& priority) {
  if (priority.is_expected()) return fmt::format("the stream has priority {}", priority.found);
  return fmt::format(
      "the stream has priority {} instead of {}, that of its task: create it with "
      "cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, {})",
      priority.found, priority.expected, priority.expected);
}

std::optional<Error> refuse_default_stream(CUstream stream) {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  if (handle == 0 || handle == kLegacyStream) {
    return unfit_stream(
        "the legacy default stream, which waits for every blocking stream of the process, and which all "
        "of these wait for");
  }
  if (handle == kPerThreadStream) {
    return unfit_stream(
        "the default stream of the thread, which is another one in each thread, has the least priority, "
        "and waits for the legacy default stream");
  }
  return std::nullopt;
}

Result<StreamPriority> check_stream(const Driver& driver, CUstream stream, int expected_priority) {
  if (std::optional<Error> refused = refuse_default_stream(stream)) return *std::move(refused);
  unsigned flags = 0;
  if (const CUresult result = driver->cuStreamGetFlags(stream, &flags); result != CUresult::success) {
    return not_answered("cuStreamGetFlags", result);
  }
  if ((flags & kStreamNonBlocking) == 0) {
    return unfit_stream("a blocking stream, whose work and that of the legacy default stream wait for each other");
  }
  StreamPriority priority{0, expected_priority};
  if (const CUresult result = driver->cuStreamGetPriority(stream, &priority.found); result != CUresult::success) {
    return not_answered("cuStreamGetPriority", result);
  }
  return priority;
}

}  // namespace rtgpu::cuda
