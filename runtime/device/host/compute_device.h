// The emulated device that computes: kernels are host functions over block indices. Its SMs and copy engines are
// threads.
//
// Work. An SM executes one block at a time and is not interrupted in it: the selected stream has the SMs as their
// blocks end. The launches of a batch run one after another, each when all blocks of the one before have ended. A
// launch without a kernel is a single block that takes its time and nobody's core. Streams of a partition run on its
// SMs only, other streams on the SMs that are in none.
//
// Boundaries. With Boundary::slice the end of every slice but the last is reported, whether anybody waits or not; with
// Boundary::block every point at which a block has ended or none runs, while somebody waits; with Boundary::time_slice
// the first end of a block after a time slice has gone by, if somebody waits then. No block of the stream begins while
// the listener is told of something, so that what it selects takes effect at that very point.
//
// Faults. A kernel that throws fails: what has not begun of the batch is dropped, and `failed` is told when the blocks
// that run have ended.
//
// abandon(). A host function cannot be stopped. Blocks and copies that run do so to their end, which is not told; until
// then they may still touch the memory they were given, and no later work of the stream begins. A block that hangs has
// its SM for good. If that are all SMs that the stream may use, abandon() answers false: what has not begun is dropped
// even so, and `failed` is told when the blocks have ended, should they ever. Time that passes without a kernel ends at
// once.
//
// stop() waits for nothing; the run ends when the blocks and copies that run have ended.
#pragma once

#include "runtime/device/device.h"
#include "runtime/device/host/copy_engines.h"
#include "runtime/device/host/host_resources.h"
#include "runtime/machine/priority_lock.h"
#include "runtime/machine/signal.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rtgpu {

// Thread-safe from start() on; every call is short. Nothing is allocated after start().
class ComputeDevice final : public Device {
 public:
  // At least one SM, and one or two copy engines, whatever the properties say.
  explicit ComputeDevice(DeviceProperties properties);

  const DeviceProperties& properties() const override { return resources_.properties(); }
  // Errors: as for every host device; limit, no SM is left outside the partitions.
  Result<StreamId> add_stream(const StreamSetup& setup) override;
  // Grants exactly what was asked for.
  Result<std::vector<Partition>> add_partitions(std::span<const int> sms) override;
  // Zeroed, aligned to 256 bytes; valid as long as the device.
  Result<std::span<std::byte>> reserve(std::int64_t bytes) override;
  void start(Machine& machine, DeviceListener& listener, BoundaryRule rule) override;
  void stop() override;
  void submit(StreamId stream, const WorkBatch& batch, Duration now) override;
  void select(StreamId stream, Duration switch_time, Duration now) override;
  void want_boundary(bool wanted, Duration now) override;
  bool copy(StreamId stream, const CopyRequest& request, Duration now) override;
  bool abandon(StreamId stream, Duration now) override;
  bool confirm(const DeviceEvent& event) override;
  int copy_engine(CopyDirection direction) const override { return copies_.engine_of(direction); }
  // It has threads of its own.
  Duration next_event(Duration /*now*/) override { return Duration::infinite(); }
  DeviceEvents advance(Duration /*now*/) override { return {}; }

 private:
  static constexpr std::size_t kAlignment = 256;

  // How far the end of a stream's work has got.
  enum class End : std::uint8_t {
    none,     // no work, or it goes on
    reached,  // to be told when the stream is selected
    told,     // not yet confirmed
  };

  struct StreamState {
    std::optional<PartitionId> partition;

    const WorkBatch* batch = nullptr;  // none: no work
    Launch declared;                   // instead of launches, if the batch has none
    std::uint64_t submission = 0;      // counts up when work comes or is dropped
    std::size_t launch = 0;            // the one that runs or is next
    std::size_t slice = 0;
    std::size_t slice_end = 0;    // the launch after the slice
    std::int64_t next_block = 0;  // of the launch
    std::int64_t running = 0;     // blocks of the launch
    std::int64_t stragglers = 0;  // running blocks of earlier submissions
    bool has_failed = false;
    bool boundary_due = false;
    bool is_telling = false;  // the listener hears of this stream right now
    End end = End::none;

    std::span<const Launch> launches() const;
    bool has_block_left() const;
  };

  // What an SM does next.
  struct Order {
    enum class Kind : std::uint8_t { stop, rest, execute, pass_time, tell };
    Kind kind = Kind::rest;
    Duration time = Duration::infinite();  // when to look again, or how long to take
    StreamId stream = kNoStream;
    std::uint64_t submission = 0;
    BlockKernel kernel;  // a copy: the batch may be gone before the block has ended
    Block block;
    DeviceEvent event;
  };

  struct Sm {
    std::optional<PartitionId> partition;
    Signal signal;
    bool rests = false;
    StreamId executes = kNoStream;  // whose kernel
  };

  struct FreeAligned {
    void operator()(std::byte* memory) const;
  };

  bool confirm_end(const DeviceEvent& event);
  void run_sm(int index);
  Order next_order(int index);
  Order begin_block(int index, StreamState& state);
  Order tell(DeviceEvent::Kind kind, std::uint64_t number);
  void pass_time(Sm& sm, const Order& order);
  bool is_dropped(const Order& order);
  void end_block(int index, const Order& order, bool has_failed);
  void end_telling(StreamId stream);
  void settle(StreamState& state);
  bool boundary_reached(bool slice_ended);
  bool is_between_blocks(StreamId stream) const;
  void drop_rest(StreamState& state);
  void drop(StreamState& state);
  bool hangs_everywhere(StreamId stream) const;
  bool serves(const Sm& sm, StreamId stream) const;
  void wake_sms(StreamId stream);

  HostResources resources_;
  std::vector<StreamState> streams_;
  std::vector<Sm> sms_;
  CopyEngines copies_;
  std::vector<std::unique_ptr<std::byte, FreeAligned>> memory_;
  Machine* machine_ = nullptr;
  DeviceListener* listener_ = nullptr;
  BoundaryRule rule_;

  PriorityLock lock_;  // guards what follows, and the state of streams and SMs
  bool is_stopping_ = false;
  StreamId selected_ = kNoStream;
  std::uint64_t selections_ = 0;
  bool is_switching_ = false;
  Duration switch_end_;
  Duration turn_begin_;  // when the selected stream's time slice began
  bool wants_boundary_ = false;
};

}  // namespace rtgpu
