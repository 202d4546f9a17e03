// A CUDA device, on the driver API. Streams have priorities of the device's own range; slices are launched one at a
// time; the end of work is found by looking at events, never by a call that waits for the device: such a call could not
// be ended when work hangs.
//
// Under the policies with one lock (mpcp, fmlp+) only the lock's holder has work on the device. Under stream-priority
// all submitted work is there, and the hardware chooses. A policy that takes the GPU away from running work cannot be
// had on CUDA from user space.
#pragma once

#include "runtime/device/cuda/copy_queue.h"
#include "runtime/device/cuda/cuda_options.h"
#include "runtime/device/cuda/device_list.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/cuda/fork_guard.h"
#include "runtime/device/cuda/graph.h"
#include "runtime/device/cuda/handles.h"
#include "runtime/device/cuda/primary_context.h"
#include "runtime/device/cuda/sm_partitions.h"
#include "runtime/device/cuda/spend_kernel.h"
#include "runtime/device/cuda/stream_work.h"
#include "runtime/device/cuda/work_times.h"
#include "runtime/device/device.h"
#include "runtime/machine/priority_lock.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace rtgpu::cuda {

class CudaDevice final : public Device {
 public:
  // Device `ordinal` in the driver's order. Set-up: may take seconds. Errors: those of Driver::load();
  // environment, there is no such device, or it cannot be used, with the driver's reason; value, an option out of
  // range.
  static Result<std::unique_ptr<CudaDevice>> open(int ordinal, const CudaOptions& options);
  ~CudaDevice() override;

  const DeviceProperties& properties() const override { return properties_; }
  Result<StreamId> add_stream(const StreamSetup& setup) override;
  Result<int> add_graph(StreamId stream, const std::function<void(::CUstream_st*)>& launches,
                        ::CUgraph_st* made) override;
  Result<std::vector<Partition>> add_partitions(std::span<const int> sms) override;
  Result<std::span<std::byte>> reserve(std::int64_t bytes) override;
  void time_work(bool wanted) override { is_timed_ = wanted; }
  void start(Machine& machine, DeviceListener& listener, BoundaryRule rule) override;
  void stop() override;
  DeviceTimes take_times() override;
  std::vector<std::string> notes() const override;
  ::CUstream_st* cuda_stream(StreamId stream) const override;
  SmShare sm_share(StreamId stream) const override { return streams_[stream]->share; }

  void enter_thread() override;
  GpuStatus usable() const override;
  GpuStatus launch_graph(StreamId stream, std::size_t graph) override;
  void begin_launching(StreamId stream, Duration now) override;
  GpuStatus launch(StreamId stream, const WorkBatch& batch, Duration now) override;
  void attend(Duration now) override;
  bool look(StreamId stream, Duration now) override;
  void follow_clock() override;

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

  // Of a stream's work. It is touched by the task's thread while idle, by the thread that attends while between slices.
  enum class Stage : std::uint8_t {
    idle,       // nothing, or launched and not yet submitted
    in_flight,  // a slice is on the device
    ended,      // that has ended; not yet told
    between,    // the next slice is to be launched when its stream is selected
    starting,   // it is being launched
  };
  struct StreamState {
    StreamState(StreamWork work_of, SmShare share_of) : work(std::move(work_of)), share(share_of) {}
    StreamWork work;
    SmShare share;
    std::vector<CudaGraph> graphs;
    Stage stage = Stage::idle;
    std::uint64_t launches = 0;  // of slices
    Duration since;              // in flight
    bool was_looked_at = false;
    bool gives_up = false;  // no slice follows the one in flight

    void fly(Duration now) {
      stage = Stage::in_flight;
      ++launches;
      since = now;
      was_looked_at = false;
    }
  };

  CudaDevice(const Driver& driver, CUdevice device, DeviceInfo info, const CudaOptions& options,
             PrimaryContext context);

  Errors set_up();
  Errors launch_once();
  bool has_work() const;
  void forget();
  Result<HandleOf<CUstream>> make_stream(int priority);
  Result<HandleOf<CUstream>> make_stream_on(std::optional<PartitionId> partition, int priority);
  Result<HandleOf<CUstream>> adopt_stream(const StreamSetup& setup, int priority);
  Result<HandleOf<CUevent>> make_event();
  Error failed(const char* call, CUresult result) const;
  void note_priority(CUstream stream, int asked);
  void start_times();
  Errors set_up_times();
  void time_with_pairs();
  bool has_something_to_tell() const;
  bool may_go_on(StreamId stream) const;
  void look_at(StreamId stream);
  void launch_next(StreamId stream, Duration now);
  void attend_copies(Duration now);
  void lose(CUresult reason);
  void tell_end(StreamId stream, DeviceEvents& events);
  bool has_to_tell_boundary() const;
  Duration next_look(Duration now) const;
  Duration next_end(Duration now) const;
  std::size_t engines() const { return copies_.size(); }
  void reach(Duration now) const;

  Driver driver_;
  CUdevice device_ = 0;
  DeviceInfo info_;
  CudaOptions options_;
  ForkGuard fork_guard_;
  DeviceProperties properties_;
  PrimaryContext context_;
  std::optional<SpendKernel> spend_;
  std::optional<SmPartitions> partitions_;
  std::vector<DeviceMemory> memory_;
  std::vector<std::unique_ptr<CopyQueue>> copies_;
  std::vector<std::unique_ptr<StreamState>> streams_;
  std::vector<std::string> notes_;
  Machine* machine_ = nullptr;  // of the run
  bool is_timed_ = false;
  std::unique_ptr<WorkTimes> times_;  // once a run has been timed
  std::vector<EventPairs*> pairs_;    // of the copy queues, and then of the streams
  std::string clock_statement_;

  mutable PriorityLock lock_;  // guards stages and what follows
  BoundaryRule rule_;
  StreamId selected_ = kNoStream;
  bool wants_boundary_ = false;
  std::atomic<bool> is_lost_ = false;
  bool is_loss_told_ = false;
  CUresult loss_ = CUresult::success;
  Duration looked_;  // when attend() last did
};

}  // namespace rtgpu::cuda
