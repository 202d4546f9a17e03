// What a stream of CUDA has to be so that the runtime can let a task have it: the application hands such streams over,
// or has work captured on them.
#pragma once

#include "rtgpu/result.h"
#include "runtime/device/cuda/driver.h"

#include <optional>
#include <string>

namespace rtgpu::cuda {

// The priority that a stream has, and the one that its task should have. Smaller numbers go first.
struct StreamPriority {
  int found = 0;
  int expected = 0;
  bool is_expected() const { return found == expected; }
};

// "the stream has priority 0 instead of -3, that of its task: create it with ...", or "the stream has priority -3".
std::string to_string(const StreamPriority& priority);

// Why a default stream is refused, the legacy one or the one of each thread; none: it is another stream. Calls nothing.
std::optional<Error> refuse_default_stream(CUstream stream);

// Whether a task may have the stream. Set-up; the stream's context is current. Errors (conflict): a default stream, or
// one that orders its work with that of the legacy default stream; both would make tasks wait for each other outside of
// any policy. Errors (environment): what the driver answered, e.g. since this is no stream. Another priority than
// `expected_priority` is no error, but to be reported: the policy's order does not hold then where the device decides.
Result<StreamPriority> check_stream(const Driver& driver, CUstream stream, int expected_priority);

}  // namespace rtgpu::cuda
