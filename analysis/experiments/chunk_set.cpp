#include "analysis/experiments/chunk_set.h"

#include <algorithm>

namespace rtgpu {

ChunkSet::ChunkSet(std::int64_t first, std::int64_t end) {
  if (first < end) ranges_.push_back({first, end});
}

void ChunkSet::add(ChunkRange range) {
  // The ranges that the new one overlaps or touches become one with it.
  const auto begin = std::lower_bound(ranges_.begin(), ranges_.end(), range.first,
                                      [](const ChunkRange& each, std::int64_t first) { return each.end < first; });
  auto end = begin;
  for (; end != ranges_.end() && end->first <= range.end; ++end) {
    range.first = std::min(range.first, end->first);
    range.end = std::max(range.end, end->end);
  }
  if (begin == end) {
    ranges_.insert(begin, range);
  } else {
    *begin = range;
    ranges_.erase(begin + 1, end);
  }
}

void ChunkSet::add(const ChunkSet& other) {
  for (const ChunkRange& range : other.ranges_) add(range);
}

bool ChunkSet::contains(std::int64_t chunk) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), chunk,
                                      [](std::int64_t number, const ChunkRange& each) { return number < each.end; });
  return after != ranges_.end() && after->first <= chunk;
}

bool ChunkSet::intersects(const ChunkSet& other) const {
  auto mine = ranges_.begin();
  auto others = other.ranges_.begin();
  while (mine != ranges_.end() && others != other.ranges_.end()) {
    if (mine->end <= others->first) {
      ++mine;
    } else if (others->end <= mine->first) {
      ++others;
    } else {
      return true;
    }
  }
  return false;
}

ChunkSet ChunkSet::within(ChunkRange range) const {
  ChunkSet inside;
  for (const ChunkRange& each : ranges_) {
    const ChunkRange part{std::max(each.first, range.first), std::min(each.end, range.end)};
    if (part.first < part.end) inside.ranges_.push_back(part);
  }
  return inside;
}

std::int64_t ChunkSet::size() const {
  std::int64_t sum = 0;
  for (const ChunkRange& range : ranges_) sum += range.end - range.first;
  return sum;
}

}  // namespace rtgpu
