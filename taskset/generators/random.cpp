#include "taskset/generators/random.h"

#include <algorithm>

namespace rtgpu {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): the compiler's name for it.
__extension__ using UInt128 = unsigned __int128;

}  // namespace

std::uint64_t Random::bits() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t value = state_;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  return low + static_cast<std::int64_t>(static_cast<std::uint64_t>((UInt128{bits()} * range) >> 64U));
}

// Octaves [low 2^k, low 2^(k+1)) are equally likely. Within one, a uniform value x is kept with probability low 2^k /
// x.
std::int64_t log_uniform(Random& random, std::int64_t low, std::int64_t high) {
  std::int64_t octaves = 1;
  while (high >> octaves >= low) ++octaves;
  for (;;) {
    const std::int64_t first = low << random.between(0, octaves - 1);
    const std::int64_t value = random.between(first, 2 * first - 1);
    if (random.between(0, value - 1) < first && value <= high) return value;
  }
}

std::uint64_t seed_of(std::uint64_t run_seed, std::uint64_t index) {
  Random of_run(run_seed);
  Random of_index(of_run.bits() + index);
  return of_index.bits();
}

std::vector<std::int64_t> split_uniformly(Random& random, std::int64_t total, std::size_t count) {
  std::vector<std::int64_t> shares;
  if (count == 0) return shares;
  for (std::size_t cut = 1; cut < count; ++cut) shares.push_back(random.between(0, total));
  std::sort(shares.begin(), shares.end());
  shares.push_back(total);
  for (std::size_t place = count - 1; place > 0; --place) shares[place] -= shares[place - 1];
  return shares;
}

std::vector<std::int64_t> split_unevenly(Random& random, std::int64_t total, std::size_t count) {
  std::vector<std::int64_t> shares;
  std::int64_t rest = total;
  for (std::size_t left = count; left > 1; --left) {
    std::int64_t share = 0;
    for (std::size_t other = 1; other < left; ++other) share = std::max(share, random.between(0, rest));
    shares.push_back(share);
    rest -= share;
  }
  if (count > 0) shares.push_back(rest);
  return shares;
}

}  // namespace rtgpu
