#include "runtime/device/cuda/work_times.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace rtgpu::cuda {
namespace {

// Between two references; and before the next attempt where one could not be taken.
constexpr Duration kReferenceEvery = Duration::seconds(2);
constexpr Duration kAttemptEvery = Duration::milliseconds(200);
// Room between two collections.
constexpr std::size_t kReadings = 4096;

HostInterval since(const HostInterval& start, const HostInterval& when) {
  return {when.earliest - start.latest, when.latest - start.earliest};
}

Duration half_of(const HostInterval& when) {
  return Duration::nanoseconds(ceil_div(when.latest - when.earliest, Duration::nanoseconds(2)));
}

}  // namespace

WorkTimes::WorkTimes(const Driver& driver, HandleOf<CUstream> stream, std::function<Duration()> now, DeviceClock clock)
    : driver_(driver),
      stream_(std::move(stream)),
      now_(std::move(now)),
      clock_(std::move(clock)),
      readings_(kReadings) {}

Result<std::unique_ptr<WorkTimes>> WorkTimes::create(const Driver& driver, HandleOf<CUstream> stream,
                                                     std::function<Duration()> now) {
  Result<DeviceClock> clock = DeviceClock::create(driver, stream.get(), now);
  if (!clock) return clock.errors();
  return std::unique_ptr<WorkTimes>(new WorkTimes(driver, std::move(stream), std::move(now), std::move(*clock)));
}

WorkTimes::~WorkTimes() = default;

EventPairs* WorkTimes::add(int engine, CUresult& result) {
  std::unique_ptr<EventPairs> made = EventPairs::create(driver_, engine, result);
  return made != nullptr ? pairs_.emplace_back(std::move(made)).get() : nullptr;
}

void WorkTimes::restart() {
  for (const auto& pairs : pairs_) pairs->restart();
  readings_.drain(collected_);
  collected_.clear();
  dropped_before_ = readings_.dropped();
  unreadable_.store(0, std::memory_order_relaxed);
  clock_.restart();
  next_reference_ = now_();
  follow();
}

void WorkTimes::forget() {
  for (const auto& pairs : pairs_) pairs->forget();
  static_cast<void>(stream_.release());
  clock_.forget();
}

// The samples take their time, and the reference of before stays good meanwhile.
CUresult WorkTimes::take_reference() {
  std::array<ClockSample, DeviceClock::kBurst> samples;
  const CUresult sampled = clock_.sample_burst(samples);
  if (sampled != CUresult::success) return sampled;
  const std::lock_guard guard(clock_lock_);
  return clock_.keep_burst(samples);
}

void WorkTimes::collect() {
  readings_.drain(collected_);
}

void WorkTimes::follow() {
  collect();
  if (now_() < next_reference_) return;
  const CUresult taken = take_reference();
  next_reference_ = now_() + (taken == CUresult::success ? kReferenceEvery : kAttemptEvery);
}

void WorkTimes::read() {
  const std::unique_lock guard(clock_lock_, std::try_to_lock);
  if (!guard || clock_.correlation().empty()) return;
  for (const auto& pairs : pairs_) read(*pairs);
}

void WorkTimes::read(EventPairs& pairs) {
  for (const EventPairs::Pair* pair = pairs.oldest(); pair != nullptr; pair = pairs.oldest()) {
    Reading reading{pair->place, pairs.engine(), {}, {}};
    CUresult result = clock_.device_time(pair->begin.get(), reading.begin);
    if (result == CUresult::success) result = clock_.device_time(pair->end.get(), reading.end);
    if (result == CUresult::success) {
      readings_.write(reading);
    } else {
      unreadable_.store(unreadable_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    pairs.free_oldest();
  }
}

DeviceTimes WorkTimes::take(const HostInterval& start) {
  // What was left is read from the reference before it, which is the nearest but for the last one.
  read();
  collect();
  static_cast<void>(take_reference());
  read();
  collect();
  const ClockCorrelation& clocks = clock_.correlation();
  ClockStatement statement = clocks.statement();
  DeviceTimes times;
  for (const Reading& reading : collected_) {
    const DeviceInterval& added = times.intervals.emplace_back(
        DeviceInterval{reading.place, reading.engine, since(start, clocks.host_time(reading.begin)),
                       since(start, clocks.host_time(reading.end))});
    statement.uncertainty = std::max({statement.uncertainty, half_of(added.begin), half_of(added.end)});
  }
  collected_.clear();
  times.statement = to_string(statement);
  times.missed = unreadable_.load(std::memory_order_relaxed) + readings_.dropped() - dropped_before_;
  for (const auto& pairs : pairs_) {
    times.missed += pairs->missed();
    for (; pairs->oldest() != nullptr; pairs->free_oldest()) ++times.missed;  // without any reference
  }
  return times;
}

}  // namespace rtgpu::cuda
