// A device that GPU segments run on. The policy decides whose work runs, and the device executes that.
//
// The calls from submit() on are made by the arbiter under its lock, from any thread, and may not block or allocate. A
// device tells when its next event falls due and is asked for it then (the timed host device), or has threads of its
// own that tell the listener (the computing host device), or has to be looked at (CUDA).
#pragma once

#include "rtgpu/gpu_policy.h"
#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "runtime/device/device_times.h"
#include "runtime/device/sliced_grid.h"
#include "runtime/device/work.h"
#include "runtime/gpu_status.h"
#include "runtime/job_place.h"
#include "taskset/taskset.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct CUgraph_st;  // these two of the CUDA driver
struct CUstream_st;

namespace rtgpu {

class Machine;

using StreamId = std::uint32_t;
using PartitionId = std::uint32_t;
inline constexpr StreamId kNoStream = kNobody;

struct DeviceProperties {
  std::string name = {};
  int sms = 1;
  int copy_engines = 1;
  int stream_levels = 1;      // distinct priorities of streams
  std::int64_t memory = 0;    // bytes
  bool computes = false;      // runs kernels, as opposed to letting their declared time pass
  bool virtual_time = false;  // can be used in virtual time
  // Whether running work gives way at any moment when other work is selected, as its progress is kept.
  bool preempts = true;
  // Whether the hardware itself chooses among submitted work where the policy is one of stream levels: that may then
  // end in another order than the policy expects.
  bool has_hardware_levels = false;
  // Whether it emulates what a real one takes for a launch, by what is declared.
  bool emulated = true;
  // Whether it has to be looked at: attend(). Then also how long after its end work may be seen to have ended.
  bool attended = false;
  Duration seen_within = {};
};

struct StreamSetup {
  int level = 0;                              // 0 is the highest
  std::optional<PartitionId> partition = {};  // the SMs it may use; all unless given
  // One of the application's, of a CUDA device, that is to be used.
  CUstream_st* cuda = nullptr;
};

struct Partition {
  PartitionId id = 0;
  int sms = 0;  // what was granted: at least what was asked for
};

struct CopyRequest {
  std::byte* to = nullptr;  // none: the copy takes `time` and moves nothing
  const std::byte* from = nullptr;
  std::size_t bytes = 0;
  Duration time = {};
  CopyDirection direction = CopyDirection::to_device;
  std::uint64_t key = 0;  // copies of an engine are served by key, smallest first
  JobPlace place = {};    // whose it is; filled in by the runtime, like the key
};

struct DeviceEvent {
  enum class Kind : std::uint8_t {
    switched,     // the move to the stream's context has ended: its work begins
    boundary,     // of the stream's work
    complete,     // the stream's work has ended
    copied,       // the stream's copy has ended
    copying,      // the stream's copy begins
    failed,       // the stream's work has failed, and has ended
    copy_failed,  // the stream's copy has failed, and has ended
    lost,         // the device no longer answers
  };
  Kind kind = Kind::complete;
  StreamId stream = kNoStream;
  int engine = 0;            // of a copy
  std::uint64_t number = 0;  // the device's own, for confirm()
};

// What happened at one moment: a few events in order.
class DeviceEvents {
 public:
  static constexpr std::size_t kMost = 8;

  void add(DeviceEvent event) { events_[count_++] = event; }
  const DeviceEvent* begin() const { return events_.data(); }
  const DeviceEvent* end() const { return events_.data() + count_; }
  bool empty() const { return count_ == 0; }

 private:
  std::array<DeviceEvent, kMost> events_{};
  std::size_t count_ = 0;
};

// Told by devices with threads of their own, without any lock held. Whoever listens takes its own lock and asks
// Device::confirm() first.
class DeviceListener {
 public:
  DeviceListener() = default;
  DeviceListener(const DeviceListener&) = delete;
  DeviceListener& operator=(const DeviceListener&) = delete;
  virtual ~DeviceListener() = default;
  virtual void on_device_event(const DeviceEvent& event) = 0;
};

// Which boundaries of running work the policy has to hear of.
struct BoundaryRule {
  Boundary kind = Boundary::none;
  Duration time_slice;
};

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual const DeviceProperties& properties() const = 0;

  // Set-up, from one thread, before start().

  virtual Result<StreamId> add_stream(const StreamSetup& setup) = 0;
  // A CUDA graph for launch_graph(): captured, or made by the application. Its number, from 0 for each stream. Errors
  // (unsupported): the device has no graphs; the others are those of cuda/graph.h.
  virtual Result<int> add_graph(StreamId stream, const std::function<void(CUstream_st*)>& launches, CUgraph_st* made);
  // Sets SMs aside, at least so many for each partition, for streams that name it. Once, and before any stream, since
  // a device may divide its SMs once only. In the order of `sms`; the identifiers count up from 0. Errors: limit, they
  // do not fit, and nothing has changed; conflict, there are partitions or streams already.
  virtual Result<std::vector<Partition>> add_partitions(std::span<const int> sms) = 0;
  // Device memory that is set aside for good; empty on devices that do not compute. Errors (limit): not so much is
  // left.
  virtual Result<std::span<std::byte>> reserve(std::int64_t bytes) = 0;
  // Whether runs from now on are to be timed by the device's own clock: take_times(). Before start(). Devices without
  // such a clock ignore it.
  virtual void time_work(bool /*wanted*/) {}
  // Before each run: work of an earlier one is forgotten. Devices with threads of their own start them on the machine.
  virtual void start(Machine& machine, DeviceListener& listener, BoundaryRule rule) = 0;
  // After the jobs have ended: threads of the device end.
  virtual void stop() = 0;
  // After a run that was timed, when its threads have ended, but not its machine: what was seen since start().
  virtual DeviceTimes take_times() { return {}; }
  // What there is to say about the set-up, a line each.
  virtual std::vector<std::string> notes() const { return {}; }
  // The stream for code that launches into it itself; none: the device has nothing of that kind.
  virtual CUstream_st* cuda_stream(StreamId /*stream*/) const { return nullptr; }
  // The SMs that the stream's kernels may use.
  virtual SmShare sm_share(StreamId /*stream*/) const {
    const auto sms = static_cast<std::uint32_t>(properties().sms);
    return {0, sms, sms};
  }

  // The following are called without the arbiter's lock, and may call a driver.

  // By each thread of a run that calls the device, before anything else.
  virtual void enter_thread() {}
  // Whether the device can be used from here, asked at the start of each segment.
  virtual GpuStatus usable() const { return GpuStatus::ok; }
  // The code of the stream's task may launch into it from now on.
  virtual void begin_launching(StreamId /*stream*/, Duration /*now*/) {}
  // By the task's code, into its stream. not_supported: there is no such graph.
  virtual GpuStatus launch_graph(StreamId /*stream*/, std::size_t /*graph*/) { return GpuStatus::not_supported; }
  // By the task's thread, before submit(): launches what can be launched already. Not ok: there is nothing to submit.
  virtual GpuStatus launch(StreamId /*stream*/, const WorkBatch& /*batch*/, Duration /*now*/) { return GpuStatus::ok; }
  // Looks what has ended, and launches what was decided. By the thread that calls advance(), before that. Only of
  // devices that are `attended`, like the next.
  virtual void attend(Duration /*now*/) {}
  // Whether the work of the stream has ended, so that advance() has something to tell. By the thread of its task.
  virtual bool look(StreamId /*stream*/, Duration /*now*/) { return false; }
  // Now and then during a run that is timed, by a thread that does not have to run in time: it may wait and allocate.
  virtual void follow_clock() {}

  // From here on by the arbiter, under its lock.

  // The stream's work is there; it runs when it is selected. `batch` stays as it is until it has ended.
  virtual void submit(StreamId stream, const WorkBatch& batch, Duration now) = 0;
  // From now on the work of this stream runs, at once, or after `switch_time` to move to it, whose end is an event
  // then; kNoStream: none. Other work keeps its progress.
  virtual void select(StreamId stream, Duration switch_time, Duration now) = 0;
  // Whether somebody waits for the running work's boundary.
  virtual void want_boundary(bool wanted, Duration now) = 0;
  // A copy for the stream, on the engine of its direction. One at a time for each stream. Whether it begins at once;
  // otherwise its beginning is an event.
  virtual bool copy(StreamId stream, const CopyRequest& request, Duration now) = 0;
  // Drops the work and the copy of the stream, started or not. False: this device cannot, and what it has begun may go
  // on; of devices that are `attended`, it fails at its end then, or at that of its slice.
  virtual bool abandon(StreamId stream, Duration now) = 0;
  // Whether an event still holds that the listener has been told of: between the two, other work may have been
  // selected, or this one abandoned. Asked once for each such event, before it has any effect; one that does not hold
  // must have none. The end of work that is not selected any more does not hold: it is told again when the stream is
  // selected again.
  virtual bool confirm(const DeviceEvent& /*event*/) { return true; }
  // The copy engine that serves this direction.
  virtual int copy_engine(CopyDirection direction) const = 0;

  // When advance() has to be called next; infinite: not before something else is called. Evaluates at `now`, which must
  // not lie before an earlier one.
  virtual Duration next_event(Duration now) = 0;
  // What is due at `now`.
  virtual DeviceEvents advance(Duration now) = 0;
};

inline Result<int> Device::add_graph(StreamId /*stream*/, const std::function<void(CUstream_st*)>& /*launches*/,
                                     CUgraph_st* /*made*/) {
  return Error{ErrorCode::unsupported, Place{}, "a CUDA graph on " + properties().name, "a CUDA device", {}};
}

}  // namespace rtgpu
