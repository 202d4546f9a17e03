#include "taskset/generators/bounded_split.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using UInt128 = unsigned __int128;

// What is split is taken as a point of a cube with the edge `high - low` (a share above `low` each coordinate), uniform
// on its section by the plane on which the coordinates add up to a fixed sum. The section is cut into pyramids: the
// apex of each is the section's centre, where all coordinates are equal; its base is the section of a facet of the
// cube, where one coordinate is 0 or the whole edge. The base is a section of a cube with a dimension less, and is cut
// likewise. So one chooses facets, each with a probability proportional to the volume of its pyramid, down to a single
// point. The centres on the way are the corners of a simplex, in which a point with uniformly split weights is uniform.

// A number >= 0: significand 2^exponent. The significand is 0 or has its highest bit set. The volumes of sections far
// from the middle of a cube are too small for the range of a double.
struct Volume {
  std::uint64_t significand = 0;
  int exponent = 0;
};

Volume normalised(UInt128 significand, int exponent) {
  if (significand == 0) return {};
  const auto high = static_cast<std::uint64_t>(significand >> 64U);
  if (high == 0) {
    const auto low = static_cast<std::uint64_t>(significand);
    const int shift = std::countl_zero(low);
    return {low << static_cast<unsigned>(shift), exponent - shift};
  }
  const int shift = 64 - std::countl_zero(high);
  return {static_cast<std::uint64_t>(significand >> static_cast<unsigned>(shift)), exponent + shift};
}

Volume times(Volume volume, std::int64_t factor) {
  return normalised(UInt128{volume.significand} * static_cast<std::uint64_t>(factor), volume.exponent);
}

// Both significands for the greater exponent of the two.
std::pair<std::uint64_t, std::uint64_t> aligned(Volume a, Volume b) {
  const auto shifted = [](Volume volume, int exponent) -> std::uint64_t {
    const int shift = exponent - volume.exponent;
    return shift < 64 ? volume.significand >> static_cast<unsigned>(shift) : 0;
  };
  if (a.significand == 0) return {0, b.significand};
  if (b.significand == 0) return {a.significand, 0};
  const int exponent = std::max(a.exponent, b.exponent);
  return {shifted(a, exponent), shifted(b, exponent)};
}

Volume plus(Volume a, Volume b) {
  const auto [first, second] = aligned(a, b);
  const int exponent = a.significand == 0   ? b.exponent
                       : b.significand == 0 ? a.exponent
                                            : std::max(a.exponent, b.exponent);
  return normalised(UInt128{first} + second, exponent);
}

// The volumes of the sections of the cubes of all dimensions up to `count`, each up to a factor of its dimension. The
// sums are whole multiples of the edge, `wholes`, and a part of it.
class Sections {
 public:
  Sections(std::size_t count, std::int64_t edge, std::int64_t sum)
      : edge_(edge), part_(sum % edge), columns_(static_cast<std::size_t>(sum / edge) + 1), volumes_(count * columns_) {
    volumes_[0] = normalised(1, 0);
    for (std::size_t dimension = 2; dimension <= count; ++dimension) {
      for (std::size_t wholes = 0; wholes < std::min(columns_, dimension); ++wholes) {
        const auto [at_zero, at_edge] = pyramids(dimension, wholes);
        volumes_[(dimension - 1) * columns_ + wholes] = plus(at_zero, at_edge);
      }
    }
  }

  // Of the pyramids on all facets where a coordinate is 0, and on all where it is the edge.
  std::pair<Volume, Volume> pyramids(std::size_t dimension, std::size_t wholes) const {
    const std::int64_t sum = sum_of(wholes);
    const std::int64_t rest = static_cast<std::int64_t>(dimension) * edge_ - sum;
    const Volume* facets = &volumes_[(dimension - 2) * columns_];
    const Volume at_zero = wholes + 1 < dimension ? times(facets[wholes], sum) : Volume{};
    const Volume at_edge = wholes > 0 ? times(facets[wholes - 1], rest) : Volume{};
    return {at_zero, at_edge};
  }

  std::int64_t sum_of(std::size_t wholes) const { return static_cast<std::int64_t>(wholes) * edge_ + part_; }

 private:
  std::int64_t edge_;
  std::int64_t part_;
  std::size_t columns_;
  std::vector<Volume> volumes_;  // by dimension - 1, then wholes
};

bool choose_first(Random& random, std::pair<Volume, Volume> volumes) {
  auto [first, second] = aligned(volumes.first, volumes.second);
  first >>= 2U;  // so that their sum is in the range of between()
  second >>= 2U;
  return static_cast<std::uint64_t>(random.between(0, static_cast<std::int64_t>(first + second) - 1)) < first;
}

// Weights of a point's corners add up to this.
constexpr unsigned kWeightBits = 40;

// The coordinates of a point of the section, times 2^kWeightBits, and with exactly that sum. The first `dimension` of
// them are those not yet fixed.
std::vector<UInt128> draw_point(Random& random, std::int64_t sum, std::size_t count, std::int64_t edge) {
  const Sections sections(count, edge, sum);
  const std::vector<std::int64_t> weights = split_uniformly(random, std::int64_t{1} << kWeightBits, count);
  std::vector<UInt128> point(count);
  auto wholes = static_cast<std::size_t>(sum / edge);
  auto weight_left = static_cast<std::uint64_t>(1) << kWeightBits;  // of the corners that are yet to come
  for (std::size_t dimension = count; dimension > 0; --dimension) {
    const auto weight = static_cast<std::uint64_t>(weights[dimension - 1]);
    weight_left -= weight;
    // The centre has the same part of the sum in each free coordinate; what does not divide goes to the first of them.
    const UInt128 of_all = UInt128{weight} * static_cast<std::uint64_t>(sections.sum_of(wholes));
    const auto over = static_cast<std::size_t>(of_all % dimension);
    for (std::size_t free = 0; free < dimension; ++free) point[free] += of_all / dimension + (free < over ? 1U : 0U);
    if (dimension == 1 || choose_first(random, sections.pyramids(dimension, wholes))) continue;
    point[dimension - 1] += UInt128{weight_left} * static_cast<std::uint64_t>(edge);
    --wholes;
  }
  return point;
}

void shuffle(Random& random, std::vector<std::int64_t>& values) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1],
              values[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(left) - 1))]);
  }
}

}  // namespace

std::vector<std::int64_t> split_within(Random& random, std::int64_t total, std::size_t count, std::int64_t low,
                                       std::int64_t high) {
  const std::int64_t edge = high - low;
  const std::int64_t sum = total - static_cast<std::int64_t>(count) * low;
  if (sum == 0) return std::vector<std::int64_t>(count, low);
  if (sum == static_cast<std::int64_t>(count) * edge) return std::vector<std::int64_t>(count, high);
  std::vector<std::int64_t> shares;
  UInt128 so_far = 0;
  std::int64_t given = 0;
  // Sums are rounded, not coordinates: each share is its coordinate rounded up or down, so it keeps the bounds, which
  // are whole numbers, and the sum is exact.
  for (const UInt128 coordinate : draw_point(random, sum, count, edge)) {
    so_far += coordinate;
    const auto rounded = static_cast<std::int64_t>(so_far >> kWeightBits);
    shares.push_back(low + rounded - given);
    given = rounded;
  }
  // Which coordinate was fixed when is as likely in every order.
  shuffle(random, shares);
  return shares;
}

}  // namespace rtgpu
