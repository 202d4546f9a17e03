#include "runtime/device/cuda/clock_correlation.h"

#include "runtime/device/cuda/driver_error.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

namespace rtgpu::cuda {
namespace {

__extension__ using Int128 = __int128;  // products of two times

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kBillion = 1'000'000'000;
constexpr int kMostWithoutTime = 1000;  // questions
constexpr Duration kEventResolution = Duration::nanoseconds(500);

// The quotients for a positive divisor.
constexpr Int128 floor_of(Int128 number, Int128 divisor) {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}
constexpr Int128 ceiling_of(Int128 number, Int128 divisor) {
  return -floor_of(-number, divisor);
}
constexpr std::int64_t narrow(Int128 number) {
  return static_cast<std::int64_t>(number);
}

Duration ceiling_of_ppm(Duration time, std::int64_t ppm) {
  return Duration::nanoseconds(narrow(ceiling_of(Int128{time.count()} * ppm, kMillion)));
}

Duration half_up(Duration time) {
  return Duration::nanoseconds(narrow(ceiling_of(time.count(), 2)));
}

Duration width(const ClockSample& sample) {
  return sample.after - sample.before + 2 * sample.device.error;
}

bool is_usable(const ClockSample& sample) {
  return sample.before <= sample.after && sample.device.error >= Duration() && !width(sample).is_infinite() &&
         !sample.device.at.is_infinite();
}

bool is_later(const ClockSample& sample, const ClockSample& reference) {
  return sample.before > reference.after && sample.device.at > reference.device.at;
}

// "12 ppm fast", "exact".
std::string drift_text(std::int64_t ppb) {
  const std::int64_t ppm = (std::abs(ppb) + 500) / 1000;
  if (ppm == 0) return "0 ppm off";
  return fmt::format("{} ppm {}", ppm, ppb > 0 ? "fast" : "slow");
}

std::string drift_text(const ClockStatement& statement) {
  const std::int64_t least = statement.least_drift_ppb;
  const std::int64_t most = statement.most_drift_ppb;
  if (statement.references < 2) return fmt::format("at most {} ppm off", statement.bounds.drift_ppm);
  if (most - least <= 2000) return drift_text(least + (most - least) / 2);
  return fmt::format("between {} and {}", drift_text(least), drift_text(most));
}

}  // namespace

std::string to_string(const ClockStatement& statement) {
  if (statement.references == 0) return "device clock: not correlated with the host's";
  const std::int64_t tenths = ceil_div(statement.uncertainty, Duration::nanoseconds(100));
  const std::string within = fmt::format("{}.{} us", tenths / 10, tenths % 10);
  const std::string drift = drift_text(statement);
  if (!statement.is_within_bounds) {
    return fmt::format(
        "device clock: {}, but {} ppm are assumed at most: times in the trace may be off by more than {}", drift,
        statement.bounds.drift_ppm, within);
  }
  const char* where = statement.references == 1 ? " near the only reference" : "";
  return fmt::format("device clock: {}, times in the trace within {}{}", drift, within, where);
}

std::size_t ClockCorrelation::add_burst(std::span<const ClockSample> samples) {
  std::size_t best = samples.size();
  for (std::size_t index = 0; index < samples.size(); ++index) {
    const ClockSample& sample = samples[index];
    if (!is_usable(sample) || (!empty() && !is_later(sample, last()))) continue;
    if (best == samples.size() || width(sample) < width(samples[best])) best = index;
  }
  if (best != samples.size()) references_.push_back(samples[best]);
  return best;
}

// A device that is fast by d is d / (1 + d) less on the host's clock than on its own.
Duration ClockCorrelation::least_host_span(Duration device) const {
  const Int128 host = floor_of(Int128{device.count()} * kMillion, kMillion + bounds_.drift_ppm);
  return Duration::nanoseconds(narrow(host));
}

Duration ClockCorrelation::most_host_span(Duration device) const {
  const Int128 host = ceiling_of(Int128{device.count()} * kMillion, kMillion - bounds_.drift_ppm);
  return Duration::nanoseconds(narrow(host));
}

// On the line: each end of the interval is as far between those of the references as the device time is between theirs.
// The span between the references has an error, and so has the line; a nanosecond more is for the parts of one that the
// other two terms leave out.
HostInterval ClockCorrelation::between(const ClockSample& left, const ClockSample& right, Duration device) const {
  const Duration all = right.device.at - left.device.at;
  const Duration part = device - left.device.at;
  const auto move = [&](Duration from, Duration to) { return Int128{(to - from).count()} * part.count(); };
  const Duration off = most_host_span(right.device.error) +
                       ceiling_of_ppm(std::min(part, all - part), bounds_.wander_ppm) + Duration::nanoseconds(1);
  const Int128 earliest = floor_of(move(left.before, right.before), all.count());
  const Int128 latest = ceiling_of(move(left.after, right.after), all.count());
  return {left.before + Duration::nanoseconds(narrow(earliest)) - off,
          left.after + Duration::nanoseconds(narrow(latest)) + off};
}

HostInterval ClockCorrelation::host_time(const DeviceTime& device) const {
  const auto after =
      std::upper_bound(references_.begin(), references_.end(), device.at,
                       [](Duration at, const ClockSample& reference) { return at < reference.device.at; });
  HostInterval host;
  if (after == references_.begin()) {
    const Duration span = after->device.at - device.at;
    host = {after->before - most_host_span(span), after->after - least_host_span(span)};
  } else if (after == references_.end()) {
    const Duration span = device.at - last().device.at;
    host = {last().before + least_host_span(span), last().after + most_host_span(span)};
  } else {
    host = between(*std::prev(after), *after, device.at);
  }
  const Duration error = most_host_span(device.error);
  return {host.earliest - error, host.latest + error};
}

// From the first reference to the last, on both clocks.
void ClockCorrelation::state_drift(ClockStatement& statement) const {
  const ClockSample& first = references_.front();
  Duration error;
  for (const ClockSample& reference : std::span(references_).subspan(1)) error += reference.device.error;
  const Duration device = last().device.at - first.device.at;
  const Duration least_host = last().before - first.after;
  const Duration most_host = last().after - first.before;
  const auto drift = [](Duration more, Duration host) { return Int128{(more - host).count()} * kBillion; };
  statement.least_drift_ppb = narrow(floor_of(drift(device - error, most_host), most_host.count()));
  statement.most_drift_ppb = narrow(ceiling_of(drift(device + error, least_host), least_host.count()));
}

ClockStatement ClockCorrelation::statement() const {
  ClockStatement statement;
  statement.references = references_.size();
  statement.bounds = bounds_;
  const std::int64_t bound = bounds_.drift_ppm * 1000;
  statement.least_drift_ppb = -bound;
  statement.most_drift_ppb = bound;
  if (empty()) return statement;
  statement.offset = last().before + half_up(last().after - last().before) - last().device.at;
  statement.uncertainty = half_up(last().after - last().before);
  for (std::size_t right = 1; right < references_.size(); ++right) {
    const ClockSample& from = references_[right - 1];
    const ClockSample& to = references_[right];
    const Duration wander = ceiling_of_ppm(half_up(to.device.at - from.device.at), bounds_.wander_ppm);
    const Duration ends = half_up(std::max(from.after - from.before, to.after - to.before));
    // Two nanoseconds as between() adds one, and rounds by another.
    const Duration most = ends + most_host_span(to.device.error) + wander + Duration::nanoseconds(2);
    statement.uncertainty = std::max(statement.uncertainty, most);
  }
  if (references_.size() < 2) return statement;
  state_drift(statement);
  statement.is_within_bounds = statement.least_drift_ppb <= bound && statement.most_drift_ppb >= -bound;
  return statement;
}

// A float is a whole number of 24 bits times a power of two. What the driver computes before it rounds is not known: an
// error of twice the last bit is allowed for, and a nanosecond for rounding here.
Result<DeviceTime> span_of_milliseconds(float milliseconds) {
  constexpr int kBits = 24;
  constexpr int kMostExponent = 40;
  int exponent = 0;
  const float fraction = std::frexp(milliseconds, &exponent);
  if (!std::isfinite(milliseconds) || exponent > kMostExponent) {
    return Error{ErrorCode::value, Place{}, fmt::format("a span of {} ms", milliseconds), "a time",
                 "The driver's events cannot be relied on."};
  }
  const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, kBits));
  const int shift = std::max(exponent - kBits, -60);  // a span below 2^-36 ms is none
  const Int128 scale = Int128{1} << std::abs(shift);
  const Int128 nanoseconds = Int128{digits} * kMillion;
  const Int128 length = shift >= 0 ? nanoseconds * scale : floor_of(nanoseconds, scale);
  const Int128 twice = Int128{2} * kMillion;
  const Int128 last_bits = shift >= 0 ? twice * scale : ceiling_of(twice, scale);
  return DeviceTime{Duration::nanoseconds(narrow(length)),
                    kEventResolution + Duration::nanoseconds(narrow(last_bits) + 1)};
}

DeviceClock::DeviceClock(const Driver& driver, CUstream stream, std::function<Duration()> now, ClockBounds bounds)
    : driver_(driver), stream_(stream), now_(std::move(now)), bounds_(bounds), correlation_(bounds) {}

Result<DeviceClock> DeviceClock::create(const Driver& driver, CUstream stream, std::function<Duration()> now,
                                        ClockBounds bounds) {
  DeviceClock clock(driver, stream, std::move(now), bounds);
  for (std::size_t made = 0; made < kBurst + 1; ++made) {
    CUevent event = nullptr;
    if (const CUresult result = driver->cuEventCreate(&event, kEventDefault); result != CUresult::success) {
      return Error{ErrorCode::environment, Place{}, fmt::format("{} of cuEventCreate", describe(result)),
                   "events for the device's clock", "Without them, a trace has no times of the device."};
    }
    clock.events_.push_back(event);
  }
  return clock;
}

DeviceClock::DeviceClock(DeviceClock&& other) noexcept
    : driver_(other.driver_),
      stream_(other.stream_),
      now_(std::move(other.now_)),
      bounds_(other.bounds_),
      correlation_(std::move(other.correlation_)),
      events_(std::exchange(other.events_, {})) {}

DeviceClock& DeviceClock::operator=(DeviceClock&& other) noexcept {
  if (this == &other) return *this;
  destroy_events();
  driver_ = other.driver_;
  stream_ = other.stream_;
  now_ = std::move(other.now_);
  bounds_ = other.bounds_;
  correlation_ = std::move(other.correlation_);
  events_ = std::exchange(other.events_, {});
  return *this;
}

DeviceClock::~DeviceClock() {
  destroy_events();
}

void DeviceClock::destroy_events() {
  for (CUevent event : events_) driver_->cuEventDestroy(event);
  events_.clear();
}

// The host's part of a sample. Asking again and again sees the end earlier than a call that waits. A clock of virtual
// time may stand still meanwhile.
CUresult DeviceClock::take_sample(CUevent event, ClockSample& sample) const {
  sample.before = now_();
  const CUresult recorded = driver_->cuEventRecord(event, stream_);
  if (recorded != CUresult::success) return recorded;
  CUresult reached = CUresult::not_ready;
  int asked = 0;
  do {
    reached = driver_->cuEventQuery(event);
    sample.after = now_();
    if (sample.after == sample.before && ++asked == kMostWithoutTime) break;
  } while (reached == CUresult::not_ready && sample.after - sample.before < kPatience);
  return reached;
}

CUresult DeviceClock::measure(CUevent from, CUevent to, DeviceTime& span) const {
  float milliseconds = 0;
  const CUresult result = driver_->cuEventElapsedTime(&milliseconds, from, to);
  if (result != CUresult::success) return result;
  const Result<DeviceTime> measured = span_of_milliseconds(milliseconds);
  if (!measured) return CUresult::invalid_value;
  span = *measured;
  return result;
}

CUresult DeviceClock::take_burst() {
  std::vector<ClockSample> samples(kBurst);
  const CUresult sampled = sample_burst(samples);
  return sampled == CUresult::success ? keep_burst(samples) : sampled;
}

CUresult DeviceClock::sample_burst(std::span<ClockSample> samples) const {
  const std::span<const CUevent> burst = std::span(events_).subspan(1);
  for (std::size_t index = 0; index < kBurst; ++index) {
    const CUresult result = take_sample(burst[index], samples[index]);
    if (result != CUresult::success) return result;
  }
  auto* const from = correlation_.empty() ? burst[0] : events_[0];
  const Duration base = correlation_.empty() ? Duration() : correlation_.last().device.at;
  for (std::size_t index = 0; index < kBurst; ++index) {
    DeviceTime& device = samples[index].device;
    const CUresult result = measure(from, burst[index], device);
    if (result != CUresult::success) return result;
    device.at += base;
  }
  return CUresult::success;
}

CUresult DeviceClock::keep_burst(std::span<const ClockSample> samples) {
  const std::size_t best = correlation_.add_burst(samples);
  if (best == samples.size()) return CUresult::not_ready;
  std::swap(events_[0], events_[1 + best]);
  return CUresult::success;
}

CUresult DeviceClock::device_time(CUevent event, DeviceTime& time) const {
  const CUresult result = measure(events_[0], event, time);
  if (result == CUresult::success) time.at += correlation_.last().device.at;
  return result;
}

Result<HostInterval> DeviceClock::host_time(CUevent event) const {
  const auto failed = [](std::string found) {
    return Error{ErrorCode::environment, Place{}, std::move(found), "the time of an event", {}};
  };
  if (correlation_.empty()) return failed("a clock of the device without a reference");
  DeviceTime device;
  const CUresult result = device_time(event, device);
  if (result != CUresult::success) return failed(fmt::format("{} of cuEventElapsedTime", describe(result)));
  return correlation_.host_time(device);
}

}  // namespace rtgpu::cuda
