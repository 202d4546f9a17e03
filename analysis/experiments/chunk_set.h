// Sets of chunk numbers, kept as ranges: what of an experiment is done, or is to be done.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rtgpu {

// first ... end - 1.
struct ChunkRange {
  std::int64_t first = 0;
  std::int64_t end = 0;
  friend bool operator==(const ChunkRange&, const ChunkRange&) = default;
};

// A value. Memory in O(ranges), which is what neighbouring chunks make few of.
class ChunkSet {
 public:
  ChunkSet() = default;
  // first < end, or the set is empty.
  ChunkSet(std::int64_t first, std::int64_t end);

  // O(log ranges); O(ranges) where a new one is put between others. Of chunks that are added once each.
  void add(std::int64_t chunk) { add(ChunkRange{chunk, chunk + 1}); }
  void add(ChunkRange range);
  void add(const ChunkSet& other);

  bool contains(std::int64_t chunk) const;
  bool intersects(const ChunkSet& other) const;
  // Those that are in the range.
  ChunkSet within(ChunkRange range) const;
  std::int64_t size() const;  // how many chunks
  // Apart from each other, in order.
  std::span<const ChunkRange> ranges() const { return ranges_; }

  friend bool operator==(const ChunkSet&, const ChunkSet&) = default;

 private:
  std::vector<ChunkRange> ranges_;
};

}  // namespace rtgpu
