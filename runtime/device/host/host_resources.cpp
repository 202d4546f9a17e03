#include "runtime/device/host/host_resources.h"

#include <algorithm>
#include <numeric>
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
  if (setup.cuda != nullptr) {
    return {refusal(ErrorCode::unsupported, fmt::format("a CUDA stream on {}", properties_.name), "a CUDA device")};
  }
  if (setup.partition && *setup.partition >= partitions_) {
    return {refusal(ErrorCode::value, fmt::format("partition {}", *setup.partition),
                    fmt::format("one of the {} partitions of {}", partitions_, properties_.name),
                    "Add the partition before its streams.")};
  }
  return {};
}

Result<std::vector<Partition>> HostResources::take_partitions(std::span<const int> sms, bool has_streams) {
  if (has_streams || partitions_ != 0) {
    return refusal(ErrorCode::conflict,
                   fmt::format("partitions after others, or after streams, of {}", properties_.name),
                   "all partitions at once, before any stream");
  }
  const std::int64_t all = std::accumulate(sms.begin(), sms.end(), std::int64_t{0});
  if (all > properties_.sms || std::ranges::any_of(sms, [](int each) { return each < 1; })) {
    return refusal(ErrorCode::limit, fmt::format("partitions of {} SMs", fmt::join(sms, " + ")),
                   fmt::format("at least 1 SM in each, and at most {} SMs in all", properties_.sms),
                   "Make the partitions smaller.");
  }
  partitioned_sms_ = static_cast<int>(all);
  std::vector<Partition> partitions;
  for (const int each : sms) partitions.push_back({partitions_++, each});
  return partitions;
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
