// The emulated device whose work takes its declared time and nobody's core: SMs as a whole, contexts with switches and
// time slices, slices, thread blocks, copy engines. It has no thread of its own and no clock: it is told the time.
#pragma once

#include "runtime/device/device.h"
#include "runtime/device/host/host_resources.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace rtgpu {

class TimedDevice : public Device {
 public:
  explicit TimedDevice(DeviceProperties properties);
  // As the taskset describes its first GPU.
  static DeviceProperties properties_of(const Gpu& gpu);

  const DeviceProperties& properties() const override { return resources_.properties(); }
  Result<StreamId> add_stream(const StreamSetup& setup) override;
  Result<std::vector<Partition>> add_partitions(std::span<const int> sms) override;
  Result<std::span<std::byte>> reserve(std::int64_t bytes) override;
  void start(Machine& machine, DeviceListener& listener, BoundaryRule rule) override;
  void stop() override {}
  void submit(StreamId stream, const WorkBatch& batch, Duration now) override;
  void select(StreamId stream, Duration switch_time, Duration now) override;
  void want_boundary(bool wanted, Duration now) override;
  bool copy(StreamId stream, const CopyRequest& request, Duration now) override;
  bool abandon(StreamId stream, Duration now) override;
  int copy_engine(CopyDirection direction) const override;
  Duration next_event(Duration now) override;
  DeviceEvents advance(Duration now) override;

 private:
  static constexpr std::size_t kEngines = 2;

  struct StreamState {
    Duration left;  // of its work
    Duration done;
    Duration slice_length;
    Duration block;
    bool copy_waits = false;
    std::uint64_t copy_key = 0;
    int copy_engine = 0;
    Duration copy_left;
  };

  void catch_up(Duration now);
  Duration to_boundary() const;
  void gpu_due(Duration now, DeviceEvents& events);
  void copies_due(Duration now, DeviceEvents& events);
  void feed(std::size_t engine);

  HostResources resources_;
  BoundaryRule rule_;
  std::vector<StreamState> streams_;

  Duration seen_;  // everything below is as of then
  StreamId running_ = kNoStream;
  Duration switch_left_;
  bool switching_ = false;
  bool wants_boundary_ = false;
  Duration turn_done_;    // since the work was selected, or its last boundary
  Duration boundary_at_;  // as of the last next_event(); infinite: none
  std::array<StreamId, kEngines> copying_{kNoStream, kNoStream};
  std::array<bool, kEngines> copy_begun_{};  // told of
};

}  // namespace rtgpu
