// What the CUDA device does for the trace of a run.
#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/cuda/driver_error.h"
#include "runtime/machine/machine.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

Duration monotonic_now() {
  return Duration(std::chrono::steady_clock::now().time_since_epoch());
}

// When the machine's clock was 0. It is the monotonic clock less that, and cannot be read at once with it.
HostInterval start_of(const Machine& machine) {
  constexpr int kReadings = 16;
  HostInterval start;
  for (int reading = 0; reading < kReadings; ++reading) {
    const Duration before = monotonic_now();
    const Duration now = machine.now();
    const Duration after = monotonic_now();
    start = reading == 0 ? HostInterval{before - now, after - now}
                         : HostInterval{std::max(start.earliest, before - now), std::min(start.latest, after - now)};
  }
  return start;
}

}  // namespace

// Without times of the device a run is as good: what went wrong is a note.
void CudaDevice::start_times() {
  clock_statement_.clear();
  if (is_timed_) {
    const InContext inside(context_);
    if (const Errors errors = set_up_times(); !errors.empty()) {
      is_timed_ = false;
      clock_statement_ = "no times of the device in the trace: " + to_string(errors.front());
    }
  }
  time_with_pairs();
}

// Events are made for the first run that is timed, and used again for the next.
Errors CudaDevice::set_up_times() {
  if (times_ == nullptr) {
    Result<HandleOf<CUstream>> stream = make_stream(info_.greatest_priority);
    if (!stream) return stream.errors();
    // The machine's clock does not go before the run, and in virtual time there is no other.
    std::function<Duration()> now = monotonic_now;
    if (options_.clock != nullptr) now = [this] { return machine_->now(); };
    Result<std::unique_ptr<WorkTimes>> made = WorkTimes::create(driver_, std::move(*stream), std::move(now));
    if (!made) return made.errors();
    times_ = std::move(*made);
  }
  while (pairs_.size() < copies_.size() + streams_.size()) {
    const bool is_copying = pairs_.size() < copies_.size();
    CUresult result = CUresult::success;
    EventPairs* added = times_->add(is_copying ? static_cast<int>(pairs_.size()) : DeviceInterval::kNoEngine, result);
    if (added == nullptr) return {failed("cuEventCreate", result)};
    pairs_.push_back(added);
  }
  times_->restart();
  return {};
}

void CudaDevice::time_with_pairs() {
  const auto pairs_at = [&](std::size_t index) { return is_timed_ ? pairs_[index] : nullptr; };
  for (std::size_t engine = 0; engine < copies_.size(); ++engine) copies_[engine]->time_with(pairs_at(engine));
  for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
    streams_[stream]->work.time_with(pairs_at(copies_.size() + stream));
  }
}

bool CudaDevice::has_something_to_tell() const {
  const std::lock_guard guard(lock_);
  return std::ranges::any_of(streams_, [](const auto& state) { return state->stage == Stage::ended; });
}

// In virtual time any thread does, and none is to wait.
void CudaDevice::follow_clock() {
  if (!is_timed_) return;
  if (options_.clock != nullptr) {
    times_->collect();
  } else {
    times_->follow();
  }
}

DeviceTimes CudaDevice::take_times() {
  if (!is_timed_) return {{}, 0, clock_statement_};
  const InContext inside(context_);
  reach(machine_->now());
  DeviceTimes times = times_->take(options_.clock != nullptr ? HostInterval() : start_of(*machine_));
  clock_statement_ = times.statement;
  return times;
}

}  // namespace rtgpu::cuda
