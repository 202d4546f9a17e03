// What the runtime adds to launches: segments, slices, hand-overs. Yardsticks run alternately with what they measure.
#include "benchmarks/gpu_measurements.h"
#include "examples/cuda/device_array.h"
#include "runtime/device/cuda/driver.h"
#include "tests/support/gpu_kernels/gpu_kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace rtgpu::benchmarks {
namespace {

using namespace std::chrono_literals;
using cuda_example::DeviceArray;
using gpu_kernels::Stamps;

constexpr int kSlices = 16;
constexpr std::uint64_t kSliceNs = 50'000;
constexpr std::uint64_t kTurnNs = 100'000;  // long enough for the other one to have fallen asleep
constexpr Duration kWatchdog = 2s;

std::int64_t nanoseconds_on_clock() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

// How long that takes.
template <class Work>
Duration time_of(const Work& work) {
  const std::int64_t begin = nanoseconds_on_clock();
  work();
  return Duration::nanoseconds(nanoseconds_on_clock() - begin);
}

RuntimeOptions options_of(const GpuSetup& setup, const char* policy) {
  RuntimeOptions options;
  options.device = setup.device;
  options.policy = policy;
  options.realtime = setup.realtime;
  return options;
}

// One job that does all of that.
void run_job(const GpuSetup& setup, WaitMode wait, const Runtime::Body& body) {
  Runtime runtime(options_of(setup, "mpcp"));
  runtime.add_task({.name = "alone", .period = 1000s, .priority = 1, .wait = wait, .watchdog = kWatchdog}, body);
  runtime.run_for(1ns);
  if (!runtime.report().is_clean()) throw std::runtime_error(to_string(runtime.report()));
}

// An empty kernel by the driver's own call, in a stream without the runtime, and the wait for its end by looking.
class BareLaunch {
 public:
  BareLaunch() : driver_(load()), function_(static_cast<cuda::CUfunction>(gpu_kernels::spin_function())) {
    if (function_ == nullptr) throw std::runtime_error("the kernel is not found as a function of the driver");
    if (driver_->cuStreamCreateWithPriority(&stream_, cuda::kStreamNonBlocking, 0) != cuda::CUresult::success) {
      throw std::runtime_error("a stream cannot be made");
    }
  }
  BareLaunch(const BareLaunch&) = delete;
  BareLaunch& operator=(const BareLaunch&) = delete;
  ~BareLaunch() { driver_->cuStreamDestroy(stream_); }

  void operator()() const {
    std::uint64_t nanoseconds = 0;
    Stamps* stamps = nullptr;
    std::array<void*, 2> parameters{&nanoseconds, static_cast<void*>(&stamps)};
    driver_->cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, stream_, parameters.data(), nullptr);
    while (driver_->cuStreamQuery(stream_) == cuda::CUresult::not_ready) {
    }
  }

 private:
  static cuda::Driver load() {
    Result<cuda::Driver> driver = cuda::Driver::load();
    if (!driver) throw SetupError(driver.errors());
    return *driver;
  }

  cuda::Driver driver_;
  cuda::CUfunction function_;
  cuda::CUstream stream_ = nullptr;
};

void launch_empty(const Stream& stream) {
  gpu_kernels::spin(stream.cuda(), 1, 1, 0, nullptr);
}

void measure_launches(const GpuSetup& setup, std::vector<GpuMeasurement>& all) {
  GpuMeasurement bare{.name = "bare_launch", .what = "bare cuLaunchKernel, and looking until its end"};
  GpuMeasurement busy{.name = "segment_busy", .what = "the same in a segment, busy-waiting"};
  GpuMeasurement asleep{.name = "segment_suspend", .what = "the same in a segment, suspended"};
  const BareLaunch launch;
  for (GpuMeasurement* segment : {&busy, &asleep}) {
    run_job(setup, segment == &busy ? WaitMode::busy : WaitMode::suspend, [&](Job& job) {
      for (std::int64_t sample = 0; sample < setup.samples * 5; ++sample) {
        bare.seen.add(time_of(launch));
        segment->seen.add(time_of([&] { job.gpu("empty", launch_empty); }));
      }
    });
  }
  for (GpuMeasurement* measurement : {&bare, &busy, &asleep}) all.push_back(std::move(*measurement));
}

void measure_entering(const GpuSetup& setup, std::vector<GpuMeasurement>& all) {
  GpuMeasurement entering{.name = "enter", .what = "entering a segment, uncontended"};
  GpuMeasurement leaving{.name = "leave", .what = "leaving it, with nothing submitted"};
  run_job(setup, WaitMode::busy, [&](Job& job) {
    for (std::int64_t sample = 0; sample < setup.samples * 5; ++sample) {
      entering.seen.add(time_of([&] { job.enter("nothing"); }));
      leaving.seen.add(time_of([&] { job.leave(); }));
    }
  });
  all.push_back(std::move(entering));
  all.push_back(std::move(leaving));
}

// The same work in one launch and in slices: the difference, for each further slice.
void measure_slices(const GpuSetup& setup, std::vector<GpuMeasurement>& all) {
  GpuMeasurement cost{.name = "slice_cost",
                      .what = fmt::format("each further slice of {} of {} us", kSlices, kSliceNs / 1000)};
  run_job(setup, WaitMode::busy, [&](Job& job) {
    for (std::int64_t sample = 0; sample < setup.samples; ++sample) {
      const Duration whole = time_of([&] {
        job.gpu("whole", [](Stream stream) { gpu_kernels::spin(stream.cuda(), 1, 32, kSlices * kSliceNs, nullptr); });
      });
      const Duration in_slices = time_of([&] {
        job.gpu("slices", sliced(kSlices, 1),
                [](Stream stream, Slice) { gpu_kernels::spin(stream.cuda(), 1, 32, kSliceNs, nullptr); });
      });
      cost.seen.add(Duration::nanoseconds((in_slices - whole).count() / (kSlices - 1)));
    }
  });
  all.push_back(std::move(cost));
}

// Two tasks take turns; the device's own clock tells how long it has nothing to do in between.
GpuMeasurement hand_over(const GpuSetup& setup, WaitMode wait, std::string name, std::string what) {
  GpuMeasurement measurement{.name = std::move(name), .what = std::move(what)};
  const auto turns = static_cast<std::size_t>(2 * setup.samples);
  const DeviceArray<Stamps> stamps{std::vector<Stamps>(turns)};
  std::vector<int> taker(turns, -1);
  std::atomic<std::size_t> turn = 0;
  Runtime runtime(options_of(setup, "fmlp+"));
  for (int task = 0; task < 2; ++task) {
    runtime.add_task({.name = fmt::format("side {}", task),
                      .period = 1000s,
                      .priority = task + 1,
                      .cpu = task,
                      .wait = wait,
                      .watchdog = kWatchdog},
                     [&, task](Job& job) {
                       for (std::size_t own = 0; own < turns / 2; ++own) {
                         job.gpu("turn", [&](Stream stream) {
                           const std::size_t mine = turn++;
                           taker[mine] = task;
                           gpu_kernels::spin(stream.cuda(), 1, 32, kTurnNs, stamps.data() + mine);
                         });
                       }
                     });
  }
  runtime.run_for(1ns);
  const std::vector<Stamps> seen = stamps.values();
  for (std::size_t next = 1; next < turns; ++next) {
    if (taker[next] == taker[next - 1] || taker[next] < 0) continue;
    const auto gap = static_cast<std::int64_t>(seen[next].begin - seen[next - 1].end);
    measurement.seen.add(Duration::nanoseconds(gap));
  }
  if (measurement.seen.count() == 0) measurement.left_out = "the two did not take turns";
  return measurement;
}

}  // namespace

std::vector<GpuMeasurement> measure_segments(const GpuSetup& setup) {
  std::vector<GpuMeasurement> all;
  measure_launches(setup, all);
  measure_entering(setup, all);
  measure_slices(setup, all);
  all.push_back(hand_over(setup, WaitMode::busy, "hand_over_busy",
                          "hand-over, from the end of one's kernel to the other's, busy"));
  all.push_back(hand_over(setup, WaitMode::suspend, "hand_over_suspend",
                          "hand-over, from the end of one's kernel to the other's, suspended"));
  return all;
}

}  // namespace rtgpu::benchmarks
