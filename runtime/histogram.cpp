#include "runtime/histogram.h"

#include <algorithm>
#include <bit>

namespace rtgpu {

std::size_t Histogram::class_of(std::uint64_t value) {
  if (value < (1U << kBits)) return static_cast<std::size_t>(value);
  const auto shift = static_cast<std::size_t>(std::bit_width(value) - 1 - kBits);
  return (shift << kBits) + static_cast<std::size_t>(value >> shift);
}

std::uint64_t Histogram::upper_end(std::size_t index) {
  if (index < (1U << kBits)) return index;
  const std::size_t shift = (index >> kBits) - 1;
  const std::uint64_t leading = index - (shift << kBits);
  return ((leading + 1) << shift) - 1;
}

void Histogram::add(Duration length) {
  const Duration counted = std::max(length, Duration());
  ++classes_[class_of(static_cast<std::uint64_t>(counted.count()))];
  ++count_;
  sum_ += counted;
  min_ = std::min(min_, counted);
  max_ = std::max(max_, counted);
}

void Histogram::add(const Histogram& other) {
  for (std::size_t index = 0; index < kClasses; ++index) classes_[index] += other.classes_[index];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

std::optional<Duration> Histogram::mean() const {
  if (count_ == 0 || sum_.is_infinite()) return std::nullopt;
  return Duration::nanoseconds((sum_.count() + count_ / 2) / count_);
}

Duration Histogram::percentile(int per_mille) const {
  // The smallest number of lengths that is at least this share of all.
  const std::int64_t wanted = (count_ * per_mille + 999) / 1000;
  std::int64_t seen = 0;
  for (std::size_t index = 0; index < kClasses; ++index) {
    seen += classes_[index];
    if (seen >= wanted && seen > 0) {
      return std::min(Duration::nanoseconds(static_cast<std::int64_t>(upper_end(index))), max_);
    }
  }
  return max_;
}

}  // namespace rtgpu
