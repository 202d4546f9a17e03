#include "runtime/device/slice_size.h"

#include "runtime/device/slicing.h"

#include <string_view>

#include <fmt/format.h>

namespace rtgpu {
namespace {

void check_block_count(std::string_view what, std::int64_t blocks, Errors& errors) {
  if (blocks >= 1) return;
  errors.push_back(Error{ErrorCode::value, Place{}, fmt::format("{} {}", blocks, what), "1 at least", {}});
}

void check_finite_time(std::string_view what, Duration time, Errors& errors) {
  if (time >= Duration() && !time.is_infinite()) return;
  errors.push_back(
      Error{ErrorCode::value, Place{}, fmt::format("{} {}", what, to_string(time)), "a finite time, 0 at least", {}});
}

Errors check_timing(const KernelTiming& kernel) {
  Errors errors;
  check_block_count("blocks", kernel.blocks, errors);
  check_block_count("concurrent blocks", kernel.concurrent_blocks, errors);
  check_finite_time("block time", kernel.block_time, errors);
  check_finite_time("launch time", kernel.launch_time, errors);
  return errors;
}

// Rounded up; does not overflow.
std::int64_t waves_of(std::int64_t blocks, std::int64_t concurrent) {
  return blocks / concurrent + (blocks % concurrent != 0 ? 1 : 0);
}

Error too_small(Duration budget, const KernelTiming& kernel) {
  return Error{
      ErrorCode::value, Place{}, fmt::format("a blocking budget of {}", to_string(budget)),
      fmt::format("at least {}: a launch takes {}, and a block {}", to_string(kernel.launch_time + kernel.block_time),
                  to_string(kernel.launch_time), to_string(kernel.block_time)),
      "Allow more blocking, or make the blocks of the kernel shorter."};
}

}  // namespace

Result<std::int64_t> blocks_per_slice(const KernelTiming& kernel, Duration budget) {
  Errors errors = check_timing(kernel);
  if (!errors.empty()) return errors;
  if (budget.is_infinite()) return kernel.blocks;
  const Duration for_blocks = budget - kernel.launch_time;
  if (budget < kernel.launch_time || for_blocks < kernel.block_time) return too_small(budget, kernel);
  const std::int64_t all_waves = waves_of(kernel.blocks, kernel.concurrent_blocks);
  if (kernel.block_time == Duration()) return kernel.blocks;
  const std::int64_t waves = for_blocks.count() / kernel.block_time.count();
  // Fewer waves than the grid has: so many full ones have fewer blocks than the grid, which cannot overflow.
  return waves >= all_waves ? kernel.blocks : waves * kernel.concurrent_blocks;
}

Result<Duration> slicing_cost(const KernelTiming& kernel, std::int64_t per_slice) {
  Errors errors = check_timing(kernel);
  if (!errors.empty()) return errors;
  const Sliced slices = sliced(kernel.blocks, per_slice);
  const std::int64_t further = slices.count() - 1;
  const std::int64_t concurrent = kernel.concurrent_blocks;
  // All slices but the last are as long as the first. A slice has no more waves than blocks, so the sum does not
  // overflow.
  const std::int64_t waves = further * waves_of(slices.slice(0).blocks, concurrent) +
                             waves_of(slices.slice(slices.count() - 1).blocks, concurrent);
  return kernel.launch_time * further + kernel.block_time * (waves - waves_of(kernel.blocks, concurrent));
}

}  // namespace rtgpu
