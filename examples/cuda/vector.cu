// One kernel in three ways, in three periodic tasks:
//   pulse       in one launch, small and urgent
//   sliced      a large vector, in slices: between two of them the policy lets the pulse in
//   persistent  the same by persistent blocks, a block for each SM of a partition that is the task's own
// Each job computes z = factor * x + offset with another offset. At the end z has to be, to the last bit, what the CPU
// makes of the last job's offset.
#include "examples/cuda/example.h"
#include "runtime/device/sliced_grid.h"
#include "runtime/runtime.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace std::chrono_literals;
using cuda_example::DeviceArray;
using rtgpu::GpuStatus;
using rtgpu::Job;

constexpr std::uint32_t kThreads = 256;
constexpr std::size_t kSmall = 10'000;
constexpr std::size_t kLarge = (std::size_t{1} << 24U) + 77;  // the last block is not full
constexpr std::int64_t kBlocksPerSlice = 4096;
constexpr float kFactor = 1.25F;

struct Operands {
  const float* x = nullptr;
  float* z = nullptr;
  std::int64_t size = 0;
  float offset = 0;
};

__device__ void compute(const Operands& operands, rtgpu::BlockIndex block) {
  const std::int64_t index = static_cast<std::int64_t>(block.x) * kThreads + threadIdx.x;
  if (index < operands.size) operands.z[index] = fmaf(kFactor, operands.x[index], operands.offset);
}

__global__ void by_slices(Operands operands, rtgpu::GridDim grid, rtgpu::GridSlice slice) {
  compute(operands, rtgpu::block_of(slice, grid, blockIdx.x));
}

__global__ void by_persistent_blocks(Operands operands, rtgpu::GridDim grid, rtgpu::SmShare share) {
  for (const std::int64_t index : rtgpu::PersistentBlocks(share, blockIdx.x, rtgpu::blocks_of(grid))) {
    compute(operands, rtgpu::block_at(grid, index));
  }
}

// A task's vectors, and how far it is.
struct Vectors {
  explicit Vectors(std::size_t size) : x(of_numbers(size)), z(size) {}

  static std::vector<float> of_numbers(std::size_t size) {
    std::vector<float> numbers(size);
    for (std::size_t index = 0; index < size; ++index) numbers[index] = static_cast<float>(index % 1001) / 3;
    return numbers;
  }
  static float offset(std::int64_t job) { return static_cast<float>(job % 97) / 7; }

  Operands operands(std::int64_t job) const {
    return {x.data(), z.data(), static_cast<std::int64_t>(z.size()), offset(job)};
  }
  rtgpu::GridDim grid() const { return {static_cast<std::uint32_t>((z.size() + kThreads - 1) / kThreads)}; }

  void finish(const Job& job, GpuStatus status) {
    if (status == GpuStatus::ok) {
      last = job.number();
    } else {
      ++failed;
    }
  }
  // Whether the last job's result is right, and no segment has failed.
  bool check(const std::string& name) const {
    std::vector<float> expected = of_numbers(z.size());
    for (float& number : expected) number = std::fma(kFactor, number, offset(last));
    const bool equal = cuda_example::all_equal(name, z.values(), expected);
    if (failed != 0) std::cout << name << ": " << failed << " GPU segments failed\n";
    return equal && failed == 0;
  }

  DeviceArray<float> x;
  DeviceArray<float> z;
  std::int64_t last = 0;  // job; written by its task
  std::int64_t failed = 0;
};

struct World {
  Vectors pulse{kSmall};
  Vectors sliced{kLarge};
  Vectors persistent{kLarge};
};

void add_pulse(rtgpu::Runtime& runtime, Vectors& vectors) {
  runtime.add_task({.name = "pulse", .period = 5ms, .priority = 30, .cpu = 1, .watchdog = 1s}, [&vectors](Job& job) {
    vectors.finish(job, job.gpu("whole", [&](rtgpu::Stream stream) {
      const rtgpu::GridDim grid = vectors.grid();
      by_slices<<<grid.x, kThreads, 0, stream.cuda()>>>(vectors.operands(job.number()), grid,
                                                        {0, rtgpu::blocks_of(grid)});
    }));
  });
}

void add_sliced(rtgpu::Runtime& runtime, Vectors& vectors) {
  runtime.add_task({.name = "sliced", .period = 20ms, .priority = 20, .watchdog = 1s}, [&vectors](Job& job) {
    const rtgpu::GridDim grid = vectors.grid();
    const auto slices = rtgpu::sliced(rtgpu::blocks_of(grid), kBlocksPerSlice);
    vectors.finish(job, job.gpu("slices", slices, [&](rtgpu::Stream stream, rtgpu::Slice part) {
      const auto blocks = static_cast<std::uint32_t>(part.blocks);
      by_slices<<<blocks, kThreads, 0, stream.cuda()>>>(vectors.operands(job.number()), grid,
                                                        {part.first_block, part.blocks});
    }));
  });
}

// As many blocks as the task has SMs, whatever it was granted.
void add_persistent(rtgpu::Runtime& runtime, Vectors& vectors, std::optional<int> sms) {
  runtime.add_task({.name = "persistent", .period = 20ms, .priority = 10, .offset = 10ms, .watchdog = 1s, .sms = sms},
                   [&vectors](Job& job) {
                     vectors.finish(job, job.gpu("persistent blocks", [&](rtgpu::Stream stream) {
                       const rtgpu::SmShare share = stream.sms();
                       by_persistent_blocks<<<share.count, kThreads, 0, stream.cuda()>>>(vectors.operands(job.number()),
                                                                                         vectors.grid(), share);
                     }));
                   });
}

// Kernels are loaded when they are first used, unless that is asked for earlier: not on a job's path.
void load_kernels() {
  cudaFuncAttributes attributes{};
  cuda_example::expect(cudaFuncGetAttributes(&attributes, by_slices), "the kernel");
  cuda_example::expect(cudaFuncGetAttributes(&attributes, by_persistent_blocks), "the kernel");
}

bool run(const cuda_example::Arguments& arguments) {
  load_kernels();
  return cuda_example::with_or_without_partition(arguments.sms, [&](std::optional<int> sms) {
    World world;
    rtgpu::Runtime runtime(cuda_example::options(arguments, "mpcp"));
    add_pulse(runtime, world.pulse);
    add_sliced(runtime, world.sliced);
    add_persistent(runtime, world.persistent, sms);
    runtime.run_for(rtgpu::Duration::seconds(arguments.seconds));
    std::cout << runtime.report() << '\n';
    const bool pulse = world.pulse.check("pulse");
    const bool sliced = world.sliced.check("sliced");
    const bool persistent = world.persistent.check("persistent");
    return pulse && sliced && persistent;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return cuda_example::run_example({argv, static_cast<std::size_t>(argc)}, run);
}
