#include "runtime/device/host/host_resources.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace rtgpu {
namespace {

Error refusal(ErrorCode code, std::string found, std::string expected, std::string advice = {}) {
  return Error{code, Place{}, std::move(found), std::move(expected), std::move(advice)};
}

}  // namespace

Errors HostResources::check_stream(const StreamSetup& setup) const {
  if (setup.level < 0 || setup.level >= properties_.stream_levels) {
    return {refusal(ErrorCode::limit, fmt::format("stream level {}", setup.level),
                    fmt::format("a level below {} on {}", properties_.stream_levels, properties_.name))};
  }
  if (setup.partition && *setup.partition >= partitions_) {
    return {refusal(ErrorCode::value, fmt::format("partition {}", *setup.partition),
                    fmt::format("one of the {} partitions of {}", partitions_, properties_.name),
                    "Add the partition before its streams.")};
  }
  return {};
}

Result<Partition> HostResources::take_partition(int sms) {
  if (sms < 1 || sms > free_sms()) {
    return refusal(ErrorCode::limit, fmt::format("a partition of {} SMs", sms),
                   fmt::format("1 to {} SMs, of which {} are set aside already", properties_.sms, partitioned_sms_),
                   "Make the partitions smaller.");
  }
  partitioned_sms_ += sms;
  return Partition{partitions_++, sms};
}

Errors HostResources::take_memory(std::int64_t bytes) {
  if (bytes < 0 || bytes > properties_.memory - reserved_) {
    return {refusal(ErrorCode::limit, fmt::format("{} bytes of device memory", bytes),
                    fmt::format("at most {} of {}", properties_.memory - reserved_, properties_.memory))};
  }
  reserved_ += bytes;
  return {};
}

}  // namespace rtgpu
