// How long an urgent kernel waits for others. These fill the GPU: 20 ms of full blocks of 200 us each, again and again.
#include "benchmarks/gpu_measurements.h"
#include "examples/cuda/device_array.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cuda_runtime_api.h>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>

#include <fmt/format.h>

namespace rtgpu::benchmarks {
namespace {

using namespace std::chrono_literals;
using cuda_example::expect;

constexpr std::uint64_t kBlockNs = 200'000;
constexpr int kWaves = 100;
constexpr int kUrgentSms = 8;  // in a partition of its own
constexpr Duration kWatchdogOfLoad = 2s;

std::int64_t nanoseconds_now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// Up to 30 ms, from sample to sample another time: the urgent kernel is to come at any moment of the others.
class Pauses {
 public:
  void wait() {
    state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    std::this_thread::sleep_for(std::chrono::microseconds(state_ >> 40U) % 30'000);
  }

 private:
  std::uint64_t state_ = 1;
};

std::uint32_t blocks_of_wave(std::uint32_t sms) {
  return sms * static_cast<std::uint32_t>(std::max(gpu_kernels::blocks_per_sm(gpu_kernels::kFullBlock), 1));
}

// What the runtime does with the two tasks.
struct Variant {
  const char* policy = "mpcp";
  bool is_loaded = true;
  int waves_per_slice = kWaves;
  std::optional<int> urgent_sms = {};
};

Histogram run(const GpuSetup& setup, const Variant& variant) {
  RuntimeOptions options;
  options.device = setup.device;
  options.policy = variant.policy;
  options.realtime = setup.realtime;
  Runtime runtime(options);
  Histogram seen;
  std::atomic<bool> is_over = !variant.is_loaded;
  runtime.add_task({.name = "load", .period = 1000s, .priority = 1, .watchdog = kWatchdogOfLoad}, [&](Job& job) {
    while (!is_over.load()) {
      const auto slices = sliced(kWaves, variant.waves_per_slice);
      const GpuStatus status = job.gpu("fill", slices, [](Stream stream, Slice part) {
        const std::uint32_t blocks = static_cast<std::uint32_t>(part.blocks) * blocks_of_wave(stream.sms().count);
        gpu_kernels::spin(stream.cuda(), blocks, gpu_kernels::kFullBlock, kBlockNs, nullptr);
      });
      if (status != GpuStatus::ok) return;
    }
  });
  runtime.add_task({.name = "urgent",
                    .period = 1000s,
                    .priority = 2,
                    .cpu = 1,
                    .wait = WaitMode::busy,
                    .watchdog = kWatchdogOfLoad,
                    .sms = variant.urgent_sms},
                   [&](Job& job) {
                     Pauses pauses;
                     for (std::int64_t sample = 0; sample < setup.samples; ++sample) {
                       pauses.wait();
                       const std::int64_t begin = nanoseconds_now();
                       const GpuStatus status =
                           job.gpu("urgent", [](Stream stream) { gpu_kernels::nothing(stream.cuda()); });
                       if (status != GpuStatus::ok) break;
                       seen.add(Duration::nanoseconds(nanoseconds_now() - begin));
                     }
                     is_over.store(true);
                   });
  runtime.run_for(1ns);
  return seen;
}

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using PlainStream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, DestroyStream>;

PlainStream make_stream(int priority) {
  cudaStream_t stream = nullptr;
  expect(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority), "a stream");
  return PlainStream(stream);
}

void wait_for(cudaStream_t stream) {
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
}

// Without the runtime: two threads, a stream each.
Histogram run_plain(const GpuSetup& setup, bool is_loaded, bool has_priorities) {
  int least = 0;
  int greatest = 0;
  expect(cudaDeviceGetStreamPriorityRange(&least, &greatest), "the range of priorities");
  int device = 0;
  expect(cudaGetDevice(&device), "the device");
  cudaDeviceProp properties{};
  expect(cudaGetDeviceProperties(&properties, device), "the device");
  const std::uint32_t wave = blocks_of_wave(static_cast<std::uint32_t>(properties.multiProcessorCount));
  const PlainStream low = make_stream(least);
  const PlainStream high = make_stream(has_priorities ? greatest : least);
  std::atomic<bool> is_over = !is_loaded;
  std::thread load([&] {
    cudaSetDevice(device);
    while (!is_over.load()) {
      gpu_kernels::spin(low.get(), kWaves * wave, gpu_kernels::kFullBlock, kBlockNs, nullptr);
      if (cudaStreamSynchronize(low.get()) != cudaSuccess) return;
    }
  });
  Histogram seen;
  Pauses pauses;
  for (std::int64_t sample = 0; sample < setup.samples; ++sample) {
    pauses.wait();
    const std::int64_t begin = nanoseconds_now();
    gpu_kernels::nothing(high.get());
    wait_for(high.get());
    seen.add(Duration::nanoseconds(nanoseconds_now() - begin));
  }
  is_over.store(true);
  load.join();
  return seen;
}

GpuMeasurement measured(const GpuSetup& setup, std::string name, std::string what, const Variant& variant) {
  GpuMeasurement measurement{.name = std::move(name), .what = std::move(what)};
  try {
    measurement.seen = run(setup, variant);
    if (measurement.seen.count() < setup.samples) measurement.left_out = "a GPU segment failed";
  } catch (const SetupError& error) {
    measurement.left_out = error.what();
  }
  return measurement;
}

}  // namespace

std::vector<GpuMeasurement> measure_preemption(const GpuSetup& setup) {
  std::vector<GpuMeasurement> all;
  all.push_back({"urgent_plain_alone", "urgent kernel alone, plain CUDA", run_plain(setup, false, true)});
  all.push_back(
      {"urgent_plain_same_priority", "beside a load, plain streams of one priority", run_plain(setup, true, false)});
  all.push_back(
      {"urgent_plain_stream_priority", "beside a load, plain streams of two priorities", run_plain(setup, true, true)});
  all.push_back(measured(setup, "urgent_alone", "urgent segment alone", {.is_loaded = false}));
  all.push_back(measured(setup, "urgent_mpcp", "beside a load, mpcp, the load in one launch of 20 ms", {}));
  for (const int waves : {64, 16, 4, 1}) {
    const double milliseconds = static_cast<double>(waves) * static_cast<double>(kBlockNs) / 1e6;
    all.push_back(measured(setup, fmt::format("urgent_mpcp_slices_of_{}_waves", waves),
                           fmt::format("beside a load, mpcp, slices of {} ms", milliseconds),
                           {.waves_per_slice = waves}));
  }
  all.push_back(
      measured(setup, "urgent_stream_priority", "beside a load, stream-priority", {.policy = "stream-priority"}));
  all.push_back(measured(setup, "urgent_partition",
                         fmt::format("beside a load, stream-priority, {} SMs of its own", kUrgentSms),
                         {.policy = "stream-priority", .urgent_sms = kUrgentSms}));
  return all;
}

}  // namespace rtgpu::benchmarks
