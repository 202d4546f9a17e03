// sliced_grid.h for a compiler of C++17, at compile time.
#include "runtime/device/sliced_grid.h"

#include <cstdint>

namespace rtgpu {

static_assert(__cplusplus < 202002L, "compiled as C++17");

constexpr std::int64_t sum_of_persistent(SmShare share, std::uint32_t persistent_block, std::int64_t blocks) {
  std::int64_t sum = 0;
  for (const std::int64_t index : PersistentBlocks(share, persistent_block, blocks)) sum += index;
  return sum;
}

static_assert(is_launchable({4, 3, 2}));
static_assert(blocks_of({4, 3, 2}) == 24);
static_assert(linear_index({4, 3, 2}, {1, 2, 1}) == 21);
static_assert(block_of({10, 5}, {4, 3, 2}, 2).z == 1);
static_assert(is_valid({1, 3, 4}) && contains({1, 3, 4}, 1));
static_assert(sum_of_persistent({0, 3, 4}, 1, 8) == 1 + 4 + 7);

}  // namespace rtgpu
