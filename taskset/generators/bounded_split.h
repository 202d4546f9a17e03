// Splits of a sum into bounded shares: RandFixedSum (Emberson, Stafford and Davis, WATERS 2010) in whole numbers.
#pragma once

#include "taskset/generators/random.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rtgpu {

inline constexpr std::size_t kMaxBoundedShares = 1'000;

// `count` shares from `low` to `high` that add up to `total`, uniform over all such splits. All exact; what is rounded
// is the probability of each choice on the way, by less than 2^-50. No floating point, so that the split is the same
// everywhere.
//
// 1 <= count <= kMaxBoundedShares, 0 <= low <= high <= 2^30, count low <= total <= count high. Time in
// O(count^2), memory in O(count^2) at most.
std::vector<std::int64_t> split_within(Random& random, std::int64_t total, std::size_t count, std::int64_t low,
                                       std::int64_t high);

}  // namespace rtgpu
