// Random numbers that are the same on every machine and with every compiler: whole numbers only, no distributions of
// the standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits();
  // Uniform on low ... high, both included; low <= high. The bias is below (high - low) / 2^64.
  std::int64_t between(std::int64_t low, std::int64_t high);

 private:
  std::uint64_t state_;
};

// Of low ... high, both included, each with a probability proportional to 1 / value; 1 <= low <= high < 2^62.
std::int64_t log_uniform(Random& random, std::int64_t low, std::int64_t high);

// The seed of the taskset `index` of a run, so that it can be made again alone.
std::uint64_t seed_of(std::uint64_t run_seed, std::uint64_t index);

// `count` shares >= 0 that add up to `total`, uniform over all such splits: the distances between sorted uniform cuts.
// The distribution is that of UUniFast (Bini and Buttazzo, Real-Time Systems 30, 2005), without its powers of real
// numbers.
std::vector<std::int64_t> split_uniformly(Random& random, std::int64_t total, std::size_t count);

// As split_uniformly(), but each share in turn is what UUniFast would leave for the others: of a rest that is to be
// split into n, the largest of n - 1 uniform numbers. The first shares are large, the last ones small. So the programs
// that were published with the GCAPS paper split utilisations and execution times.
std::vector<std::int64_t> split_unevenly(Random& random, std::int64_t total, std::size_t count);

}  // namespace rtgpu
