// Lengths of time, counted in classes: percentiles without storing every value.
#pragma once

#include "rtgpu/time.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rtgpu {

// Counts, minimum, mean and maximum are exact. A percentile is the upper end of a class, at most 1/32 above the value
// and never above the maximum. Adding is constant time and allocates nothing. Negative lengths count as 0.
class Histogram {
 public:
  void add(Duration length);
  void add(const Histogram& other);

  std::int64_t count() const { return count_; }
  Duration min() const { return count_ == 0 ? Duration() : min_; }
  Duration max() const { return max_; }
  // Of all lengths, to the nearest nanosecond; nullopt if there are none, or their sum is beyond the range.
  std::optional<Duration> mean() const;
  // The length that `per_mille` thousandths of all do not exceed; 0 < per_mille <= 1000. 0 if there are none.
  Duration percentile(int per_mille) const;

 private:
  // 32 classes for each power of two; below 32 ns a class for each value.
  static constexpr int kBits = 5;
  static constexpr std::size_t kClasses = (std::size_t{64} - kBits) << kBits;
  static std::size_t class_of(std::uint64_t value);
  static std::uint64_t upper_end(std::size_t index);

  std::array<std::uint32_t, kClasses> classes_{};
  std::int64_t count_ = 0;
  Duration sum_;
  Duration min_ = Duration::infinite();
  Duration max_;
};

}  // namespace rtgpu
