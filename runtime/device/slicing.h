// Kernel partitioning in time: a grid in slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace rtgpu {

// A part of a grid: blocks [first_block, first_block + blocks).
struct Slice {
  std::int64_t first_block = 0;
  std::int64_t blocks = 0;
  int index = 0;
  int count = 1;
  friend bool operator==(const Slice&, const Slice&) = default;
};

// A grid of `blocks` blocks in slices of `blocks_per_slice`; the last one may be shorter. No blocks: no slice.
// `blocks_per_slice` below 1 counts as 1; where there would be more than 2^31 - 1 slices, they are made just large
// enough.
class Sliced {
 public:
  class Iterator {
   public:
    Iterator(const Sliced& grid, int index) : grid_(&grid), index_(index) {}
    Slice operator*() const { return grid_->slice(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const Sliced* grid_;
    int index_;
  };

  Sliced(std::int64_t blocks, std::int64_t blocks_per_slice)
      : blocks_(std::max<std::int64_t>(blocks, 0)),
        per_slice_(std::max({blocks_per_slice, parts(blocks_, std::numeric_limits<int>::max()), std::int64_t{1}})) {}

  int count() const { return static_cast<int>(parts(blocks_, per_slice_)); }
  Slice slice(int index) const {
    const std::int64_t first = index * per_slice_;
    return {first, std::min(per_slice_, blocks_ - first), index, count()};
  }
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, count()}; }

 private:
  // Rounded up; does not overflow.
  static std::int64_t parts(std::int64_t blocks, std::int64_t size) {
    return blocks / size + (blocks % size != 0 ? 1 : 0);
  }

  std::int64_t blocks_;
  std::int64_t per_slice_;
};

inline Sliced sliced(std::int64_t blocks, std::int64_t blocks_per_slice) {
  return {blocks, blocks_per_slice};
}

}  // namespace rtgpu
