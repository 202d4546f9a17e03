// A CUDA driver without a GPU, for tests: a library that is loaded in place of libcuda.so.1, has the same entry points,
// and does what they say on memory of the host. It has no threads: work is done when it is submitted, or when the test
// says so. This is how a test controls it.
#pragma once

#include "runtime/device/cuda/driver_api.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace rtgpu::cuda {

// A launch that has run, in the order of running.
struct FakeLaunch {
  std::string kernel;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  int priority = 0;  // of the stream
};

// What a kernel does. Its parameters are copied when it is launched, so their sizes are needed.
struct FakeKernel {
  std::string name;
  std::vector<std::size_t> parameter_bytes;
  // `parameters` points to the copies. Called while the driver is locked: it may not call the driver.
  void (*run)(void* context, const FakeLaunch& launch, void* const* parameters) = nullptr;
  void* context = nullptr;
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
  //   green=1              whether there are green contexts
  //   sms=16               of each device
  //   sm_alignment=2       SMs are set aside in multiples of this (of 2 at most without co-scheduling)
  //   sm_minimum=0         and, with co-scheduling, at least this many
  //   sm_tells_units=1     whether a resource says so, as from 12.8 on
  //   sm_remainder=1       whether green contexts can have what a split leaves over
  //   sm_kept=0            a green context has so many SMs less than it was made with
  //   green_contexts=N     there can be so many at a time; without limit unless set
  //   copy_engines=2
  //   memory=1073741824    bytes of each device
  //   missing=NAME         this entry point is not there (once more for others)
  //   hold=0               with 1, submitted work waits for complete(); with 0 again, all of it is done
  //   fail=NAME:CODE       the next call of this entry point answers CODE, and does nothing
  //   fault=CODE           from now on every call answers CODE, but for cuDriverGetVersion and cuInit
  //   fault_at_launch=CODE the next kernel that runs does not, and has that effect
  void set(const std::string& setting);
  // Kernels without one do nothing. A second one of the same name replaces the first.
  void add_kernel(const FakeKernel& kernel);
  std::vector<FakeLaunch> launches() const;
  // Held work of the stream, in order, at most `most` operations (a kernel, a copy, an event, a wait): how many were
  // done. A wait for an event that is not complete stays, and what follows it.
  std::size_t complete(CUstream stream, std::size_t most = static_cast<std::size_t>(-1));
  // Streams, events, allocations, modules, graphs and green contexts that have not been given back, and primary
  // contexts that have not been released.
  std::size_t things_left() const;
};

}  // namespace rtgpu::cuda
