// A CUDA driver without a GPU, for tests: a library that is loaded in place of libcuda.so.1, has the same entry points,
// and does what they say on memory of the host. It has no threads: without a clock, work is done when it is submitted,
// or when the test says so. With one, it takes its time on a model of the hardware (timeline.h), and what has come to
// its end is found at the next call. This is how a test controls it.
#pragma once

#include "runtime/device/cuda/driver_api.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rtgpu::cuda {

// A launch that has run, in the order of the ends.
struct FakeLaunch {
  std::string kernel;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  int priority = 0;  // of the stream, or its own as a node of a graph
  std::chrono::nanoseconds begin{};
  std::chrono::nanoseconds end{};
};

// What a kernel does. Its parameters are copied when it is launched, so their sizes are needed.
struct FakeKernel {
  std::string name;
  std::vector<std::size_t> parameter_bytes{};
  // Called when it has ended. `parameters` points to the copies. The driver is locked meanwhile: it may not be called.
  void (*run)(void* context, const FakeLaunch& launch, void* const* parameters) = nullptr;
  void* context = nullptr;
  // How long each of its blocks takes, in nanoseconds; without it, no time. Called when the kernel begins.
  std::uint64_t (*block_ns)(void* context, const FakeLaunch& launch, void* const* parameters) = nullptr;
};

// The driver's state is that of the process: one test at a time has one of these.
class FakeCuda {
 public:
  // The file to give to Driver::load(); the one of an older driver, which has nothing but a version.
  static const char* path();
  static const char* path_of_cuda_11();

  // Both ends reset the driver: settings as below, nothing allocated, no faults. The variable RTGPU_FAKE_CUDA in the
  // environment holds settings, separated by spaces, that a reset then makes.
  FakeCuda();
  FakeCuda(const FakeCuda&) = delete;
  FakeCuda& operator=(const FakeCuda&) = delete;
  ~FakeCuda();

  // "key=value"; throws std::invalid_argument for others than these, which may be changed at any time:
  //   version=12080        of the driver; entry points of later versions are not there
  //   init=0               what cuInit answers
  //   devices=1            how many there are
  //   levels=6             distinct priorities of streams: 0, -1, ...
  //   granted_levels=N     streams get only the N least urgent of these
  //   default_stream=0     with 1, null, 1 and 2 are streams; otherwise they are no handles
  //   green=1              whether there are green contexts
  //   sms=16               of each device
  //   sm_alignment=2       SMs are set aside in multiples of this (of 2 at most without co-scheduling)
  //   sm_minimum=0         and, with co-scheduling, at least this many
  //   sm_tells_units=1     whether a resource says so, as from 12.8 on
  //   sm_remainder=1       whether green contexts can have what a split leaves over
  //   sm_remainder_lost=0  with 1, sm_alignment of the SMs that a split leaves are lost (or all, where there are fewer)
  //   sm_kept=0            a green context has so many SMs less than it was made with
  //   green_contexts=N     there can be so many at a time; without limit unless set
  //   split=0              what cuDevSmResourceSplitByCount answers, if it is not 0
  //   copy_engines=2       with fewer than two, one serves both directions
  //   memory=1073741824    bytes of each device
  //   missing=NAME         this entry point is not there (once more for others)
  //   clock=none           manual: time is what advance_to() says; monotonic: it is that of CLOCK_MONOTONIC. Not to be
  //                        changed while there is work
  //   copy_ns_per_kib=0    what a copy takes, with a clock
  //   late_ns=0            with a clock, the host sees events complete this much later than they are
  //   clock_ppm=0          the clock of cuEventElapsedTime is so many millionths faster than that; negative: slower
  //   hold=0               without a clock, with 1: submitted work waits for complete(); with 0 again, it is all done
  //   fail=NAME:CODE       the next call of this entry point answers CODE, and does nothing
  //   fail=NAME:CODE:N     the same, for the Nth call from now on
  //   fault=CODE           from now on every call answers CODE, but for cuDriverGetVersion and cuInit
  //   fault_at_launch=CODE the next kernel that begins does not run, and has that effect
  //   hang_at_launch=1     the next kernel that begins never ends
  void set(const std::string& setting);
  // A module has these kernels, and "rtgpu_spend": its parameter, of 8 bytes, says how long a block takes, in
  // nanoseconds. A second one of the same name replaces the first.
  void add_kernel(const FakeKernel& kernel);
  std::vector<FakeLaunch> launches() const;
  // A function that says whether its thread is in a call of the driver: what is allocated then is not the caller's. It
  // allocates nothing, so that operator new can ask.
  using Question = bool (*)();
  static Question is_in_driver();
  // How often the entry point was called since the reset; throws std::invalid_argument for a name that is none.
  std::size_t calls(const std::string& name) const;

  // Without a clock: held work of the stream, in order, at most `most` operations (a kernel, a copy, an event, a wait,
  // the end of a graph with branches): how many were done. A wait for what is not complete stays, and what follows it.
  std::size_t complete(CUstream stream, std::size_t most = static_cast<std::size_t>(-1));

  // With clock=manual, time starts at 0, goes on to `time` (never back), and what ends until then does, in order. A
  // call that waits lets time go on as far as it needs. Throws std::logic_error with another clock.
  void advance_to(std::chrono::nanoseconds time);
  std::chrono::nanoseconds now() const;
  // When the next wave of a kernel, copy or lateness of an event ends; none: nothing goes on, or it hangs.
  std::optional<std::chrono::nanoseconds> next_event() const;

  // Streams, events, allocations, modules, graphs and green contexts that have not been given back, and primary
  // contexts that have not been released.
  std::size_t things_left() const;
};

}  // namespace rtgpu::cuda
