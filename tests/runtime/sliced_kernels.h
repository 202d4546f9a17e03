// Kernels in slices and by persistent blocks on the computing device, against the same kernels in one launch.
#pragma once

#include <cstdint>

namespace rtgpu {

// So many random grids, each with one kernel: all three ways have to give the same bits.
void check_sliced_kernels(std::uint64_t seed, int grids);

}  // namespace rtgpu
