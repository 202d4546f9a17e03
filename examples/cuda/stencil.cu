// Heat that spreads over a plane, step by step, in two periodic tasks with a plane each:
//   sliced       a step a job, its grid of two dimensions in slices
//   partitioned  a step a job in one launch, on SMs that are the task's own
// At the end both planes have to be, to the last bit, what the CPU makes in as many steps.
#include "examples/cuda/example.h"
#include "runtime/device/sliced_grid.h"
#include "runtime/runtime.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using cuda_example::DeviceArray;
using rtgpu::GpuStatus;
using rtgpu::Job;

constexpr int kWidth = 1000;
constexpr int kHeight = 700;
constexpr int kTileWidth = 32;
constexpr int kTileHeight = 8;
constexpr rtgpu::GridDim kGrid = {(kWidth + kTileWidth - 1) / kTileWidth, (kHeight + kTileHeight - 1) / kTileHeight};
constexpr std::int64_t kBlocksPerSlice = 500;

// The next value of a cell: a quarter of the sum of its neighbours. Rounded after each addition, and the same in
// whichever compiler: there is nothing to fuse, as the product comes last.
__host__ __device__ float next(const float* plane, int x, int y) {
  const float* cell = plane + static_cast<std::ptrdiff_t>(y) * kWidth + x;
  return 0.25F * ((cell[-1] + cell[1]) + (cell[-kWidth] + cell[kWidth]));
}

// The edge keeps its values.
__host__ __device__ bool is_inside(int x, int y) {
  return x > 0 && y > 0 && x < kWidth - 1 && y < kHeight - 1;
}

__global__ void step(const float* from, float* to, rtgpu::GridDim grid, rtgpu::GridSlice slice) {
  const rtgpu::BlockIndex block = rtgpu::block_of(slice, grid, blockIdx.x);
  const int x = static_cast<int>(block.x * kTileWidth + threadIdx.x);
  const int y = static_cast<int>(block.y * kTileHeight + threadIdx.y);
  if (is_inside(x, y)) to[y * kWidth + x] = next(from, x, y);
}

std::vector<float> first_plane() {
  std::vector<float> plane(std::size_t{kWidth} * kHeight);
  for (std::size_t cell = 0; cell < plane.size(); ++cell)
    plane[cell] = static_cast<float>(cell * 2'654'435'761U % 1000);
  return plane;
}

std::vector<float> plane_of_cpu(std::int64_t steps) {
  std::vector<float> from = first_plane();
  std::vector<float> to = from;
  for (std::int64_t done = 0; done < steps; ++done) {
    for (int y = 1; y < kHeight - 1; ++y) {
      for (int x = 1; x < kWidth - 1; ++x) to[static_cast<std::size_t>(y * kWidth + x)] = next(from.data(), x, y);
    }
    std::swap(from, to);
  }
  return from;
}

// A task's plane, twice: a step reads one and writes the other.
struct Plane {
  const float* from() const { return planes[static_cast<std::size_t>(steps % 2)].data(); }
  float* to() const { return planes[static_cast<std::size_t>(1 - steps % 2)].data(); }
  void finish(GpuStatus status) {
    if (status == GpuStatus::ok) {
      ++steps;
    } else {
      ++failed;
    }
  }
  bool check(const std::string& name) const {
    const DeviceArray<float>& result = planes[static_cast<std::size_t>(steps % 2)];
    const bool equal =
        cuda_example::all_equal(name + ", " + std::to_string(steps) + " steps", result.values(), plane_of_cpu(steps));
    if (failed != 0) std::cout << name << ": " << failed << " GPU segments failed\n";
    return equal && failed == 0 && steps > 0;
  }

  std::array<DeviceArray<float>, 2> planes = {DeviceArray<float>(first_plane()), DeviceArray<float>(first_plane())};
  std::int64_t steps = 0;  // written by its task
  std::int64_t failed = 0;
};

void launch(const Plane& plane, rtgpu::Stream stream, rtgpu::GridSlice slice) {
  step<<<static_cast<std::uint32_t>(slice.blocks), dim3(kTileWidth, kTileHeight), 0, stream.cuda()>>>(
      plane.from(), plane.to(), kGrid, slice);
}

void add_tasks(rtgpu::Runtime& runtime, Plane& sliced, Plane& partitioned, std::optional<int> sms) {
  runtime.add_task({.name = "sliced", .period = 20ms, .priority = 10, .watchdog = 1s}, [&sliced](Job& job) {
    const auto slices = rtgpu::sliced(rtgpu::blocks_of(kGrid), kBlocksPerSlice);
    sliced.finish(job.gpu("step", slices, [&](rtgpu::Stream stream, rtgpu::Slice part) {
      launch(sliced, stream, {part.first_block, part.blocks});
    }));
  });
  runtime.add_task({.name = "partitioned", .period = 10ms, .priority = 20, .cpu = 1, .watchdog = 1s, .sms = sms},
                   [&partitioned](Job& job) {
                     partitioned.finish(job.gpu("step", [&](rtgpu::Stream stream) {
                       launch(partitioned, stream, {0, rtgpu::blocks_of(kGrid)});
                     }));
                   });
}

bool run(const cuda_example::Arguments& arguments) {
  // Kernels are loaded when they are first used, unless that is asked for earlier: not on a job's path.
  cudaFuncAttributes attributes{};
  cuda_example::expect(cudaFuncGetAttributes(&attributes, step), "the kernel");
  return cuda_example::with_or_without_partition(arguments.sms, [&](std::optional<int> sms) {
    Plane sliced;
    Plane partitioned;
    rtgpu::Runtime runtime(cuda_example::options(arguments, "stream-priority"));
    add_tasks(runtime, sliced, partitioned, sms);
    runtime.run_for(rtgpu::Duration::seconds(arguments.seconds));
    std::cout << runtime.report() << '\n';
    const bool first = sliced.check("sliced");
    const bool second = partitioned.check("partitioned");
    return first && second;
  });
}

}  // namespace

int main(int argc, char** argv) {
  return cuda_example::run_example({argv, static_cast<std::size_t>(argc)}, run);
}
