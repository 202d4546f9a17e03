// What the emulated devices have to give away at set-up: stream levels, SMs, memory.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/result.h"
#include "runtime/device/device.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rtgpu {

// Not synchronised.
class HostResources {
 public:
  explicit HostResources(DeviceProperties properties) : properties_(std::move(properties)) {}

  const DeviceProperties& properties() const { return properties_; }
  // SMs that no partition has set aside.
  int free_sms() const { return properties_.sms - partitioned_sms_; }

  // Errors: limit, no such level; value, no such partition; unsupported, a CUDA stream.
  Errors check_stream(const StreamSetup& setup) const;
  // Grants exactly `sms`. Errors as of Device::add_partitions().
  Result<std::vector<Partition>> take_partitions(std::span<const int> sms, bool has_streams);
  // Errors (limit): not so much is left.
  Errors take_memory(std::int64_t bytes);

 private:
  DeviceProperties properties_;
  int partitioned_sms_ = 0;
  PartitionId partitions_ = 0;
  std::int64_t reserved_ = 0;
};

}  // namespace rtgpu
