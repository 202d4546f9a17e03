// Runs on the fake CUDA driver for tests.
#pragma once

#include "runtime/device/cuda/cuda_options.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/job.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "tests/support/fake_driver/fake_cuda.h"

#include <memory>
#include <string>
#include <vector>

namespace rtgpu::testing {

// The clock of the fake driver, for runs in virtual time. Refers to the driver, whose clock becomes manual.
std::shared_ptr<CudaClock> clock_of(cuda::FakeCuda& fake);

// In virtual time, with a trace, on device cuda:0 of the fake driver.
RuntimeOptions virtual_cuda_options(cuda::FakeCuda& fake, const std::string& policy, const Gpu& gpu = {});

// In real time, without privileges, on the same; the fake driver's work takes real time.
RuntimeOptions real_cuda_options(cuda::FakeCuda& fake, const std::string& policy);

// A kernel of the application on the fake driver: block number b of a launch adds 1 to cell first + b.
class CountingKernel {
 public:
  // Blocks take this long each. `cells` is device memory for as many numbers.
  CountingKernel(cuda::FakeCuda& fake, const std::string& name, Duration block_time);
  CountingKernel(const CountingKernel&) = delete;
  CountingKernel& operator=(const CountingKernel&) = delete;

  // Into the stream's CUDA stream.
  cuda::CUresult launch(const Stream& stream, std::int64_t first, std::int64_t blocks) const;
  // How often each block has run.
  std::vector<int> counts;

 private:
  cuda::Driver driver_;
  cuda::CUfunction function_ = nullptr;
  std::int64_t block_ns_;
  std::string name_;
};

}  // namespace rtgpu::testing
