// The device's clock and the host's, correlated, so that a trace shows both on one axis. CUDA tells no time of the
// device: it tells how long after one event another one was reached. The chain of such spans from the first reference
// event on is what is called device time here.
#pragma once

#include "rtgpu/result.h"
#include "rtgpu/time.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/device_times.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rtgpu::cuda {

// A device time, measured from the nearest reference before or after it. What it should be is at most `error` away.
struct DeviceTime {
  Duration at;
  Duration error;
};

// The device was at this time at a moment between two of the host's.
struct ClockSample {
  Duration before;
  Duration after;
  DeviceTime device;  // measured from the reference before it; of the first one, the error does not matter
};

// What is taken for granted of the two clocks, in parts per million, and not measured: below a million, not negative.
struct ClockBounds {
  // By how much the device's clock runs faster or slower than the host's at most.
  std::int64_t drift_ppm = 100;
  // By how much its speed at any moment between two references differs from the mean between them at most. More is
  // needed while the host's clock is set to another speed (adjtime).
  std::int64_t wander_ppm = 1;
};

// What is known of the two clocks.
struct ClockStatement {
  std::size_t references = 0;
  ClockBounds bounds;
  Duration offset;  // the host's time less the device's, at the last reference, within `uncertainty`
  // The mean speed of the device's clock from the first reference to the last is between these, in parts per billion
  // more than the host's. With fewer than two references, the bounds.
  std::int64_t least_drift_ppb = 0;
  std::int64_t most_drift_ppb = 0;
  // Half of the widest interval that host_time() gives between the first reference and the last, for a time that is
  // itself without error.
  Duration uncertainty;
  bool is_within_bounds = true;  // false: the clocks drift more than the bounds say
};

// "device clock: 12 ppm fast, times in the trace within 3.2 us"
std::string to_string(const ClockStatement& statement);

// Maps device times to host times. Integer arithmetic, rounded outwards. One thread at a time.
class ClockCorrelation {
 public:
  explicit ClockCorrelation(ClockBounds bounds = {}) : bounds_(bounds) {}

  // Makes a reference of the sample that says most, the narrowest. Its index; `samples.size()`: none is usable, since
  // each is negative or does not lie after the reference before, on both clocks. Allocates. O(samples).
  std::size_t add_burst(std::span<const ClockSample> samples);
  bool empty() const { return references_.empty(); }
  // Not when it is empty.
  const ClockSample& last() const { return references_.back(); }

  // When the device was at this time, if the bounds hold: between two references on the line between them, beyond by
  // the bound on the drift. Not when it is empty. O(log references); does not allocate.
  HostInterval host_time(const DeviceTime& device) const;
  // O(references).
  ClockStatement statement() const;

 private:
  Duration least_host_span(Duration device) const;
  Duration most_host_span(Duration device) const;
  HostInterval between(const ClockSample& left, const ClockSample& right, Duration device) const;
  void state_drift(ClockStatement& statement) const;

  ClockBounds bounds_;
  std::vector<ClockSample> references_;  // ascending
};

// What cuEventElapsedTime() answers, and how far it may be from what it should be: the resolution of the device's time
// stamps, and the float's, which is about 2 us at 8 s. Errors (value): not a finite number, or more than 2^40 ms.
Result<DeviceTime> span_of_milliseconds(float milliseconds);

// Takes samples on a device. Not for the path of a job: it creates events, waits, and allocates. The device's context
// is current in the threads that call; one at a time.
class DeviceClock {
 public:
  static constexpr std::size_t kBurst = 16;  // samples
  // A sample is given up after this: the stream is not idle, or the device does not answer.
  static constexpr Duration kPatience = Duration::milliseconds(20);

  // `now` is the host's clock. `stream` is one that has no work while a burst is taken, and outlives this object.
  // Errors (environment): events cannot be created.
  static Result<DeviceClock> create(const Driver& driver, CUstream stream, std::function<Duration()> now,
                                    ClockBounds bounds = {});
  DeviceClock(DeviceClock&& other) noexcept;
  DeviceClock& operator=(DeviceClock&& other) noexcept;
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  ~DeviceClock();

  // A burst: at set-up, after a run, and in between every few seconds, since longer spans are measured less exactly.
  // What the driver answered if that prevented it; not_ready: the device did not get to an event in time, or no sample
  // is usable. The references are then as before.
  CUresult take_burst();

  // The two halves of take_burst(): the first waits, and changes nothing that device_time() uses; the second does, and
  // does not wait. For others to call device_time() meanwhile, but not during the second. `samples` are kBurst.
  CUresult sample_burst(std::span<ClockSample> samples) const;
  CUresult keep_burst(std::span<const ClockSample> samples);

  // When this event was reached, by the device's clock, from the last reference on. Not without one. Allocates nothing
  // and does not wait. What the driver answered; not_ready: the event has not been reached.
  CUresult device_time(CUevent event, DeviceTime& time) const;
  // When this event was reached, which was made for timing and is complete. Errors (environment): what the driver
  // answered; no burst has been taken.
  Result<HostInterval> host_time(CUevent event) const;
  const ClockCorrelation& correlation() const { return correlation_; }
  // Forgets all references: the host's clock is another one from now on.
  void restart() { correlation_ = ClockCorrelation(bounds_); }
  // Nothing is given back to the driver.
  void forget() { events_.clear(); }

 private:
  DeviceClock(const Driver& driver, CUstream stream, std::function<Duration()> now, ClockBounds bounds);
  CUresult take_sample(CUevent event, ClockSample& sample) const;
  CUresult measure(CUevent from, CUevent to, DeviceTime& span) const;
  void destroy_events();

  Driver driver_;
  CUstream stream_;
  std::function<Duration()> now_;
  ClockBounds bounds_;
  ClockCorrelation correlation_;
  std::vector<CUevent> events_;  // of the last reference, if there is one, and then those of a burst
};

}  // namespace rtgpu::cuda
